//! `gate exit`: the agent exit protocol.

mod args;
mod input;
mod parse;
mod submit;

use gate_core::exit::ExitSignal;

pub use parse::ExitParsed;
pub use submit::ExitSubmitted;

pub(crate) use self::args::{Emit, Exit, Parse, Submit, phase};
use super::common::DONE;
use crate::context::Here;
use crate::failure::Failure;
use crate::render::{self, print};

pub(super) fn run(here: &Here, args: &Exit) -> Result<u8, Failure> {
    match args {
        Exit::Parse(args) => parse::run(here, args),
        Exit::Submit(args) => submit::run(here, args),
        Exit::Emit(args) => emit(args),
    }
}

/// Prints a valid signal, for an agent's output. The feature flag does not matter here: it is for
/// those that read signals.
fn emit(args: &Emit) -> Result<u8, Failure> {
    let signal = ExitSignal {
        pr_url: args.pr_url.clone(),
        evidence_bundle_ref: args.evidence_bundle_ref.clone(),
        notes: args.notes.clone(),
        ..ExitSignal::new(args.phase, args.reason)
    };
    let line = render::json_line(&signal)?;
    // The signal is read again before it is printed, so that it passes all of the reader's checks.
    ExitSignal::from_json(&line)
        .map_err(|error| Failure::usage("exit-signal-invalid", error.to_string()))?;
    print(&line)?;
    Ok(DONE)
}
