//! Protected files, tests and settings.

use serde::{Deserialize, Serialize};

/// Protection beside the tests and settings that gate protects by itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct IntegrityPolicy {
    /// Globs of files that only the operator changes.
    pub protect: Vec<String>,
    /// Changes that the operator has approved.
    pub allow: Vec<Allowance>,
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
