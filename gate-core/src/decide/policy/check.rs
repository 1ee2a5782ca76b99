//! One check, as settings describe it.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

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

impl Reveal {
    /// Policies that were recorded before this setting existed have the digest of those that leave
    /// it out.
    #[allow(clippy::trivially_copy_pass_by_ref, reason = "serde's form")]
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
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

impl Priority {
    /// Policies that were recorded before this setting existed have the digest of those that leave
    /// it out.
    #[allow(clippy::trivially_copy_pass_by_ref, reason = "serde's form")]
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
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

/// One check, as settings describe it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckPolicy {
    /// The weight of its outcome in the decision.
    pub mode: Mode,
    /// The program and its arguments; empty for a built-in check without one.
    pub command: Vec<String>,
    /// True if `command` is run by `bash -euo pipefail -c`.
    pub shell: bool,
    /// Working directory, relative to the project.
    pub cwd: Option<String>,
    /// Names of environment variables that it may see, beside the usual ones.
    pub env: Vec<String>,
    /// Longest run, in milliseconds.
    pub timeout_ms: u64,
    /// Most memory of its processes together, in bytes; `None`: no limit. It takes a supervisor,
    /// on Linux.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<u64>,
    /// The share of the processor that its processes get. It takes a supervisor.
    #[serde(default, skip_serializing_if = "Priority::is_default")]
    pub priority: Priority,
    /// Names of checks that must pass before it starts.
    pub needs: Vec<String>,
    /// True if an unchanged tree means an unchanged result.
    pub hermetic: bool,
    /// True if a known test runner runs in a copy of the tree, with the baseline's tests
    /// over it and a test of gate's that has to fail.
    #[serde(default = "yes", skip_serializing_if = "is_on")]
    pub control: bool,
    /// A folder outside of the tree with tests that the agent does not see, relative to the
    /// project; `None`: there are none, unless the operator has set some apart.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sealed: Option<String>,
    /// The part of their result that is shown.
    #[serde(default, skip_serializing_if = "Reveal::is_default")]
    pub reveal: Reveal,
    /// The checks of tests that `tests_first` runs, by name; empty for others.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub tests: BTreeMap<String, CheckPolicy>,
    /// The result format that it must write.
    pub report: Option<ReportFormat>,
    /// The number of times that a failure is run again.
    pub retry: u32,
    /// The places in which it runs.
    pub when: Vec<When>,
    /// Globs; where nothing that matches has changed it is skipped.
    pub paths: Vec<String>,
    /// Files that hold acceptance criteria.
    pub files: Vec<String>,
    /// Criteria of the settings.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub criteria: Vec<Criterion>,
    /// Headings below which open criteria do not block.
    pub optional: Vec<String>,
    /// Marks in the box of a list item that mean done, beside `x`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub done_marks: Vec<String>,
    /// Globs of files that may be uncommitted.
    pub ignore: Vec<String>,
}

/// Something that was asked for, as the settings have it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Criterion {
    /// Its name.
    pub id: String,
    /// The requirement, in its own words.
    pub text: String,
    /// The program, with its arguments, that exits with 0 if the criterion is met; empty if
    /// only the agent's word counts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub verify: Vec<String>,
}

pub(super) fn yes() -> bool {
    true
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde's form")]
pub(super) fn is_on(flag: &bool) -> bool {
    *flag
}
