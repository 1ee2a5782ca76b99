//! pytest's XML, its text and its cache, case by case.

use std::fs;
use std::path::Path;

use gate_core::decide::evidence::Outcome::{self, Fail, Inconclusive, Pass};

use super::fed::in_file;
use super::outcome;
use crate::pytest::Pytest;
use crate::pytest_text::{is_last_line, selected_tests};
use crate::{Status, TestReport};

fn suite(cases: &str) -> String {
    format!("<testsuites><testsuite name=\"pytest\" tests=\"99\">{cases}</testsuite></testsuites>")
}

fn report(cases: &str, text: &str) -> TestReport {
    in_file(Some(&suite(cases)), text, Pytest::new).unwrap()
}

#[track_caller]
fn check(cases: &str, text: &str, expected: Outcome, part: &str) {
    let report = report(cases, text);
    let (found, summary) = outcome(Some(&report), 0);
    assert_eq!(found, expected, "{summary}\n{report:#?}");
    assert!(summary.contains(part), "{summary}\n{report:#?}");
}

const ONE: &str = "<testcase classname='t' name='a' file='t.py'/>";

/// The id of a passed test.
#[track_caller]
fn check_id(class: &str, file: &str, name: &str, expected: &str) {
    let case = format!("<testcase classname='{class}' file='{file}' name='{name}'/>");
    let report = report(&case, "collected 1 item");
    assert_eq!(report.named(Status::Passed).collect::<Vec<_>>(), [expected]);
}

#[test]
fn a_test_has_the_id_that_pytests_own_text_gives_it() {
    check_id("tests.test_a", "tests/test_a.py", "adds", "tests/test_a.py::adds");
    check_id("tests.test_a.Sums", "tests/test_a.py", "adds", "tests/test_a.py::Sums::adds");
    check_id("test_a.Sums.Inner", "test_a.py", "adds[1-2]", "test_a.py::Sums::Inner::adds[1-2]");
    check_id("tests.test_a", "tests\\test_a.py", "adds", "tests\\test_a.py::adds");
    check_id("README.md", "README.md", "README.md", "README.md::README.md");
    check_id("tests.test_a.Sums", "", "adds", "tests.test_a.Sums::adds");
    check_id("elsewhere.Sums", "tests/test_a.py", "adds", "tests/test_a.py::adds");
}

#[test]
fn a_file_that_could_not_be_collected_is_an_error_and_no_test() {
    let failed =
        |place: &str| format!("<testcase {place}><error message='collection failure'/></testcase>");
    let check = |place: &str, part: &str| {
        let cases = format!("{ONE}{}", failed(place));
        check(&cases, "collected 1 item / 1 error", Fail, part);
    };
    check("classname='' name='tests.test_b'", "tests: tests.test_b could not be collected");
    check("name='b' file='tests/test_b.py'", "tests: tests/test_b.py could not be collected");
    check("name=''", "tests: a file could not be collected");
}

#[test]
fn a_case_without_a_name_was_started_and_not_ended() {
    check(&format!("{ONE}<testcase/>"), "collected 1 item", Inconclusive, "started and not ended");
    let failed = "<testcase><failure message='x'/></testcase>";
    check(&format!("{ONE}{failed}"), "collected 1 item", Inconclusive, "started and not ended");
}

#[test]
fn the_numbers_of_the_xml_are_no_measure_of_tests() {
    check(ONE, "collected 1 item", Pass, "1 passed");
    check(ONE, "collected 2 items", Inconclusive, "pytest selected 2 tests and reported 1");
    check(ONE, "", Inconclusive, "how many tests pytest selected is not known");
}

#[test]
fn the_line_of_collected_tests_tells_how_many_will_run() {
    let check =
        |line: &str, expected: Option<u64>| assert_eq!(selected_tests(line), expected, "{line}");
    check("collected 1 item", Some(1));
    check("collected 12 items / 3 errors", Some(12));
    check("collected 30 items / 12 deselected / 18 selected", Some(18));
    check("collected 5 items / 1 error / 2 deselected / 3 selected / 1 skipped", Some(3));
    check("1 worker [1 item]", Some(1));
    check("8 workers [120 items]  ", Some(120));
    check("collected some items", None);
    check("collecting ... collected 3 items", None);
    check("gw0 [3 items]", None);
    check("2 workers [3 files]", None);
    check("[3 items]", None);
    check("", None);
}

