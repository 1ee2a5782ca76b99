//! The faults of exit signals.

use super::EXIT_SIGNAL_PROTOCOL;

/// The most of an insecure address that an error quotes, in characters.
const MAX_QUOTED_CHARS: usize = 50;

/// The fault for which a text is no exit signal. The first five texts are the protocol's own.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ExitSignalError {
    /// `protocol` names another protocol.
    #[error("unknown protocol: expected '{EXIT_SIGNAL_PROTOCOL}', got '{0}'")]
    UnknownProtocol(String),
    /// `version` is none of the series 1.x.
    #[error("unsupported version: expected '1.x', got '{0}'")]
    UnsupportedVersion(String),
    /// No phase is called that.
    #[error("invalid work phase: '{0}'")]
    InvalidPhase(String),
    /// It is no JSON, or not the object that a signal is: a key is missing,
    /// unknown or there twice, a value is no string or none of those allowed.
    #[error("invalid JSON: {0}")]
    InvalidJson(String),
    /// Signals are not read here: the feature flag is off.
    #[error("exit signal validation is disabled (AGENT_EXIT_PROTOCOL_ENABLED=false)")]
    ValidationDisabled,
    /// A value is too long.
    #[error("{field} exceeds maximum length: {actual} bytes > {max} bytes")]
    FieldTooLong {
        /// Its key.
        field: &'static str,
        /// Its length, in bytes.
        actual: usize,
        /// The limit, in bytes.
        max: usize,
    },
    /// A path leads out of the folder that it is relative to.
    #[error("path traversal detected in {field}: paths cannot contain '..' or start with '/'")]
    PathTraversal {
        /// Its key.
        field: &'static str,
    },
    /// The JSON is too long.
    #[error("input too large: {actual} bytes > {max} bytes maximum")]
    InputTooLarge {
        /// Its length, in bytes.
        actual: usize,
        /// The limit, in bytes.
        max: usize,
    },
    /// An address holds a character that a shell would act on.
    #[error("pr_url contains potentially dangerous character: '{}'", .char.escape_debug())]
    UrlInjection {
        /// The first such character.
        char: char,
    },
    /// An address is not one of https.
    #[error("pr_url must start with 'https://': got '{}'", beginning(.0))]
    InsecureUrl(String),
}

/// The beginning of a text.
fn beginning(text: &str) -> String {
    match text.char_indices().nth(MAX_QUOTED_CHARS) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}
