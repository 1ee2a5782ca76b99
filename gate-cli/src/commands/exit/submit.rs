//! `gate exit submit`: an agent ends its phase of a work item.

use gate_core::exit::{ExitSignal, WorkPhase};
use gate_core::text;
use schemars::JsonSchema;
use serde::Serialize;

use super::Submit;
use super::input::{self, INVALID};
use crate::commands::common::DONE;
use crate::commands::log;
use crate::context::Here;
use crate::failure::Failure;
use crate::memory::{LeaseRef, Submitted};
use crate::render::{self, print};

/// The answer of `gate exit submit --json`.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum ExitSubmitted {
    /// The signal was accepted.
    Accepted {
        /// Always true.
        #[schemars(extend("const" = true))]
        ok: bool,
        /// The signal.
        signal: ExitSignal,
        /// The work item's phase from now on.
        next_phase: WorkPhase,
        /// The work item's id.
        work: String,
        /// The number of the record.
        seq: u64,
    },
    /// Nothing was changed.
    Refused {
        /// Always false.
        #[schemars(extend("const" = false))]
        ok: bool,
        /// Why.
        error: String,
    },
}

/// An invalid signal, or one from an actor without the lease, changes nothing: that is an
/// answer. A store that does not answer is a failure.
pub(super) fn run(here: &Here, args: &Submit) -> Result<u8, Failure> {
    let submitted = match input::signal(here, &args.file, args.format)? {
        Err(error) => Err(error),
        Ok(signal) => accepted(here, args, &signal)?,
    };
    let (code, submitted) = match submitted {
        Ok(Submitted { item, signal, seq }) => {
            let (next_phase, work) = (item.work.state.phase, item.work.id);
            (DONE, ExitSubmitted::Accepted { ok: true, signal, next_phase, work, seq })
        }
        Err(error) => (INVALID, ExitSubmitted::Refused { ok: false, error }),
    };
    print(&if args.json { render::json(&submitted)? } else { line(&submitted) })?;
    Ok(code)
}

fn accepted(
    here: &Here,
    args: &Submit,
    signal: &ExitSignal,
) -> Result<Result<Submitted, String>, Failure> {
    let handed = LeaseRef { work: &args.work, lease: args.lease.as_deref(), actor: &args.actor };
    match log::opened(here)?.submit(handed, signal) {
        Ok(submitted) => Ok(Ok(submitted)),
        Err(failure) if failure.exit_code == 2 => Ok(Err(failure.message)),
        Err(failure) => Err(failure),
    }
}

/// The same for a person.
fn line(submitted: &ExitSubmitted) -> String {
    match submitted {
        ExitSubmitted::Accepted { signal, next_phase, work, seq, .. } => {
            let ExitSignal { phase_completed, exit_reason, .. } = signal;
            let work = text::clean(work);
            format!(
                "ACCEPTED  {work}: {phase_completed} {exit_reason}, now {next_phase} (record {seq})\n"
            )
        }
        ExitSubmitted::Refused { error, .. } => {
            format!("REFUSED  {}; nothing was changed\n", text::clean(error))
        }
    }
}
