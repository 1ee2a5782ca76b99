//! Evidence: what gate itself looked at.
//!
//! The core only weighs it; `gate-checks` gathers it. A required check that
//! left no evidence has not passed.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::policy::Mode;

/// What came of a check. Never a bool: what could not be measured is neither.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// It looked, and all is well.
    Pass,
    /// It looked, and something is wrong.
    Fail,
    /// It could not find out. Never a pass.
    Inconclusive,
    /// Somebody worked around it.
    Tamper,
    /// It did not run.
    Skipped,
}

/// The record of one check.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Evidence {
    /// The check's name.
    pub check: String,
    /// How much its outcome counts.
    pub mode: Mode,
    /// What came of it.
    pub outcome: Outcome,
    /// Whether the outcome is an earlier one, of the same tree.
    #[serde(default)]
    pub cached: bool,
    /// How long it ran, in milliseconds.
    #[serde(default)]
    pub duration_ms: u64,
    /// The program and its arguments.
    #[serde(default)]
    pub argv: Vec<String>,
    /// The program's exit code.
    #[serde(default)]
    pub exit_code: Option<i32>,
    /// One line for a person.
    #[serde(default)]
    pub summary: String,
    /// The path of the log.
    #[serde(default)]
    pub log: Option<String>,
    /// What the result format told: counts, names.
    #[serde(default)]
    pub detail: Option<serde_json::Value>,
    /// Whether a pass rests on the agent's own word, such as boxes that it
    /// ticked: a claim, which counts as one indicator and is never more.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub claim: bool,
    /// What failed first and passed when it was run again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flaky: Vec<String>,
    /// The end of what a failed program printed: words of others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub excerpt: Option<String>,
    /// Whether it outlived a hook's deadline, and goes on.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub running: bool,
}

impl Evidence {
    /// The record of a check that ended like this.
    pub fn new(check: impl Into<String>, mode: Mode, outcome: Outcome) -> Self {
        Self {
            check: check.into(),
            mode,
            outcome,
            cached: false,
            duration_ms: 0,
            argv: Vec::new(),
            exit_code: None,
            summary: String::new(),
            log: None,
            detail: None,
            claim: false,
            flaky: Vec::new(),
            excerpt: None,
            running: false,
        }
    }

    /// Whether a pass adds one indicator.
    pub(crate) fn counts(&self) -> bool {
        self.outcome == Outcome::Pass && self.mode != Mode::Warn
    }
}

/// The record of a check that counts: of several the worst.
pub(super) fn worst_of<'e>(evidence: &'e [Evidence], check: &str) -> Option<&'e Evidence> {
    let records = evidence.iter().filter(|record| record.check == check);
    records.max_by_key(|record| severity(record.outcome))
}

pub(super) fn severity(outcome: Outcome) -> u8 {
    match outcome {
        Outcome::Pass => 0,
        Outcome::Skipped => 1,
        Outcome::Inconclusive => 2,
        Outcome::Fail => 3,
        Outcome::Tamper => 4,
    }
}
