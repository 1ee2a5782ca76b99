//! Protected files, tests and settings.

use serde::{Deserialize, Serialize};

/// Protection beside the tests and settings that gate protects by itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IntegrityPolicy {
    /// Globs of files that only the operator changes.
    pub protect: Vec<String>,
    /// The number of suppressions of linters and type checkers that are let through.
    pub budget: u32,
    /// True if work that changed nothing is a finding.
    #[serde(default = "super::check::yes", skip_serializing_if = "super::check::is_on")]
    pub nothing_changed: bool,
    /// Changes that the operator has approved.
    pub allow: Vec<Allowance>,
}

impl Default for IntegrityPolicy {
    fn default() -> Self {
        Self { protect: Vec::new(), budget: 0, nothing_changed: true, allow: Vec::new() }
    }
}

impl IntegrityPolicy {
    /// Policies that were recorded before this setting existed have the digest of those that leave
    /// it out.
    pub(super) fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// A change that the operator has approved. Of `path`, `test` and `rule` those that
/// are there have to fit; one of them is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Allowance {
    /// Glob of files, relative to the project.
    pub path: Option<String>,
    /// Identity of a test, where `*` stands for anything.
    pub test: Option<String>,
    /// The rule of a finding.
    pub rule: Option<String>,
    /// Why.
    pub reason: String,
}
