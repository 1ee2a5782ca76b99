//! The outcome of a run, by its report and its exit code.

use gate_core::decide::evidence::Outcome;
use gate_core::decide::test_failure::TestFailure;
use gate_core::text::{brief, counted};
use serde_json::{Value, json};

use super::{Format, Status, TestReport, serves};

/// Most failing tests that a summary names.
const MAX_SUMMARY_NAMES: usize = 5;

/// Most tests of each kind that the detail names.
const MAX_DETAIL_NAMES: usize = 50;

/// Most errors, and most problems, in the detail.
const MAX_DETAIL_NOTES: usize = 10;

/// Most failures in the detail, with their messages.
const MAX_DETAIL_FAILURES: usize = 10;

/// The longest name or note, in characters.
const MAX_NOTE_CHARS: usize = 300;

/// The outcome of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Judged {
    /// The outcome.
    pub outcome: Outcome,
    /// One line for a person.
    pub summary: String,
    /// The numbers and names behind it; null without a report.
    pub detail: Value,
}

/// Weighs a report and an exit code (`None`: ended by a signal).
///
/// A pass needs exit code 0 and, if there is a report, an executed test, no failing one, no error
/// outside of tests and no doubt about the report.
pub fn judge(
    report: Option<&TestReport>,
    exit_code: Option<i32>,
    demanded: Option<Format>,
) -> Judged {
    let (outcome, summary) = match report {
        Some(report) if demanded.is_none_or(|format| serves(report.format, format)) => {
            with_report(report, exit_code)
        }
        _ => without_report(exit_code, demanded),
    };
    Judged { outcome, summary, detail: report.map_or(Value::Null, detail) }
}

/// Takes the worst first: what a person has to repair before the next step can tell anything.
fn with_report(report: &TestReport, exit_code: Option<i32>) -> (Outcome, String) {
    let worst = failing_tests(report, exit_code)
        .or_else(|| errors_outside(report))
        .or_else(|| not_started(report, exit_code))
        .or_else(|| failing_command(report, exit_code))
        .or_else(|| incomplete_report(report))
        .or_else(|| nothing_executed(report));
    worst.unwrap_or_else(|| (Outcome::Pass, passed_summary(report)))
}

fn failing_tests(report: &TestReport, exit_code: Option<i32>) -> Option<(Outcome, String)> {
    // Some formats name failing tests and count none.
    if report.failed == 0 && report.named(Status::Failed).next().is_none() {
        return None;
    }
    let count = format!("{} of {} failed", report.failed, report.executed());
    let names: Vec<_> = report.named(Status::Failed).take(MAX_SUMMARY_NAMES).map(clean).collect();
    let unnamed_tests = report.failed.saturating_sub(names.len() as u64);
    let name_list = match (names.is_empty(), unnamed_tests) {
        (true, _) => String::new(),
        (false, 0) => format!(": {}", names.join(", ")),
        (false, _) => format!(": {}, and {unnamed_tests} more", names.join(", ")),
    };
    let ending = match exit_code {
        Some(0) => ", although the command ended with code 0".to_owned(),
        None => ", and a signal ended the command".to_owned(),
        Some(_) => String::new(),
    };
    Some((Outcome::Fail, format!("{count}{name_list}{ending}")))
}

fn errors_outside(report: &TestReport) -> Option<(Outcome, String)> {
    let first_error = clean(report.errors.first()?);
    // No test failed, or the summary would be about that: all that ran passed.
    let passed_tests = match report.executed() {
        0 => String::new(),
        tests => format!("{} passed, but ", counted(tests, "test")),
    };
    let further_errors = match report.errors.len() - 1 {
        0 => String::new(),
        n => format!(" (and {n} more)"),
    };
    let summary =
        format!("{passed_tests}there was an error outside of tests: {first_error}{further_errors}");
    Some((Outcome::Fail, summary))
}

/// Stands before the exit code is judged: tests that a shell could not start have not failed.
fn not_started(report: &TestReport, exit_code: Option<i32>) -> Option<(Outcome, String)> {
    if report.is_empty() { could_not_run(exit_code) } else { None }
}

/// A shell's exit code for a program that it cannot find or run.
fn could_not_run(exit_code: Option<i32>) -> Option<(Outcome, String)> {
    let code = exit_code.filter(|code| matches!(code, 126 | 127))?;
    Some((Outcome::Inconclusive, format!("the command could not be run: exit code {code}")))
}

