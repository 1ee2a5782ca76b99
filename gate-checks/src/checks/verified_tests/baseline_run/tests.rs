//! Runs on a baseline as they are kept.

use super::*;
use crate::control::Kind;
use crate::report::Format;

use Status::{Failed, Passed};

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
fn a_report_that_only_counts_names_no_tests() {
    let one = vec![test("a", Passed)];
    let tests = |passed| BaselineRun::new(Some(&report(one.clone(), passed)), Some(0), None).tests;
    assert_eq!(tests(1), one);
    assert_eq!(tests(2), []);
    assert_eq!(BaselineRun::new(None, Some(0), None).tests, []);
}

#[test]
fn a_control_that_did_not_fail_differs_from_none() {
    let control = |outcome| BaselineRun::new(None, Some(1), outcome).control;
    assert_eq!(control(None), None);
    assert_eq!(control(Some(ControlOutcome::Failed)), Some(Kinds::ALL));
    let inside: Kinds = [Kind::Inside].into_iter().collect();
    let partly = ControlOutcome::Partly { passed: inside, missing: Kinds::NONE };
    assert_eq!(control(Some(partly)), Some(Kinds::ALL.without(inside)));
    for outcome in [
        ControlOutcome::Passed,
        ControlOutcome::Masked,
        ControlOutcome::Missing,
        ControlOutcome::NoTest,
    ] {
        assert_eq!(control(Some(outcome)), Some(Kinds::NONE), "{outcome:?}");
    }
}

#[test]
fn failed_tests_are_named() {
    let tests = vec![test("a", Passed), test("b", Failed)];
    let run = BaselineRun::new(Some(&report(tests, 1)), Some(1), None);
    assert_eq!(run.failed().collect::<Vec<_>>(), ["b"]);
}
