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

fn run(tests: &[(&str, Status)], exit_code: i32) -> BaselineRun {
    let test = |(id, status): &(&str, Status)| Test { id: (*id).to_owned(), status: *status };
    let tests = tests.iter().map(test).collect();
    BaselineRun { tests, exit_code: Some(exit_code), control: None }
}

#[track_caller]
fn check(warm: &BaselineRun, fresh: &BaselineRun, expected: &str) {
    let told = difference(warm, fresh, &[]).unwrap_or_default();
    assert!(told.contains(expected) && told.is_empty() == expected.is_empty(), "{told}");
}

#[test]
fn the_same_tests_have_to_end_in_the_same_way() {
    let green = run(&[("a", Passed), ("b", Passed)], 0);
    let red = run(&[("a", Passed), ("b", Failed)], 1);
    check(&green, &green, "");
    check(&red, &red, "");
    check(&green, &red, "1 test of the baseline ends otherwise in a fresh folder: b;");
    check(&green, &run(&[], 4), "2 tests of the baseline end otherwise");
    check(&green, &BaselineRun { exit_code: Some(2), ..green.clone() }, "the command fails");
}

#[test]
fn tests_that_a_person_leaves_out_make_no_difference() {
    let warm = run(&[("a", Passed), ("t.py::b", Passed)], 0);
    let fresh = run(&[("a", Passed), ("t.py::b", Failed)], 1);
    let reason = "known red".to_owned();
    let allow = [Allowance { path: None, test: Some("b".to_owned()), rule: None, reason }];
    assert_eq!(difference(&warm, &fresh, &allow), None);
    check(&warm, &fresh, "1 test of the baseline ends otherwise in a fresh folder: t.py::b;");
}

#[test]
fn without_names_of_tests_the_exit_code_is_compared() {
    check(&run(&[], 0), &run(&[], 0), "");
    check(&run(&[], 1), &run(&[], 1), "");
    check(&run(&[], 0), &run(&[], 2), "ends otherwise");
    let with_control = BaselineRun { control: Some(Kinds::ALL), ..run(&[], 1) };
    check(&with_control, &run(&[], 1), "ends otherwise");
}
