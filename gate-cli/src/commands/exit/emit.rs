//! `gate exit emit`: a signal that holds, for an agent to say.

use gate_core::exit::ExitSignal;

use super::Emit;
use crate::commands::common::DONE;
use crate::failure::Failure;
use crate::render::{self, print};

/// A signal may be said whatever the feature flag: it is the reader's.
pub(super) fn run(args: &Emit) -> Result<u8, Failure> {
    let signal = ExitSignal {
        pr_url: args.pr_url.clone(),
        evidence_bundle_ref: args.evidence_bundle_ref.clone(),
        notes: args.notes.clone(),
        ..ExitSignal::new(args.phase, args.reason)
    };
    let line = render::json_line(&signal)?;
    // What is printed is what was read again, with all that reading refuses.
    ExitSignal::from_json(&line)
        .map_err(|error| Failure::usage("exit-signal-invalid", error.to_string()))?;
    print(&line)?;
    Ok(DONE)
}
