//! The result and the time of a proposed check.

use std::time::Duration;

use gate_core::decide::evidence::{Evidence, Outcome};

/// The result of running a check once.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Measured {
    pub(super) outcome: Outcome,
    pub(super) took: Duration,
    /// One line for a person.
    pub(super) summary: String,
    /// A test runner ran to its end, and found no test.
    pub(super) has_no_tests: bool,
}

impl Measured {
    pub(super) fn new(evidence: Evidence) -> Self {
        let took = Duration::from_millis(evidence.duration_ms);
        let tests = evidence.detail.as_ref().and_then(|detail| detail.get("tests"));
        let is_none = |key: &str| {
            let value = tests.and_then(|tests| tests.get(key));
            value.is_some_and(|value| *value == 0 || value.as_array().is_some_and(Vec::is_empty))
        };
        let has_no_tests = evidence.outcome == Outcome::Fail
            && ["executed", "skipped", "errors", "problems"].into_iter().all(is_none);
        Self { outcome: evidence.outcome, took, summary: evidence.summary, has_no_tests }
    }

    /// True if the check cannot pass until a person installs or changes something.
    pub(super) fn cannot_pass(&self) -> bool {
        !matches!(self.outcome, Outcome::Pass | Outcome::Fail)
    }
}

#[cfg(test)]
mod tests {
    use gate_core::decide::policy::Mode;
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(outcome: Outcome, tests: &serde_json::Value, expected: bool) {
        let detail = Some(json!({ "tests": tests }));
        let evidence = Evidence { detail, ..Evidence::new("tests", Mode::default(), outcome) };
        assert_eq!(Measured::new(evidence).has_no_tests, expected, "{tests}");
    }

    #[test]
    fn a_suite_without_a_test_is_told_from_a_broken_one() {
        let counts = |executed: u32, errors: &[&str]| json!({ "executed": executed, "skipped": 0, "errors": errors, "problems": [] });
        check(Outcome::Fail, &counts(0, &[]), true);
        check(Outcome::Fail, &counts(0, &["cannot compile"]), false);
        check(Outcome::Fail, &counts(1, &[]), false);
        check(Outcome::Inconclusive, &counts(0, &[]), false);
        check(Outcome::Fail, &json!(null), false);
    }
}
