//! Result of a check's self-test.

use schemars::JsonSchema;
use serde::Serialize;

/// Proof that a check fails if it has to, or the reason why there is none.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Proof {
    /// The check's name.
    pub check: String,
    /// Result of the self-test.
    pub standing: SelfTestOutcome,
    /// One sentence: what was done, and what came of it.
    pub how: String,
    /// The log of the run that shows it, where one was kept.
    pub log: Option<String>,
    /// True if the check must pass, and did not in a copy of the tree as it is.
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
    pub(super) fn new(check: &str, standing: SelfTestOutcome, how: impl Into<String>) -> Self {
        Self { check: check.to_owned(), standing, how: how.into(), log: None, does_not_pass: false }
    }
}
