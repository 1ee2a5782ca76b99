//! The exit signal.

use schemars::JsonSchema;
use serde::Serialize;

use super::{ExitReason, ExitSignalError, WorkPhase};

/// The value of `protocol` in each signal.
pub const EXIT_SIGNAL_PROTOCOL: &str = "apm2_agent_exit";

/// The version of signals that gate writes.
pub const EXIT_SIGNAL_VERSION: &str = "1.0.0";

/// The longest signal, in bytes of JSON.
pub const MAX_EXIT_SIGNAL: usize = 64 << 10;

/// The longest `version`, in bytes.
const MAX_VERSION: usize = 64;

/// The longest `pr_url`, in bytes.
pub const MAX_PR_URL: usize = 2_048;

/// The longest `evidence_bundle_ref`, in bytes.
pub const MAX_EVIDENCE_BUNDLE_REF: usize = 2_048;

/// The longest `notes`, in bytes.
pub const MAX_NOTES: usize = 10_240;

/// Characters that no address of a pull request needs, and that a shell acts on.
const DANGEROUS: [char; 4] = [';', '|', '`', '$'];

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

    /// With notes for people.
    #[must_use]
    pub fn with_notes(self, notes: impl Into<String>) -> Self {
        Self { notes: Some(notes.into()), ..self }
    }

    /// Checks the signal by the protocol's rules, in this order: `protocol`, `version`, `pr_url`,
    /// `evidence_bundle_ref`, `notes`.
    ///
    /// # Errors
    ///
    /// The first rule that it breaks: another protocol, a version that is not
    /// `1.` and a number, an address that is not of https, a path that leads
    /// out, a value that is too long.
    pub fn validate(&self) -> Result<(), ExitSignalError> {
        check_protocol(&self.protocol)?;
        check_version(&self.version)?;
        self.pr_url.as_deref().map_or(Ok(()), check_pr_url)?;
        self.evidence_bundle_ref.as_deref().map_or(Ok(()), check_evidence_bundle_ref)?;
        self.notes.as_deref().map_or(Ok(()), |notes| check_length("notes", notes, MAX_NOTES))
    }

    /// Reads a signal and validates it, whatever the value of the feature flag.
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
    /// the phase was completed, otherwise BLOCKED. Completing COMPLETED or BLOCKED
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

fn check_protocol(name: &str) -> Result<(), ExitSignalError> {
    match name {
        EXIT_SIGNAL_PROTOCOL => Ok(()),
        _ => Err(ExitSignalError::UnknownProtocol(name.to_owned())),
    }
}

/// `1.` and a number: the minor version, with or without a patch.
fn check_version(version: &str) -> Result<(), ExitSignalError> {
    check_length("version", version, MAX_VERSION)?;
    let is_supported = version.strip_prefix("1.").is_some_and(|minor_and_patch| {
        let (minor, patch) = minor_and_patch.split_once('.').unwrap_or((minor_and_patch, "0"));
        is_number(minor) && is_number(patch)
    });
    match is_supported {
        true => Ok(()),
        false => Err(ExitSignalError::UnsupportedVersion(version.to_owned())),
    }
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn check_pr_url(url: &str) -> Result<(), ExitSignalError> {
    check_length("pr_url", url, MAX_PR_URL)?;
    if !url.starts_with("https://") {
        return Err(ExitSignalError::InsecureUrl(url.to_owned()));
    }
    let dangerous_char = url.chars().find(is_dangerous);
    dangerous_char.map_or(Ok(()), |char| Err(ExitSignalError::UrlInjection { char }))
}

fn is_dangerous(char: &char) -> bool {
    DANGEROUS.contains(char) || char.is_whitespace() || char.is_control()
}

/// Also a path that is absolute elsewhere: of Windows, with a drive.
fn check_evidence_bundle_ref(path: &str) -> Result<(), ExitSignalError> {
    let field = "evidence_bundle_ref";
    check_length(field, path, MAX_EVIDENCE_BUNDLE_REF)?;
    let has_drive = path.as_bytes().get(1) == Some(&b':');
    let leads_out = path.contains("..") || path.starts_with(['/', '\\']) || has_drive;
    if leads_out { Err(ExitSignalError::PathTraversal { field }) } else { Ok(()) }
}

fn check_length(field: &'static str, text: &str, max: usize) -> Result<(), ExitSignalError> {
    let actual = text.len();
    if actual > max { Err(ExitSignalError::FieldTooLong { field, actual, max }) } else { Ok(()) }
}
