//! `gate exit`: the agent exit protocol.

mod args;
mod emit;
mod input;
mod parse;
mod submit;

pub use parse::ExitParsed;
pub use submit::ExitSubmitted;

pub(crate) use self::args::{Emit, Exit, Parse, Submit, phase};
use crate::context::Here;
use crate::failure::Failure;

pub(super) fn run(here: &Here, args: &Exit) -> Result<u8, Failure> {
    match args {
        Exit::Parse(args) => parse::run(here, args),
        Exit::Submit(args) => submit::run(here, args),
        Exit::Emit(args) => emit::run(args),
    }
}
