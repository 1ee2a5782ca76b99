//! Errors that end the program without a decision.

use std::io;
use std::path::Path;

use gate_checks::baseline::BaselineError;
use gate_checks::{BadSetting, GatherError};
use gate_core::config::{ConfigError, Excerpt};
use gate_core::decide::indicator::PatternError;
use gate_core::decide::reason::Explanation;
use schemars::JsonSchema;
use serde::Serialize;

/// The code of an answer whose reader has gone, such as `head`.
pub(crate) const OUTPUT_CLOSED: &str = "output-closed";

/// Errors that need more than their message: their codes, what they mean and what to do.
pub(crate) const EXPLAINED: [(&str, Explanation); 4] = [
    (
        "config-not-trusted",
        Explanation {
            what: "Nobody approved the project's settings, and they would start programs. Nothing was started and nothing decided.",
            why: "A clone's gate.toml could run any command. Or other settings were approved than stand there now, and the text of those is not kept.",
            example: "A fresh clone with `[checks.tests] command = [\"make\", \"test\"]`.",
            next: "`gate trust` shows what the settings start, and approves them. On a machine without a person, set `GATE_TRUST` to the digest that `gate trust --show` prints.",
        },
    ),
    (
        "under-an-agent",
        Explanation {
            what: "A command for the operator was called by an agent, or by a program that an agent started. Nothing was done.",
            why: "An agent that could approve settings or force an exit would decide about itself.",
            example: "`gate trust` in a tool call of Claude Code.",
            next: "Type the command in a terminal of your own.",
        },
    ),
    (
        "under-a-check",
        Explanation {
            what: "A command for the operator was called by a program that gate started, such as a test. Nothing was done.",
            why: "A test may run code that an agent wrote.",
            example: "A test that calls `gate breaker reset`.",
            next: "Type the command in a terminal of your own.",
        },
    ),
    (
        "trust-value",
        Explanation {
            what: "`GATE_TRUST` or `GATE_TRUST_LEVEL` has an unexpected value.",
            why: "gate does not guess what was meant.",
            example: "`GATE_TRUST_LEVEL=high`",
            next: "`gate trust --show` prints the digest for `GATE_TRUST`. Levels are T0, T1, T2 and T3.",
        },
    ),
];

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
    pub(crate) fn file(code: &str, doing: &str, path: &Path, error: &io::Error) -> Self {
        use io::ErrorKind::{InvalidData, IsADirectory, NotADirectory, NotFound};
        let message = format!("cannot {doing} {}: {error}", path.display());
        let failure = match error.kind() {
            NotFound | IsADirectory | NotADirectory | InvalidData => Self::usage(code, message),
            _ => Self::internal(code, message),
        };
        Self { file: Some(path.display().to_string()), ..failure }
    }

    /// The standard output could not be written.
    pub(crate) fn output(error: &io::Error) -> Self {
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

impl From<BadSetting> for Failure {
    fn from(error: BadSetting) -> Self {
        let failure = Self::usage("config-invalid", error.to_string());
        Self { key: Some(error.key), ..failure }
    }
}

impl From<GatherError> for Failure {
    fn from(error: GatherError) -> Self {
        Self::internal("checks-unavailable", error.to_string())
    }
}

impl From<BaselineError> for Failure {
    fn from(error: BaselineError) -> Self {
        let failure = Self::internal("baseline-unreadable", error.to_string());
        failure.hint("`gate baseline` takes a new one, where nothing has to be compared any more")
    }
}

impl From<PatternError> for Failure {
    fn from(error: PatternError) -> Self {
        Self::usage("config-regex", error.to_string())
    }
}
