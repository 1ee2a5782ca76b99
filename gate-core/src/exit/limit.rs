//! Limits of a signal beyond its form.

use super::{EXIT_SIGNAL_PROTOCOL, ExitSignal, ExitSignalError};

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

/// The first rule that a signal breaks.
pub(super) fn validate(signal: &ExitSignal) -> Result<(), ExitSignalError> {
    protocol(&signal.protocol)?;
    version(&signal.version)?;
    signal.pr_url.as_deref().map_or(Ok(()), pr_url)?;
    signal.evidence_bundle_ref.as_deref().map_or(Ok(()), evidence_bundle_ref)?;
    signal.notes.as_deref().map_or(Ok(()), |notes| within("notes", notes, MAX_NOTES))
}

fn protocol(name: &str) -> Result<(), ExitSignalError> {
    (name == EXIT_SIGNAL_PROTOCOL)
        .then_some(())
        .ok_or_else(|| ExitSignalError::UnknownProtocol(name.to_owned()))
}

/// `1.` and a number: the minor version, with or without a patch.
fn version(version: &str) -> Result<(), ExitSignalError> {
    within("version", version, MAX_VERSION)?;
    let is_supported = version.strip_prefix("1.").is_some_and(|rest| match rest.split_once('.') {
        Some((minor, patch)) => is_number(minor) && is_number(patch),
        None => is_number(rest),
    });
    is_supported
        .then_some(())
        .ok_or_else(|| ExitSignalError::UnsupportedVersion(version.to_owned()))
}

fn is_number(part: &str) -> bool {
    !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit())
}

fn pr_url(url: &str) -> Result<(), ExitSignalError> {
    within("pr_url", url, MAX_PR_URL)?;
    if !url.starts_with("https://") {
        return Err(ExitSignalError::InsecureUrl(url.to_owned()));
    }
    let dangerous = url.chars().find(is_dangerous);
    dangerous.map_or(Ok(()), |char| Err(ExitSignalError::UrlInjection { char }))
}

fn is_dangerous(c: &char) -> bool {
    DANGEROUS.contains(c) || c.is_whitespace() || c.is_control()
}

/// Also a path that is absolute elsewhere: of Windows, with a drive.
fn evidence_bundle_ref(path: &str) -> Result<(), ExitSignalError> {
    let field = "evidence_bundle_ref";
    within(field, path, MAX_EVIDENCE_BUNDLE_REF)?;
    let drive = path.as_bytes().get(1) == Some(&b':');
    let leads_out = path.contains("..") || path.starts_with(['/', '\\']) || drive;
    if leads_out { Err(ExitSignalError::PathTraversal { field }) } else { Ok(()) }
}

fn within(field: &'static str, text: &str, max: usize) -> Result<(), ExitSignalError> {
    let actual = text.len();
    if actual > max { Err(ExitSignalError::FieldTooLong { field, actual, max }) } else { Ok(()) }
}