fn failing_command(report: &TestReport, exit_code: Option<i32>) -> Option<(Outcome, String)> {
    let ended = match exit_code {
        Some(0) => return None,
        Some(code) => format!("ended with code {code}"),
        None => "was ended by a signal".to_owned(),
    };
    let summary = match (report.executed(), report.problems.first()) {
        (0, None) => format!("no test was executed, and the command {ended}"),
        (0, Some(problem)) => format!("the command {ended}: {}", clean(problem)),
        (1, None) => format!("the only test passed, but the command {ended}"),
        (n, None) => format!("all {n} tests passed, but the command {ended}"),
        (n, Some(problem)) => {
            format!("{n} tests passed, but the command {ended}: {}", clean(problem))
        }
    };
    Some((Outcome::Fail, summary))
}

fn incomplete_report(report: &TestReport) -> Option<(Outcome, String)> {
    let problem = clean(report.problems.first()?);
    let summary = format!("exit code 0, but the report is incomplete: {problem}");
    Some((Outcome::Inconclusive, summary))
}

fn nothing_executed(report: &TestReport) -> Option<(Outcome, String)> {
    if report.executed() > 0 {
        return None;
    }
    let skipped = match report.skipped {
        0 => String::new(),
        n => format!(" ({n} skipped)"),
    };
    Some((Outcome::Fail, format!("no test was executed{skipped}")))
}

fn passed_summary(report: &TestReport) -> String {
    let mut summary = format!("{} passed", report.passed);
    if report.skipped > 0 {
        summary.push_str(&format!(", {} skipped", report.skipped));
    }
    if !report.flaky.is_empty() {
        summary.push_str(&format!(", {} of them flaky", report.flaky.len()));
    }
    summary
}

fn without_report(exit_code: Option<i32>, demanded: Option<Format>) -> (Outcome, String) {
    if let Some(not_run) = could_not_run(exit_code) {
        return not_run;
    }
    match (exit_code, demanded) {
        (Some(0), None) => (Outcome::Pass, "exit code 0; no test report was recognised".to_owned()),
        (Some(code), None) => {
            (Outcome::Fail, format!("exit code {code}; no test report was recognised"))
        }
        (None, None) => {
            (Outcome::Fail, "ended by a signal; no test report was recognised".to_owned())
        }
        (code, Some(format)) => {
            let code =
                code.map_or("ended by a signal".to_owned(), |code| format!("exit code {code}"));
            (Outcome::Inconclusive, format!("{code}; no {format} report was found"))
        }
    }
}

/// The numbers and names of a report.
fn detail(report: &TestReport) -> Value {
    fn named_tests(report: &TestReport, status: Status) -> Vec<String> {
        report.named(status).take(MAX_DETAIL_NAMES).map(clean).collect()
    }
    fn shown_notes(notes: &[String], limit: usize) -> Vec<String> {
        notes.iter().take(limit).map(|note| clean(note)).collect()
    }
    json!({
        "format": report.format.name(),
        "executed": report.executed(),
        "passed": report.passed,
        "failed": report.failed,
        "skipped": report.skipped,
        "failed_tests": named_tests(report, Status::Failed),
        "skipped_tests": named_tests(report, Status::Skipped),
        "flaky": shown_notes(&report.flaky, MAX_DETAIL_NAMES),
        "errors": shown_notes(&report.errors, MAX_DETAIL_NOTES),
        "problems": shown_notes(&report.problems, MAX_DETAIL_NOTES),
        "failures": shown_failures(report),
    })
}

/// The first failures, whose tests have the names of the list of failed tests. Errors outside of tests come
/// first: without their repair, tests may say nothing.
fn shown_failures(report: &TestReport) -> Vec<TestFailure> {
    let (errors, tests): (Vec<_>, Vec<_>) =
        report.failures.iter().partition(|failure| failure.test.is_none());
    let first_failures = errors.into_iter().chain(tests).take(MAX_DETAIL_FAILURES);
    first_failures
        .map(|failure| {
            let test = failure.test.as_deref().map(clean);
            TestFailure { test, ..failure.clone() }
        })
        .collect()
}

