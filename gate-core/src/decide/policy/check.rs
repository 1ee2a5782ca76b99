//! One check, as settings describe it.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::is_default;
use crate::config::{ByteSize, Millis, settings};

/// The weight of a check's outcome in the decision.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// It must pass, and counts one indicator.
    #[default]
    Require,
    /// A pass adds one indicator (the seed's meaning).
    Count,
    /// It is shown and decides nothing.
    Warn,
}

impl Mode {
    /// Its name in settings and records.
    pub fn name(self) -> &'static str {
        match self {
            Self::Require => "require",
            Self::Count => "count",
            Self::Warn => "warn",
        }
    }
}

/// The place in which a check runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum When {
    /// In `gate check`.
    Check,
    /// In `gate run`.
    Run,
    /// In an agent's stop hook.
    Hook,
}

/// The part of the result of sealed tests that is shown. Their text never is.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Reveal {
    /// The number of them that pass.
    #[default]
    Count,
    /// The names of those that fail, too.
    Names,
    /// Nothing but that all pass, or not.
    None,
}

/// The share of the processor that a check's processes get while others need it.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Priority {
    /// Less than others: nice is 5 more than gate's.
    #[default]
    Low,
    /// As much as gate itself.
    Normal,
}

/// A format in which test runners report.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    schemars::JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum ReportFormat {
    /// The text of `cargo test`.
    Libtest,
    /// cargo-nextest's events.
    Nextest,
    /// pytest's JUnit XML.
    Pytest,
    /// jest's JSON.
    Jest,
    /// vitest's JSON.
    Vitest,
    /// mocha's JSON.
    Mocha,
    /// The events of `node --test`.
    Node,
    /// `go test -json`.
    Go,
    /// JUnit XML, of anything.
    Junit,
    /// The Test Anything Protocol.
    Tap,
}

impl ReportFormat {
    /// Its name in settings and records.
    pub fn name(self) -> &'static str {
        match self {
            Self::Libtest => "libtest",
            Self::Nextest => "nextest",
            Self::Pytest => "pytest",
            Self::Jest => "jest",
            Self::Vitest => "vitest",
            Self::Mocha => "mocha",
            Self::Node => "node",
            Self::Go => "go",
            Self::Junit => "junit",
            Self::Tap => "tap",
        }
    }
}

impl fmt::Display for ReportFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

settings! {
    /// One check.
    #[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
    pub struct CheckPolicy from RawCheck in "checks.NAME" {
        /// The program and its arguments; with `shell`, one script.
        #[schemars(length(min = 1))]
        command: Vec<String> = Vec::new(),
        /// The command is a script for `bash -euo pipefail -c`.
        shell: bool,
        /// Working folder, relative to the project.
        cwd: String => cwd: Option<String> = None,
        /// Names of environment variables that it may see, beside the usual ones.
        env: Vec<String> = Vec::new(),
        /// Longest run.
        timeout: Millis => timeout_ms: u64,
        /// Most memory that its processes may use together. Not set: no limit.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        memory: ByteSize => memory_bytes: Option<u64> = None,
        /// Share of the processor that its processes get while others need it.
        #[serde(default, skip_serializing_if = "is_default")]
        priority: Priority,
        /// Effect of its outcome on the decision.
        mode: Mode,
        /// Names of checks that must pass before it starts.
        needs: Vec<String> = Vec::new(),
        /// An unchanged tree means an unchanged result.
        hermetic: bool,
        /// Tests run in a copy, with the baseline's tests and a control.
        #[serde(default = "yes", skip_serializing_if = "is_on")]
        control: bool,
        /// A folder outside of the tree with tests that the agent does not see.
        #[schemars(length(min = 1))]
        #[serde(default, skip_serializing_if = "Option::is_none")]
        sealed: String => sealed: Option<String> = None,
        /// The part of the result of sealed tests that is shown.
        #[serde(default, skip_serializing_if = "is_default")]
        reveal: Reveal,
        /// The checks of tests that `tests_first` runs, by name; empty for others.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        _ => tests: BTreeMap<String, CheckPolicy> = BTreeMap::new(),
        /// The result format that it must write.
        report: ReportFormat => report: Option<ReportFormat> = None,
        /// Times that a failure is run again.
        #[schemars(range(max = 10))]
        retry: u32,
        /// The commands that run it.
        #[schemars(length(min = 1))]
        when: Vec<When>,
        /// Globs; where nothing that matches has changed it is skipped.
        paths: Vec<String> = Vec::new(),
        /// `acceptance_criteria` and `handoff`: the files to read.
        files: Vec<String> = Vec::new(),
        /// Criteria of the settings.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        _ => criteria: Vec<Criterion> = Vec::new(),
        /// `acceptance_criteria`: headings below which open items do not block.
        optional: Vec<String> = Vec::new(),
        /// `acceptance_criteria`: marks in the box of a list item that mean done, beside `x`.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        done_marks: Vec<String> = Vec::new(),
        /// `clean_git`: globs of files that may be uncommitted.
        ignore: Vec<String> = Vec::new(),
    }
}

settings! {
    /// Something that was asked for.
    #[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
    pub struct Criterion from RawCriterion in "criteria" {
        /// Its name.
        id: String,
        /// The requirement, in its own words.
        text: String,
        /// The program, with its arguments, that exits with 0 if the criterion is met.
        #[schemars(length(min = 1))]
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        verify: Vec<String> = Vec::new(),
        /// Old tests that it contradicts, by their names in reports: that they fail is a note.
        #[schemars(length(min = 1))]
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        supersedes: Vec<String> = Vec::new(),
    }
}

fn yes() -> bool {
    true
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde's form")]
fn is_on(flag: &bool) -> bool {
    *flag
}
