//! Evidence: the records of gate's own checks.
//!
//! The core only weighs it; `gate-checks` gathers it. A required check that
//! left no evidence has not passed.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::policy::Mode;

/// The outcome of a check. Never a bool: a check that could not measure has neither
/// passed nor failed.
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

/// Ends the summary of a [`cached`](Evidence::cached) record, before the reason and `)`.
pub const NOT_RUN_AGAIN: &str = " (not run again: ";

/// The record of one check.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Evidence {
    /// The check's name.
    pub check: String,
    /// The weight of its outcome in the decision.
    pub mode: Mode,
    /// The outcome.
    pub outcome: Outcome,
    /// The outcome is an earlier one of the same tree.
    #[serde(default)]
    pub cached: bool,
    /// The run time, in milliseconds.
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
    /// Details of the result format: counts, names.
    #[serde(default)]
    pub detail: Option<serde_json::Value>,
    /// A pass rests on the agent's own word, such as boxes that it ticked: a
    /// claim, which counts as one indicator and is never more.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub claim: bool,
    /// Tests that failed first and passed when they were run again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flaky: Vec<String>,
    /// The part of a failed program's output that says why it failed: words of others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub excerpt: Option<String>,
    /// The check outlived a hook's deadline and goes on.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub running: bool,
}

impl Evidence {
    /// The record of a check with an outcome.
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

    /// Sets the line for a person.
    #[must_use]
    pub fn with_summary(self, summary: impl Into<String>) -> Self {
        Self { summary: summary.into(), ..self }
    }

    /// Sets the details of the result format.
    #[must_use]
    pub fn with_detail(self, detail: impl Into<Option<serde_json::Value>>) -> Self {
        Self { detail: detail.into(), ..self }
    }

    /// Sets the run time.
    #[must_use]
    pub fn with_duration(self, duration: Duration) -> Self {
        let duration_ms = u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
        Self { duration_ms, ..self }
    }

    /// The check has this outcome and the outcome counts: a check of mode
    /// `warn` decides nothing.
    pub(crate) fn counts_as(&self, outcome: Outcome) -> bool {
        self.outcome == outcome && self.mode != Mode::Warn
    }

    /// A pass adds one indicator.
    pub(crate) fn counts(&self) -> bool {
        self.counts_as(Outcome::Pass)
    }
}

/// The record of a check that counts: of several the worst.
pub fn worst_of<'e>(evidence: &'e [Evidence], check: &str) -> Option<&'e Evidence> {
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
