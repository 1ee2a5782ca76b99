//! The agent exit protocol, version 1.x: the signal with which an agent ends a
//! phase of the work, so that a fresh agent can go on without polling.
//!
//! The types and names are those of the protocol's own Rust API, and so are
//! the texts of its errors:
//!
//! ```
//! use gate_core::exit::{AgentSessionCompleted, ExitReason, ExitSignal, WorkPhase};
//!
//! let signal = ExitSignal::new(WorkPhase::Implementation, ExitReason::Completed)
//!     .with_pr_url("https://github.com/org/repo/pull/123")
//!     .with_notes("Implementation complete");
//! signal.validate()?;
//! let json = serde_json::to_string_pretty(&signal)?;
//!
//! let parsed = ExitSignal::from_json(&json)?;
//! assert_eq!(parsed, signal);
//! let event = AgentSessionCompleted::from_exit_signal("session-123", "actor-456", parsed);
//! assert_eq!(event.next_phase, WorkPhase::CiPending);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A signal is a JSON object of at most 64 KiB, with string values only and no key twice;
//! [`ExitSignal::validate`] lists the other rules. Signals are read only if the feature flag
//! [`AGENT_EXIT_PROTOCOL_ENABLED_ENV`] is on.
//!
//! [`Session::exit`] applies a signal to a session. The function is pure: it returns the event to
//! record and the next phase. The keeper of the work items does the rest, all or nothing.

mod ambient;
mod completed;
mod error;
mod find;
mod flag;
mod phase;
mod session;
mod signal;
mod strict;
#[cfg(test)]
mod tests;

pub use ambient::is_agent_exit_protocol_enabled;
pub use completed::AgentSessionCompleted;
pub use error::ExitSignalError;
pub(crate) use find::find;
pub use flag::{
    AGENT_EXIT_PROTOCOL_ENABLED_ENV, AgentExitConfig, Flag, parse_agent_exit_protocol_enabled,
};
pub use phase::{ExitReason, WorkPhase};
pub use session::{ExitHandlerError, ExitHandlerResult, Session};
pub use signal::{
    EXIT_SIGNAL_PROTOCOL, EXIT_SIGNAL_VERSION, ExitSignal, MAX_EVIDENCE_BUNDLE_REF,
    MAX_EXIT_SIGNAL, MAX_NOTES, MAX_PR_URL,
};
