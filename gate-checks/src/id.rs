//! The names of checks.

use std::fmt;

use gate_core::decide::evidence::{Evidence, Outcome};
use gate_core::decide::policy::Mode;

/// A check's name, as settings and records call it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CheckId(String);

impl CheckId {
    /// The check of this name.
    pub fn new(name: impl Into<String>) -> Self {
        Self(name.into())
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// A record of the check. gate adds the mode that settings give the check.
    pub(crate) fn record(&self, outcome: Outcome, summary: impl Into<String>) -> Evidence {
        Evidence::new(&self.0, Mode::default(), outcome).with_summary(summary)
    }
}

impl fmt::Display for CheckId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