#[test]
fn a_last_line_counts_and_ends_with_the_time() {
    for line in [
        "3 passed in 0.01s",
        "= 3 passed, 1 skipped in 12.03s (0:00:12) =",
        "=== 1 failed, 2 passed in 1s ===",
        "== 2 errors in 0.10s ==",
        "1 xpassed in 0.5s",
        "no tests ran in 0.00s",
        "5 deselected in 0.02s",
    ] {
        assert!(is_last_line(line), "{line}");
    }
    for line in [
        "3 passed",
        "3 passed in a hurry",
        "3 passed in 0.01",
        "all passed in 0.01s",
        "3 apples in 0.01s",
        "done in 0.01s",
        "passed in 0.01s",
        "",
    ] {
        assert!(!is_last_line(line), "{line}");
    }
}

#[test]
fn the_first_line_of_collected_tests_is_that_of_the_command() {
    let inner = "collected 1 item\n==== test session starts ====\ncollected 7 items\n7 passed in 0.1s\n1 passed in 0.2s";
    check(ONE, inner, Pass, "1 passed");
}

#[test]
fn a_session_that_was_ended_early_is_incomplete_whoever_ended_it() {
    let quit = "!!!!!!!! _pytest.outcomes.Exit: disk full !!!!!!!!";
    check(
        ONE,
        &format!("collected 1 item\n{quit}\n1 passed in 0.1s"),
        Inconclusive,
        "the session was ended early: _pytest.outcomes.Exit: disk full",
    );
    let other = "!!!!!!!! stopping after 1 failures !!!!!!!!";
    check(ONE, &format!("collected 1 item\n{other}"), Pass, "1 passed");
}

#[test]
fn a_line_that_is_too_long_for_pytest_is_passed_over() {
    let long = format!("collected 9 items {}", "x".repeat(500));
    check(ONE, &format!("collected 1 item\n{long}"), Pass, "1 passed");
    check(ONE, &format!("{long}\ncollected 1 item"), Pass, "1 passed");
}

/// A report of one passed test, with these files in the cache beside it.
fn cached(nodeids: &str, lastfailed: Option<&str>, text: &str) -> (Outcome, String) {
    let reader = |path: std::path::PathBuf| {
        let values = path.with_file_name("pytest-cache").join("v/cache");
        fs::create_dir_all(&values).unwrap();
        fs::write(values.join("nodeids"), nodeids).unwrap();
        lastfailed.iter().for_each(|ids| fs::write(values.join("lastfailed"), ids).unwrap());
        Pytest::new(path)
    };
    let report = in_file(Some(&suite(ONE)), text, reader);
    outcome(report.as_ref(), 0)
}

#[test]
fn the_cache_knows_what_the_text_does_not() {
    assert_eq!(cached(r#"["t.py::a"]"#, None, ""), (Pass, "1 passed".to_owned()));
    let (found, summary) = cached(r#"["t.py::a", "t.py::b"]"#, None, "");
    assert_eq!(found, Inconclusive);
    assert!(summary.contains("pytest selected 2 tests and the last report holds 1"), "{summary}");
    let (found, summary) =
        cached(r#"["t.py::a"]"#, Some(r#"{"u.py::z": true, "u.py::b": true}"#), "");
    assert_eq!(found, Fail);
    assert!(summary.contains("u.py::b failed in a run whose report was replaced"), "{summary}");
    let (found, summary) = cached(r#"{"a": 1}"#, None, "collected 1 item");
    assert_eq!(found, Inconclusive);
    assert!(summary.contains("what pytest remembers is broken"), "{summary}");
}

#[test]
fn an_inner_session_that_collects_more_counts_only_where_nothing_else_is_known() {
    let two = "collected 2 items\n1 passed in 0.1s\n1 passed in 0.1s";
    assert_eq!(cached(r#"["t.py::a"]"#, None, two), (Pass, "1 passed".to_owned()));
    let (found, _) = cached("[]", None, two);
    assert_eq!(found, Inconclusive);
}

#[test]
fn pytest_that_may_run_and_left_no_trace_tells_nothing() {
    let nowhere =
        |path: std::path::PathBuf| Pytest::optional(path, Path::new("/no/trace").to_owned());
    assert_eq!(in_file(None, "all good\n3 apples in 0.1s", nowhere), None);
    let text = "==== test session starts ====";
    let report = in_file(None, text, nowhere).unwrap();
    assert!(report.problems[0].contains("pass PYTEST_ADDOPTS on"), "{report:#?}");
    let several = "collected 1 item\n1 passed in 0.1s\n1 passed in 0.1s";
    let report = in_file(Some(&suite(ONE)), several, nowhere).unwrap();
    assert_eq!(
        report.problems,
        ["pytest ran several times and left one report: give it a check each"]
    );
}
