//! The effect of an exit signal on the session that it comes from.

use jiff::Timestamp;
use uuid::Uuid;

use super::{AgentExitConfig, AgentSessionCompleted, ExitSignal, ExitSignalError, WorkPhase};

/// A session in which an agent works on a phase of a work item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Session {
    /// Its id.
    pub session_id: String,
    /// The actor of the session.
    pub actor_id: String,
    /// The phase that it holds the lease for; `None` if it never claimed a phase, or has ended it.
    pub active_phase: Option<WorkPhase>,
}

/// The effect of a valid signal. The keeper of work items appends the event, moves the
/// item to the next phase and releases the session's lease, in one transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExitHandlerResult {
    /// The event for the ledger.
    pub event: AgentSessionCompleted,
    /// The work item's phase from now on.
    pub next_phase: WorkPhase,
    /// The signal.
    pub exit_signal: ExitSignal,
}

/// The fault for which a signal changes nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ExitHandlerError {
    /// The text is no valid signal.
    #[error("exit signal validation failed: {0}")]
    Invalid(#[from] ExitSignalError),
    /// It is about another phase than the session's.
    #[error("phase mismatch: exit signal claims '{claimed}' but session is in '{actual}'")]
    PhaseMismatch {
        /// The signal's.
        claimed: WorkPhase,
        /// The session's.
        actual: WorkPhase,
    },
    /// The session works on nothing, or has ended already.
    #[error("session has no active work phase")]
    NoActivePhase,
}

impl Session {
    /// Handles a signal that arrives at a time. `event_id` is the id of the resulting event.
    /// The session itself stays as it is.
    ///
    /// # Errors
    ///
    /// In this order: signals are not read, this is no valid signal, the session has no
    /// active phase, the signal is about another one.
    pub fn exit(
        &self,
        json: &str,
        config: &AgentExitConfig,
        timestamp: Timestamp,
        event_id: Uuid,
    ) -> Result<ExitHandlerResult, ExitHandlerError> {
        self.accept(config.from_json(json)?, timestamp, event_id)
    }

    /// Handles a signal that was parsed before, for output that holds more than the signal.
    ///
    /// # Errors
    ///
    /// In this order: it is not valid, the session has no active phase, the signal is about
    /// another one.
    pub fn accept(
        &self,
        exit_signal: ExitSignal,
        timestamp: Timestamp,
        event_id: Uuid,
    ) -> Result<ExitHandlerResult, ExitHandlerError> {
        exit_signal.validate()?;
        let claimed = exit_signal.phase_completed;
        let actual = self.active_phase.ok_or(ExitHandlerError::NoActivePhase)?;
        if claimed != actual {
            return Err(ExitHandlerError::PhaseMismatch { claimed, actual });
        }
        let Self { session_id, actor_id, .. } = self;
        let event = AgentSessionCompleted::new(
            timestamp,
            event_id,
            session_id,
            actor_id,
            exit_signal.clone(),
        );
        Ok(ExitHandlerResult { next_phase: event.next_phase, event, exit_signal })
    }
}
