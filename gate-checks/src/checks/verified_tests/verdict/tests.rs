//! Verdicts of runs, without running anything.

use gate_core::decide::policy::Mode;

use super::*;
use crate::report::{Format, TestReport};

fn evidence(outcome: Outcome) -> Evidence {
    Evidence::new("tests", Mode::Require, outcome)
}

/// The report of a run with these counts, and an error where there is one.
fn report(passed: u64, failed: u64, error: Option<&str>) -> TestReport {
    TestReport {
        format: Format::Pytest,
        tests: Vec::new(),
        passed,
        failed,
        skipped: 0,
        flaky: Vec::new(),
        errors: error.map(str::to_owned).into_iter().collect(),
        problems: Vec::new(),
        failures: Vec::new(),
    }
}

fn tried(outcome: Outcome, report: Option<TestReport>) -> TestOutcome {
    TestOutcome { evidence: evidence(outcome), report }
}

#[test]
fn a_copy_falls_short_where_something_other_than_a_test_failed() {
    let check = |outcome, report: Option<TestReport>, expected: bool| {
        let verdict = Verdict::new(tried(outcome, report.clone()));
        assert_eq!(verdict.has_failed_outside_tests, expected, "{outcome:?} {report:?}");
    };
    check(Outcome::Pass, None, false);
    check(Outcome::Pass, Some(report(0, 0, Some("x"))), false);
    check(Outcome::Fail, None, true);
    check(Outcome::Inconclusive, None, true);
    check(Outcome::Fail, Some(report(0, 0, None)), true);
    check(Outcome::Fail, Some(report(3, 0, Some("not collected"))), true);
    check(Outcome::Fail, Some(report(3, 1, Some("not collected"))), false);
    check(Outcome::Fail, Some(report(3, 1, None)), false);
    check(Outcome::Fail, Some(report(3, 0, None)), false);
}

#[test]
fn further_members_stand_beside_what_a_record_tells_already() {
    let mut verdict = Verdict::new(tried(Outcome::Pass, None));
    verdict.note_no_control("x");
    verdict.evidence.detail =
        Some(json!({ "exit": 0, "tests": { "passed": 3, "control": "old" } }));
    verdict.add_detail("why_none", json!("y"));
    verdict.add_detail("overlaid", json!(["a"]));
    let tests = json!({ "passed": 3, "control": "none", "why_none": "y", "overlaid": ["a"] });
    assert_eq!(verdict.finish().detail, Some(json!({ "exit": 0, "tests": tests })));
}

#[test]
fn a_verdict_that_is_decided_does_not_fall_short_any_more() {
    let mut verdict = Verdict::new(tried(Outcome::Fail, None));
    assert!(verdict.has_failed_outside_tests);
    verdict.set_outcome(Outcome::Tamper, "it is reported as passed".to_owned());
    assert_eq!(
        (
            verdict.has_failed_outside_tests,
            verdict.evidence.outcome,
            verdict.evidence.summary.as_str()
        ),
        (false, Outcome::Tamper, "it is reported as passed")
    );
}

#[test]
fn two_overlaid_files_are_named_and_the_others_counted() {
    let files = ["a", "b", "c", "d"].map(str::to_owned);
    assert_eq!(some_names(&files[..1], MAX_NAMED_FILES), "a");
    assert_eq!(some_names(&files[..2], MAX_NAMED_FILES), "a, b");
    assert_eq!(some_names(&files[..3], MAX_NAMED_FILES), "a, b and 1 more");
    assert_eq!(some_names(&files, MAX_NAMED_FILES), "a, b and 2 more");
}
