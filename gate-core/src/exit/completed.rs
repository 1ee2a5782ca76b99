//! The event that a signal becomes.

use jiff::Timestamp;
use serde::Serialize;
use uuid::Uuid;

use super::{ExitReason, ExitSignal, WorkPhase};

/// A session has ended with a valid exit signal. This is its event in the ledger.
///
/// Time and id are an RFC 3339 timestamp in UTC and a UUID, in JSON as any
/// library writes them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct AgentSessionCompleted {
    /// The event's own id.
    pub event_id: Uuid,
    /// Always [`AgentSessionCompleted::EVENT_TYPE`].
    pub event_type: String,
    /// When the signal was accepted.
    pub timestamp: Timestamp,
    /// Always [`AgentSessionCompleted::SOURCE`].
    pub source: String,
    /// The session that has ended.
    pub session_id: String,
    /// The actor of the session.
    pub actor_id: String,
    /// The phase that has ended.
    pub phase_completed: WorkPhase,
    /// Why the session has ended.
    pub exit_reason: ExitReason,
    /// The phase of the work from now on.
    pub next_phase: WorkPhase,
    /// The pull request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pr_url: Option<String>,
    /// Path of the evidence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evidence_bundle_ref: Option<String>,
    /// Notes for a person.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub notes: Option<String>,
}

impl AgentSessionCompleted {
    /// The type of such events.
    pub const EVENT_TYPE: &'static str = "AgentSessionCompleted";

    /// The source that such events name.
    pub const SOURCE: &'static str = "agent_exit_protocol";

    /// The event that a signal becomes at a time, under an id. The caller has to have
    /// validated the signal: an invalid one is no event.
    #[must_use]
    pub fn new(
        timestamp: Timestamp,
        event_id: Uuid,
        session_id: &str,
        actor_id: &str,
        signal: ExitSignal,
    ) -> Self {
        Self {
            event_id,
            event_type: Self::EVENT_TYPE.to_owned(),
            timestamp,
            source: Self::SOURCE.to_owned(),
            session_id: session_id.to_owned(),
            actor_id: actor_id.to_owned(),
            phase_completed: signal.phase_completed,
            exit_reason: signal.exit_reason,
            next_phase: signal.next_expected_phase(),
            pr_url: signal.pr_url,
            evidence_bundle_ref: signal.evidence_bundle_ref,
            notes: signal.notes,
        }
    }

    /// The phase was completed.
    pub const fn is_success(&self) -> bool {
        self.exit_reason.is_success()
    }
}
