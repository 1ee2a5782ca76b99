//! Protected files, tests and settings.

use serde::{Deserialize, Serialize};

use crate::config::{Fault, settings};

settings! {
    /// Guards against weakened tests and rules.
    #[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
    pub struct IntegrityPolicy from RawIntegrity in "integrity" {
        /// Exceptions that the operator has approved.
        allow: Vec<RawAllowance> => allow: Vec<Allowance> as RawAllowance::settled_all,
        /// Globs of files that only the operator changes.
        _ => protect: Vec<String> = Vec::new(),
    }
}

impl RawAllowance {
    fn settled_all(allow: Option<Vec<Self>>) -> Result<Vec<Allowance>, Fault> {
        allow.into_iter().flatten().map(Self::settled).collect()
    }
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
