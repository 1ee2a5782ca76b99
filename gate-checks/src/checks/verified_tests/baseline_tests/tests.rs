//! The tests of a baseline as they are kept.

use super::*;
use crate::report::Format;

use Status::{Failed, Passed, Skipped};

fn test(id: &str, status: Status) -> Test {
    Test { id: id.to_owned(), status }
}

fn report(tests: Vec<Test>, passed: u64) -> TestReport {
    TestReport {
        format: Format::Go,
        tests,
        passed,
        failed: 0,
        skipped: 0,
        flaky: Vec::new(),
        errors: Vec::new(),
        problems: Vec::new(),
        failures: Vec::new(),
    }
}

#[test]
fn a_report_that_only_counts_tells_no_tests() {
    let one = vec![test("a", Passed)];
    let known = |passed| BaselineTests::new(Some(&report(one.clone(), passed)), None).tests;
    assert_eq!(known(1), one);
    assert_eq!(known(2), []);
    assert_eq!(BaselineTests::new(None, None).tests, []);
}

#[test]
fn a_control_that_did_not_fail_is_told_from_none() {
    let control = |held| BaselineTests::new(None, held).control;
    assert_eq!(control(None), None);
    assert_eq!(control(Some(ControlOutcome::Failed)), Some(true));
    for held in [
        ControlOutcome::Passed,
        ControlOutcome::Masked,
        ControlOutcome::Missing,
        ControlOutcome::NoTest,
    ] {
        assert_eq!(control(Some(held)), Some(false), "{held:?}");
    }
}

#[test]
fn the_control_is_kept_among_the_tests_and_is_none_of_them() {
    let tests = vec![test("a", Passed), test("b", Skipped)];
    for (control, entry) in [
        (None, None),
        (Some(true), Some(test("gate:control", Failed))),
        (Some(false), Some(test("gate:control", Skipped))),
    ] {
        let stored = BaselineTests { tests: tests.clone(), control }.to_keep();
        assert_eq!(stored, tests.iter().cloned().chain(entry).collect::<Vec<_>>());
        let again = BaselineTests::kept(stored);
        assert_eq!((again.tests, again.control), (tests.clone(), control));
    }
}
