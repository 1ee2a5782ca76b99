//! What a self-test shows of a check.

use schemars::JsonSchema;
use serde::Serialize;

/// Whether a check was seen to fail where it had to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Proof {
    /// The check's name.
    pub check: String,
    /// What was shown.
    pub standing: Standing,
    /// One sentence: what was done, and what came of it.
    pub how: String,
    /// The log of the run that shows it, where one was kept.
    pub log: Option<String>,
}

/// What a self-test can show.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// It failed where it had to.
    CanFail,
    /// It passed where it had to fail.
    CannotFail,
    /// Neither was seen.
    NotShown,
}

impl Proof {
    pub(super) fn new(check: &str, standing: Standing, how: impl Into<String>) -> Self {
        Self { check: check.to_owned(), standing, how: how.into(), log: None }
    }
}
