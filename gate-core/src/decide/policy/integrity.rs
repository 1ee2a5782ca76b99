//! Protected files, tests and settings.

use serde::{Deserialize, Serialize};

use crate::config::settings;

/// Protection beside the tests and settings that gate protects by itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct IntegrityPolicy {
    /// Globs of files that only the operator changes.
    pub protect: Vec<String>,
    /// Changes that the operator has approved.
    pub allow: Vec<Allowance>,
}

settings! {
    /// A change that the operator has approved: `path`, `test` or `rule`, of which those
    /// that are written have to fit, and why.
    #[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
    pub struct Allowance from RawAllowance in "integrity.allow" {
        /// Glob of files that may be edited or removed.
        path: String => path: Option<String> = None,
        /// Test that may be gone or skipped: its identity, where `*` stands for anything.
        test: String => test: Option<String> = None,
        /// The rule of a finding, as it is told.
        rule: String => rule: Option<String> = None,
        /// Why.
        reason: String,
    }
}
