//! `gate db`: the store as a whole, with the ledgers of all projects.

mod args;
mod check;
mod copy;
mod migrate;
mod place;

pub(crate) use self::args::Db;
pub(crate) use self::check::DbCheckRecord;
use crate::context::Here;
use crate::failure::Failure;

pub(super) fn run(here: &Here, args: &Db) -> Result<u8, Failure> {
    match args {
        Db::Check { json } => check::run(here, *json),
        Db::Copy(args) => copy::run(here, args),
        Db::Migrate => migrate::run(here),
    }
}

impl Db {
    pub(super) fn json(&self) -> bool {
        matches!(self, Self::Check { json: true })
    }
}

/// The number of work items in words.
fn counted(items: u64) -> String {
    if items == 1 { "1 work item".to_owned() } else { format!("{items} work items") }
}
