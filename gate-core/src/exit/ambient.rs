//! The one file of this crate that looks around by itself: at the environment's
//! flag, the clock and the randomness of an id. The protocol's API has no
//! parameters for them. Each call is one line over a pure form, which is what
//! the rest of gate uses.
#![allow(clippy::disallowed_methods, reason = "the protocol's API demands it")]

use jiff::Timestamp;
use uuid::Uuid;

use super::{
    AGENT_EXIT_PROTOCOL_ENABLED_ENV, AgentExitConfig, AgentSessionCompleted, ExitSignal,
    ExitSignalError, Flag,
};

/// This process's flag.
static FLAG: Flag = Flag::new();

/// The environment switches the agent exit protocol on. It is looked at
/// once in a process: see [`Flag::is_enabled`] for the pure form.
pub fn is_agent_exit_protocol_enabled() -> bool {
    FLAG.is_enabled(|| std::env::var(AGENT_EXIT_PROTOCOL_ENABLED_ENV).ok())
}

impl Default for AgentExitConfig {
    fn default() -> Self {
        Self { enabled: is_agent_exit_protocol_enabled() }
    }
}

impl ExitSignal {
    /// Reads a signal if the environment's flag is on: see [`AgentExitConfig::from_json`] for the
    /// pure form.
    ///
    /// # Errors
    ///
    /// [`ExitSignalError::ValidationDisabled`] if it is off, before anything is looked at; otherwise as
    /// of [`ExitSignal::from_json`].
    pub fn from_json_if_enabled(json: &str) -> Result<Self, ExitSignalError> {
        AgentExitConfig::default().from_json(json)
    }
}

impl AgentSessionCompleted {
    /// The event that a valid signal becomes now, under a new id: see
    /// [`AgentSessionCompleted::new`] for the pure form.
    #[must_use]
    pub fn from_exit_signal(session_id: &str, actor_id: &str, signal: ExitSignal) -> Self {
        Self::new(Timestamp::now(), Uuid::now_v7(), session_id, actor_id, signal)
    }
}
