//! Errors that end the program without a decision.

use std::io;
use std::path::Path;

use schemars::JsonSchema;
use serde::Serialize;

use crate::config::{ConfigError, Excerpt};
use crate::decide::indicator::PatternError;

/// The code of an answer whose reader has gone, such as `head`.
pub const OUTPUT_CLOSED: &str = "output-closed";

/// Why nothing was decided.
///
/// It is printed as `gate.error.v1` with `--json`, and as one or a few lines
/// otherwise; its exit code is 2 or 5 and never that of a pass.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema, thiserror::Error)]
#[error("{message}")]
pub struct Failure {
    /// Always `gate.error.v1`.
    pub schema: &'static str,
    /// 2: usage or configuration; 5: internal.
    pub exit_code: u8,
    /// A stable kebab-case code.
    pub code: String,
    /// The problem, in words for a person.
    pub message: String,
    /// The file that it is about.
    pub file: Option<String>,
    /// The line there, from 1.
    pub line: Option<usize>,
    /// The settings' key.
    pub key: Option<String>,
    /// The next step for a person.
    pub hint: Option<String>,
    /// The text that it is about, for a person.
    #[serde(skip)]
    pub excerpt: Option<Excerpt>,
}

impl Failure {
    /// Something that the user has to put right (code 2).
    pub fn usage(code: &str, message: impl Into<String>) -> Self {
        Self::new(2, code, message)
    }

    /// Something that went wrong here (code 5).
    pub fn internal(code: &str, message: impl Into<String>) -> Self {
        Self::new(5, code, message)
    }

    /// A file that could not be read or written. A path that does not lead to
    /// a file is the user's to put right.
    pub fn file(code: &str, doing: &str, path: &Path, error: &io::Error) -> Self {
        use io::ErrorKind::{InvalidData, IsADirectory, NotADirectory, NotFound};
        let message = format!("cannot {doing} {}: {error}", path.display());
        let failure = match error.kind() {
            NotFound | IsADirectory | NotADirectory | InvalidData => Self::usage(code, message),
            _ => Self::internal(code, message),
        };
        Self { file: Some(path.display().to_string()), ..failure }
    }

    /// The standard output could not be written.
    pub fn output(error: &io::Error) -> Self {
        let code = match error.kind() {
            io::ErrorKind::BrokenPipe => OUTPUT_CLOSED,
            _ => "output-unwritable",
        };
        Self::internal(code, format!("cannot write the answer: {error}"))
    }

    /// With advice.
    #[must_use]
    pub fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }

    /// The connection to the store broke, or the store was too busy: nothing was kept.
    pub fn is_of_connection(&self) -> bool {
        ["state-unreachable", "state-busy"].contains(&self.code.as_str())
    }

    /// The message, if this failure means that the state cannot be trusted.
    pub fn lost_state(&self) -> Option<&str> {
        let codes = ["state-corrupt", "state-lost", "state-newer"];
        codes.contains(&self.code.as_str()).then_some(self.message.as_str())
    }

    fn new(exit_code: u8, code: &str, message: impl Into<String>) -> Self {
        Self {
            schema: "gate.error.v1",
            exit_code,
            code: code.to_owned(),
            message: message.into(),
            file: None,
            line: None,
            key: None,
            hint: None,
            excerpt: None,
        }
    }
}

impl From<ConfigError> for Failure {
    fn from(error: ConfigError) -> Self {
        Self {
            file: Some(error.origin().to_owned()),
            line: error.line(),
            key: error.key().map(str::to_owned),
            hint: error.hint().map(str::to_owned),
            excerpt: error.excerpt().cloned(),
            ..Self::usage(error.code(), error.message())
        }
    }
}

impl From<PatternError> for Failure {
    fn from(error: PatternError) -> Self {
        Self::usage("config-regex", error.to_string())
    }
}
