//! `gate exit`: the agent exit protocol.

mod emit;
mod parse;

pub use parse::ExitParsed;

use super::Here;
use crate::args::Exit;
use crate::failure::Failure;

pub(super) fn run(here: &Here, args: &Exit) -> Result<u8, Failure> {
    match args {
        Exit::Parse(args) => parse::run(here, args),
        Exit::Emit(args) => emit::run(args),
    }
}
