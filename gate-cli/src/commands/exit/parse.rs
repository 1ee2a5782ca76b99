//! `gate exit parse`: validates an exit signal.

use gate_core::exit::{AGENT_EXIT_PROTOCOL_ENABLED_ENV, ExitSignal, ExitSignalError, WorkPhase};
use gate_core::text;
use schemars::JsonSchema;
use serde::Serialize;

use super::Parse;
use super::input::{self, INVALID};
use crate::commands::common::DONE;
use crate::context::Here;
use crate::failure::Failure;
use crate::render::{self, print, print_text};

/// The answer of `gate exit parse --json`.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum ExitParsed {
    /// A valid signal.
    Holds {
        /// Always true.
        #[schemars(extend("const" = true))]
        ok: bool,
        /// The signal.
        signal: ExitSignal,
        /// The work item's phase after it.
        next_phase: WorkPhase,
    },
    /// No valid signal.
    Broken {
        /// Always false.
        #[schemars(extend("const" = false))]
        ok: bool,
        /// Why, in the protocol's own words.
        error: String,
    },
}

pub(super) fn run(here: &Here, args: &Parse) -> Result<u8, Failure> {
    let (code, parsed) = match input::signal(here, &args.file, args.format)? {
        Ok(signal) => {
            let next_phase = signal.next_expected_phase();
            (DONE, ExitParsed::Holds { ok: true, signal, next_phase })
        }
        Err(error) => (INVALID, ExitParsed::Broken { ok: false, error }),
    };
    if args.json { print(&render::json(&parsed)?) } else { print_text(&line(&parsed)) }?;
    Ok(code)
}

/// The same for a person.
fn line(parsed: &ExitParsed) -> String {
    match parsed {
        ExitParsed::Holds { signal, next_phase, .. } => {
            let ExitSignal { phase_completed, exit_reason, .. } = signal;
            format!("VALID  {phase_completed} {exit_reason}: the next phase is {next_phase}\n")
        }
        ExitParsed::Broken { error, .. }
            if *error == ExitSignalError::ValidationDisabled.to_string() =>
        {
            format!("OFF  exit signals are not read: set {AGENT_EXIT_PROTOCOL_ENABLED_ENV}=1\n")
        }
        ExitParsed::Broken { error, .. } => format!("INVALID  {}\n", text::clean(error)),
    }
}
