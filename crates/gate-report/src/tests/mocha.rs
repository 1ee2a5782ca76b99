//! Reports of mocha by gate's reporter, and those that it prints by itself.

use std::fs;
use std::path::Path;

use gate_core::decide::evidence::Outcome::{self, Fail, Inconclusive, Pass};

use super::fed::{outcome, report};
use crate::mocha::Mocha;
use crate::{Format, Request, Status, TestReport, prepare};

const FAILED: &str = include_str!("../fixtures/mocha/fail.json");
const PASSED: &str = include_str!("../fixtures/mocha/pass.json");
const PRINTED: &str = include_str!("../fixtures/mocha/printed.txt");
const TEXT: &str = include_str!("../fixtures/text/mocha-fail.txt");

/// The report of a command that printed this, and left these results of mocha's runs.
fn after(command: &str, demanded: Option<Format>, text: &str, runs: &[&str]) -> Option<TestReport> {
    let folder = tempfile::tempdir().unwrap();
    let argv: Vec<_> = command.split(' ').map(str::to_owned).collect();
    let (folder, cwd) = (folder.path(), Path::new("/project"));
    let request = Request { argv: &argv, shell: false, demanded, folder, cwd, keep_going: false };
    let reader = prepare(&request).reader;
    for (index, run) in runs.iter().enumerate() {
        fs::write(folder.join(format!("mocha/mocha-{index}.json")), run).unwrap();
    }
    report(reader, text)
}

#[track_caller]
fn check(report: Option<TestReport>, code: i32, expected: Outcome, begin: &str) -> TestReport {
    let (found, summary) = outcome(report.as_ref(), code);
    assert!(found == expected && summary.starts_with(begin), "{found:?} {summary}\n{report:#?}");
    report.unwrap()
}

#[test]
fn a_test_is_named_with_its_file_and_suites() {
    let passed = check(after("npx mocha", None, "", &[PASSED]), 0, Pass, "1 passed, 1 skipped");
    let names = |status| passed.named(status).collect::<Vec<_>>().join(", ");
    assert_eq!(names(Status::Passed), "test/sum.js > sum > holds");
    assert_eq!(names(Status::Skipped), "test/sum.js > sum > is later");
    let failed = check(
        after("npx mocha", None, TEXT, &[FAILED]),
        5,
        Fail,
        "5 of 7 failed: test/sum.spec.js > throws a text, test/sum.spec.js > sum > of ü > adds, ",
    );
    let hook = "test/sum.spec.js > table > \"before each\" hook for \"is laid\"";
    assert!(failed.named(Status::Failed).any(|test| test == hook), "{failed:#?}");
    assert_eq!(failed.flaky, ["test/sum.spec.js > sum > comes back"]);
}

#[test]
fn a_failure_is_its_assertion_with_both_values_and_its_place() {
    let mut report = after("npx mocha", None, "", &[FAILED]).unwrap();
    report.explain(Path::new("/project"));
    let messages: Vec<_> = report.failures.iter().map(|failure| failure.message.as_str()).collect();
    assert_eq!(
        messages,
        [
            "Error: the string \"so\" was thrown, throw an Error :)",
            "AssertionError [ERR_ASSERTION]: Expected values to be strictly equal:\n-1 !== 3\n    \
             at Context.<anonymous> (test/sum.spec.js:6:29)",
            "AssertionError: expected [ 1, 2 ] to deeply equal [ 1, 3 ]\n    \
             at Context.<anonymous> (test/sum.spec.js:7:46)",
            "AssertionError [ERR_ASSERTION]: not the same letter\nexpected: b\nactual: a\n    \
             at Context.<anonymous> (test/sum.spec.js:8:29)",
            "Error: no table\n    at Context.<anonymous> (test/sum.spec.js:16:28)",
        ]
    );
    assert_eq!(report.failures[3].line, Some(8));
    let traced = FAILED.replace(
        "\\n    at process.processImmediate",
        "\\nFrom previous event:\\n    at run (lib/a.js:1:2)\\n    at process.processImmediate",
    );
    let mut traced = after("npx mocha", None, "", &[&traced]).unwrap();
    traced.explain(Path::new("/project"));
    assert_eq!(traced.failures[1..], report.failures[1..]);
}

#[test]
fn a_report_between_other_output_is_read() {
    for command in ["npm test", "make check"] {
        let printed = check(
            after(command, None, PRINTED, &[]),
            1,
            Fail,
            "1 of 2 failed: test/sum.js > sum of two > adds",
        );
        assert!(printed.failures[0].message.contains("expected: {\n  \"a\": 2\n}"), "{printed:#?}");
    }
    let cut = &PRINTED[..PRINTED.len() - 40];
    check(after("npm test", None, cut, &[]), 0, Inconclusive, "exit code 0, but the report is inc");
}

#[test]
fn each_run_of_a_script_counts() {
    let check = |runs: &[&str], code, expected, begin| {
        check(after("npm test", None, TEXT, runs), code, expected, begin);
    };
    check(&[PASSED, FAILED], 1, Fail, "5 of 8 failed");
    // Only a run that gate's reporter does not reach is known by its text alone.
    check(&[], 0, Fail, "1 of ");
    let began = "exit code 0, but the report is incomplete: mocha began a run and did not end it";
    check(&[PASSED, ""], 0, Inconclusive, began);
    let fewer = PASSED.replace("\"passes\":1", "\"passes\":2");
    let fewer = fewer.as_str();
    check(&[fewer], 0, Inconclusive, "exit code 0, but the report is incomplete: mocha counts 2");
}

#[test]
fn output_without_a_private_folder_leaves_and_reads_nothing() {
    let argv = ["npm".to_owned(), "test".to_owned()];
    let (folder, cwd) = (Path::new(""), Path::new(""));
    let request =
        Request { argv: &argv, shell: false, demanded: None, folder, cwd, keep_going: false };
    let prepared = prepare(&request);
    assert!(!Path::new("mocha").exists());
    assert!(prepared.env_added.iter().all(|(name, _)| name != "MOCHA_OPTIONS"));
    check(report(prepared.reader, PRINTED), 1, Fail, "1 of 2 failed");
}

#[test]
fn a_missing_report_is_no_pass() {
    let missing = "exit code 0, but the report is incomplete: mocha ended without writing";
    check(after("npx mocha", None, "", &[]), 0, Inconclusive, missing);
    assert_eq!(after("npm test", None, "", &[]), None);
    let demanded = after("npm test", Some(Format::Mocha), PRINTED, &[]);
    check(demanded, 1, Fail, "1 of 2 failed");
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("report");
    fs::write(place.with_extension("json"), PASSED).unwrap();
    let placed = report(Mocha::at_place(place, Path::new("/project")), "");
    check(placed, 0, Pass, "1 passed");
}
