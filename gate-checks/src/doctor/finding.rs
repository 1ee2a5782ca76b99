//! Findings about settings and tools, and the results of self-tests.

use schemars::JsonSchema;
use serde::Serialize;

/// One thing that was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Finding {
    /// The check that it is about; null: gate itself, or the project.
    pub check: Option<String>,
    /// Severity of the finding.
    pub level: Level,
    /// A stable kebab-case code.
    pub code: String,
    /// Description of the finding.
    pub message: String,
    /// Proposal what to do.
    pub hint: Option<String>,
}

/// Severity of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// It is as it should be.
    Ok,
    /// It is worth knowing.
    Note,
    /// It has to be put right.
    Problem,
}

impl Finding {
    /// A finding that is about no check.
    pub fn new(level: Level, code: &str, message: impl Into<String>) -> Self {
        Self { check: None, level, code: code.to_owned(), message: message.into(), hint: None }
    }

    /// Adds advice.
    #[must_use]
    pub fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }

    /// Sets the check that it is about.
    #[must_use]
    pub fn about(self, check: &str) -> Self {
        Self { check: Some(check.to_owned()), ..self }
    }
}

/// A finding that all is as it should be.
pub(super) fn fine(code: &str, message: impl Into<String>) -> Finding {
    Finding::new(Level::Ok, code, message)
}

/// A finding that is worth knowing.
pub(super) fn note(code: &str, message: impl Into<String>) -> Finding {
    Finding::new(Level::Note, code, message)
}

/// A finding that has to be put right.
pub(super) fn problem(code: &str, message: impl Into<String>) -> Finding {
    Finding::new(Level::Problem, code, message)
}

/// Proof that a check fails if it has to, or the reason why there is none.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Proof {
    /// The check's name.
    pub check: String,
    /// Result of the self-test.
    #[serde(rename = "standing")]
    pub outcome: SelfTestOutcome,
    /// One sentence: what was done, and what came of it.
    #[serde(rename = "how")]
    pub account: String,
    /// The log of the run that shows it, where one was kept.
    pub log: Option<String>,
    /// The check must pass, and did not in a copy of the tree as it is.
    pub does_not_pass: bool,
}

/// Result of a self-test.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "Standing")]
pub enum SelfTestOutcome {
    /// It failed where it had to.
    CanFail,
    /// It passed where it had to fail.
    CannotFail,
    /// Neither was seen.
    NotShown,
}

impl Proof {
    pub(super) fn new(check: &str, outcome: SelfTestOutcome, account: impl Into<String>) -> Self {
        Self {
            check: check.to_owned(),
            outcome,
            account: account.into(),
            log: None,
            does_not_pass: false,
        }
    }
}
