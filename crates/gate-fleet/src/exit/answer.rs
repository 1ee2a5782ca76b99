//! The answers to an exit signal, as JSON and in a line for a person.

use gate_core::exit::{AGENT_EXIT_PROTOCOL_ENABLED_ENV, ExitSignal, ExitSignalError, WorkPhase};
use gate_core::text;
use schemars::JsonSchema;
use serde::Serialize;

use crate::work::StoredItem;

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

impl ExitParsed {
    /// The answer to a signal, or to the reason why there is no valid one.
    pub fn new(parsed: Result<ExitSignal, String>) -> Self {
        match parsed {
            Ok(signal) => {
                let next_phase = signal.next_expected_phase();
                Self::Holds { ok: true, signal, next_phase }
            }
            Err(error) => Self::Broken { ok: false, error },
        }
    }

    /// The same for a person.
    pub fn line(&self) -> String {
        match self {
            Self::Holds { signal, next_phase, .. } => {
                let ExitSignal { phase_completed, exit_reason, .. } = signal;
                format!("VALID  {phase_completed} {exit_reason}: the next phase is {next_phase}\n")
            }
            Self::Broken { error, .. }
                if *error == ExitSignalError::ValidationDisabled.to_string() =>
            {
                format!("OFF  exit signals are not read: set {AGENT_EXIT_PROTOCOL_ENABLED_ENV}=1\n")
            }
            Self::Broken { error, .. } => format!("INVALID  {}\n", text::clean(error)),
        }
    }
}

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

impl ExitSubmitted {
    /// The answer to a signal that was recorded with this item.
    pub fn accepted(item: StoredItem, signal: ExitSignal) -> Self {
        let (next_phase, work) = (item.work.state.phase, item.work.id);
        Self::Accepted { ok: true, signal, next_phase, work, seq: item.seq }
    }

    /// The answer to a signal that changed nothing, and why.
    pub fn refused(error: String) -> Self {
        Self::Refused { ok: false, error }
    }

    /// The same for a person.
    pub fn line(&self) -> String {
        match self {
            Self::Accepted { signal, next_phase, work, seq, .. } => {
                let ExitSignal { phase_completed, exit_reason, .. } = signal;
                let work = text::clean(work);
                format!(
                    "ACCEPTED  {work}: {phase_completed} {exit_reason}, now {next_phase} (record {seq})\n"
                )
            }
            Self::Refused { error, .. } => {
                format!("REFUSED  {}; nothing was changed\n", text::clean(error))
            }
        }
    }
}
