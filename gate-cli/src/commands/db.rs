//! `gate db`: the store as a whole, with the ledgers of all projects.

mod args;
mod migrate;

pub(crate) use self::args::Db;
use crate::context::Here;
use crate::failure::Failure;

pub(super) fn run(here: &Here, args: &Db) -> Result<u8, Failure> {
    match args {
        Db::Migrate => migrate::run(here),
    }
}