/// A name or a note of the runner's, short and without control characters.
fn clean(text: &str) -> String {
    brief(text, MAX_NOTE_CHARS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Tally;
    use Outcome::{Fail, Inconclusive, Pass};

    /// A report of so many passed, failed and skipped tests.
    fn report(passed: usize, failed: usize, skipped: usize) -> TestReport {
        let mut tally = Tally::new(Format::Tap);
        let all = [(Status::Passed, passed), (Status::Failed, failed), (Status::Skipped, skipped)];
        for (status, number) in all {
            (0..number).for_each(|n| tally.add_test(&format!("t{n}"), status));
        }
        tally.finish()
    }

    #[track_caller]
    fn check(report: &TestReport, code: Option<i32>, outcome: Outcome, summary: &str) {
        let judged = judge(Some(report), code, None);
        assert_eq!((judged.outcome, judged.summary.as_str()), (outcome, summary));
    }

    #[test]
    fn failing_tests_are_named_up_to_five() {
        check(&report(311, 1, 0), Some(1), Fail, "1 of 312 failed: t0");
        let all = "12 of 12 failed: t0, t1, t2, t3, t4, and 7 more";
        check(&report(0, 12, 0), Some(1), Fail, all);
        let zero = "1 of 2 failed: t0, although the command ended with code 0";
        check(&report(1, 1, 0), Some(0), Fail, zero);
        let signal = "1 of 2 failed: t0, and a signal ended the command";
        check(&report(1, 1, 0), None, Fail, signal);
    }

    #[test]
    fn an_error_outside_of_tests_fails_whatever_passed() {
        let mut errors = report(612, 0, 0);
        errors.errors = vec!["nobody caught it".to_owned(), "another".to_owned()];
        let summary = "612 tests passed, but there was an error outside of tests: nobody caught it (and 1 more)";
        check(&errors, Some(0), Fail, summary);
    }

    #[test]
    fn a_pass_needs_an_executed_test() {
        check(&report(3, 0, 0), Some(0), Pass, "3 passed");
        check(&report(3, 0, 2), Some(0), Pass, "3 passed, 2 skipped");
        check(&report(0, 0, 2), Some(0), Fail, "no test was executed (2 skipped)");
        check(&report(0, 0, 0), Some(0), Fail, "no test was executed");
        let five = "no test was executed, and the command ended with code 5";
        check(&report(0, 0, 0), Some(5), Fail, five);
    }

    #[test]
    fn the_exit_code_has_to_agree() {
        let three = "all 12 tests passed, but the command ended with code 3";
        check(&report(12, 0, 0), Some(3), Fail, three);
        let signal = "all 12 tests passed, but the command was ended by a signal";
        check(&report(12, 0, 0), None, Fail, signal);
    }

    #[test]
    fn an_incomplete_report_is_no_pass() {
        let mut cut = report(3, 0, 0);
        cut.problems = vec!["it is cut off".to_owned()];
        let summary = "exit code 0, but the report is incomplete: it is cut off";
        check(&cut, Some(0), Inconclusive, summary);
        let one = "3 tests passed, but the command ended with code 1: it is cut off";
        check(&cut, Some(1), Fail, one);
        let missing = "the command could not be run: exit code 127";
        check(&TestReport { tests: vec![], passed: 0, ..cut }, Some(127), Inconclusive, missing);
    }

    #[test]
    fn without_a_report_the_exit_code_decides() {
        let check = |code, demanded, outcome, summary: &str| {
            let judged = judge(None, code, demanded);
            assert_eq!((judged.outcome, judged.summary.as_str()), (outcome, summary));
            assert_eq!(judged.detail, Value::Null);
        };
        let junit = Some(Format::Junit);
        check(Some(0), None, Pass, "exit code 0; no test report was recognised");
        check(Some(2), None, Fail, "exit code 2; no test report was recognised");
        check(None, None, Fail, "ended by a signal; no test report was recognised");
        check(Some(127), None, Inconclusive, "the command could not be run: exit code 127");
        check(Some(0), junit, Inconclusive, "exit code 0; no junit report was found");
        check(Some(1), junit, Inconclusive, "exit code 1; no junit report was found");
    }

    #[test]
    fn a_report_of_another_format_is_not_what_was_demanded() {
        let judged = judge(Some(&report(3, 0, 0)), Some(0), Some(Format::Junit));
        assert_eq!(judged.outcome, Inconclusive);
    }

    #[test]
    fn the_detail_is_bounded_and_harmless() {
        let mut report = report(0, 60, 60);
        report.tests[0].id = "a\u{202e}b\u{1b}[1m\nc".to_owned();
        report.errors = vec!["e".to_owned(); 20];
        let detail = judge(Some(&report), Some(1), None).detail;
        assert_eq!(detail["failed_tests"][0], "ab c");
        let length = |key: &str| detail[key].as_array().unwrap().len();
        let lengths = ["failed_tests", "skipped_tests", "errors"].map(length);
        assert_eq!((lengths, detail["failed"].as_u64()), ([50, 50, 10], Some(60)));
    }
}
