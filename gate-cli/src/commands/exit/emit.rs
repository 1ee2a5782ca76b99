//! `gate exit emit`: prints a valid signal, for an agent's output.

use gate_core::exit::ExitSignal;

use super::Emit;
use crate::commands::common::DONE;
use crate::failure::Failure;
use crate::render::{self, print};

/// The feature flag does not matter here: it is for those that read signals.
pub(super) fn run(args: &Emit) -> Result<u8, Failure> {
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
