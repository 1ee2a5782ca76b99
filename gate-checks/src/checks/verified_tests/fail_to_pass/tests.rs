//! What new tests show without the work.

use super::*;
use crate::report::Format;

use Status::{Failed, Passed, Skipped};

fn tests(tests: &[(&str, Status)]) -> Vec<Test> {
    tests.iter().map(|(id, status)| Test { id: (*id).to_owned(), status: *status }).collect()
}

fn report(now: &[(&str, Status)], error: &str) -> TestReport {
    let errors = if error.is_empty() { Vec::new() } else { vec![error.to_owned()] };
    TestReport {
        format: Format::Pytest,
        tests: tests(now),
        passed: 0,
        failed: 0,
        skipped: 0,
        flaky: Vec::new(),
        errors,
        problems: Vec::new(),
        failures: Vec::new(),
    }
}

#[track_caller]
fn check(before: &[(&str, Status)], now: &[(&str, Status)], error: &str, expected: &str) {
    let report = report(now, error);
    let shown = match Shown::new(&tests(before), &report) {
        Shown::Needed(names) => format!("needed {}", names.join(" ")),
        Shown::Idle(names) => format!("idle {}", names.join(" ")),
        Shown::Not => "not".to_owned(),
        Shown::Nothing => "nothing".to_owned(),
    };
    assert_eq!(shown, expected, "{now:?}");
}

#[test]
fn one_new_test_that_needs_the_work_is_enough() {
    let before = [("old", Passed), ("red", Failed)];
    check(&before, &[("old", Passed), ("new", Passed)], "", "idle new");
    check(&before, &[("guard", Passed), ("new", Failed)], "", "needed new");
    check(&before, &[("red", Failed), ("new", Passed)], "", "idle new");
    check(&before, &[("old", Passed), ("red", Failed), ("new", Skipped)], "", "nothing");
    check(&[], &[("a", Passed), ("b", Passed)], "", "idle a b");
}

#[test]
fn an_edited_test_that_held_before_needs_the_work_too() {
    check(&[("old", Passed)], &[("old", Failed), ("guard", Passed)], "", "needed old");
}

#[test]
fn tests_that_do_not_build_without_the_work_show_nothing() {
    check(&[("old", Passed)], &[("old", Passed), ("new", Passed)], "cannot import", "not");
    check(&[("old", Passed)], &[], "", "not");
    check(&[("old", Passed)], &[("new", Failed)], "cannot import", "needed new");
}

#[test]
fn a_red_test_that_passes_now_needs_the_work() {
    let report = report(&[("old", Passed), ("red", Passed), ("still", Failed)], "");
    let before = tests(&[("old", Passed), ("red", Failed), ("still", Failed)]);
    assert_eq!(repaired(&before, &report), ["red"]);
}
