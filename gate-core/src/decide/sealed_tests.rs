//! Sealed tests in the record of a check: tests that the agent does not see.

use serde::{Deserialize, Serialize};

use super::evidence::{Evidence, Outcome};

/// After so many refusals in one run, sealed tests do not run again, and a person has to look:
/// an agent that tries on would guess at the tests instead of doing the work.
pub const MAX_SEALED_REFUSALS: u32 = 3;

/// The outcome of sealed tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SealedOutcome {
    /// All pass.
    Passed,
    /// At least one fails.
    Failed,
    /// They did not run, because they refused [`MAX_SEALED_REFUSALS`] times in this run.
    Spent,
}

/// The result of a check's sealed tests.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub struct SealedTests {
    /// The outcome.
    pub outcome: SealedOutcome,
    /// Number of tests that pass, if it is shown.
    pub passed: Option<u64>,
    /// Number of tests, if it is shown.
    pub total: Option<u64>,
    /// The user of the work tree can read them.
    #[serde(default)]
    pub readable: bool,
}

impl Evidence {
    /// The result of its sealed tests; `None` if it has none, or did not get to them.
    pub fn sealed_tests(&self) -> Option<SealedTests> {
        let detail = self.detail.as_ref()?.get("tests")?.get("sealed")?;
        SealedTests::deserialize(detail).ok()
    }

    /// Its sealed tests refuse.
    pub(super) fn sealed_refuse(&self) -> bool {
        let sealed = self.sealed_tests();
        self.outcome == Outcome::Fail
            && sealed.is_some_and(|sealed| sealed.outcome != SealedOutcome::Passed)
    }
}
