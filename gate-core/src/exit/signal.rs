//! The exit signal.

use schemars::JsonSchema;
use serde::Serialize;

use super::protocol::{EXIT_SIGNAL_PROTOCOL, EXIT_SIGNAL_VERSION};
use super::{ExitReason, ExitSignalError, MAX_EXIT_SIGNAL, WorkPhase, limit};

/// The message with which an agent ends a phase of the work.
///
/// A signal cannot be taken back or changed; the next one is another session's. In JSON
/// the members come in this order, and absent ones are left out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExitSignal {
    /// Always `apm2_agent_exit`.
    pub protocol: String,
    /// The protocol's version: `1.` and a number.
    pub version: String,
    /// The phase that ends.
    pub phase_completed: WorkPhase,
    /// Why the session ends.
    pub exit_reason: ExitReason,
    /// The pull request, where one was made: https, at most 2,048 bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub pr_url: Option<String>,
    /// Path of the evidence for this phase: relative, without `..`, at most 2,048 bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub evidence_bundle_ref: Option<String>,
    /// Notes for a person, at most 10,240 bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub notes: Option<String>,
}

impl ExitSignal {
    /// A signal of the current version.
    #[must_use]
    pub fn new(phase_completed: WorkPhase, exit_reason: ExitReason) -> Self {
        Self {
            protocol: EXIT_SIGNAL_PROTOCOL.to_owned(),
            version: EXIT_SIGNAL_VERSION.to_owned(),
            phase_completed,
            exit_reason,
            pr_url: None,
            evidence_bundle_ref: None,
            notes: None,
        }
    }

    /// With the address of the pull request.
    #[must_use]
    pub fn with_pr_url(self, pr_url: impl Into<String>) -> Self {
        Self { pr_url: Some(pr_url.into()), ..self }
    }

    /// With the path of the evidence.
    #[must_use]
    pub fn with_evidence_bundle_ref(self, evidence_bundle_ref: impl Into<String>) -> Self {
        Self { evidence_bundle_ref: Some(evidence_bundle_ref.into()), ..self }
    }

    /// With a word for people.
    #[must_use]
    pub fn with_notes(self, notes: impl Into<String>) -> Self {
        Self { notes: Some(notes.into()), ..self }
    }

    /// Checks it by the protocol's rules, in this order: `protocol`, `version`, `pr_url`,
    /// `evidence_bundle_ref`, `notes`.
    ///
    /// # Errors
    ///
    /// The first rule that it breaks: another protocol, a version that is not
    /// `1.` and a number, an address that is not of https, a path that leads
    /// out, a value that is too long.
    pub fn validate(&self) -> Result<(), ExitSignalError> {
        limit::validate(self)
    }

    /// Reads a signal and validates it, whatever the feature flag says.
    ///
    /// # Errors
    ///
    /// [`ExitSignalError::InputTooLarge`] above 64 KiB, then [`ExitSignalError::InvalidJson`], then
    /// the errors of [`ExitSignal::validate`].
    pub fn from_json(json: &str) -> Result<Self, ExitSignalError> {
        let (actual, max) = (json.len(), MAX_EXIT_SIGNAL);
        if actual > max {
            return Err(ExitSignalError::InputTooLarge { actual, max });
        }
        let signal: Self = serde_json::from_str(json)
            .map_err(|error| ExitSignalError::InvalidJson(error.to_string()))?;
        signal.validate()?;
        Ok(signal)
    }

    /// The phase of the work once the signal was accepted: the next one where
    /// the phase was completed, BLOCKED else. Completing COMPLETED or BLOCKED
    /// changes nothing.
    pub fn next_expected_phase(&self) -> WorkPhase {
        match self.exit_reason {
            ExitReason::Completed => {
                self.phase_completed.next_phase().unwrap_or(self.phase_completed)
            }
            ExitReason::Blocked | ExitReason::Error => WorkPhase::Blocked,
        }
    }
}
