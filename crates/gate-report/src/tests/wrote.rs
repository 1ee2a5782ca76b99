//! What each runner really wrote, in every situation, and what it comes to.
//!
//! The recordings were made by running the tools over small projects.

use std::path::PathBuf;

use gate_core::decide::evidence::Outcome::{self, Fail, Inconclusive, Pass};

use super::fed::{in_file, outcome, report};
use crate::go::Go;
use crate::jest::Jest;
use crate::libtest::Libtest;
use crate::nextest::Nextest;
use crate::node::Node;
use crate::pytest::Pytest;
use crate::tap::Tap;
use crate::{Format, Status, TestReport};

macro_rules! recorded {
    ($name:literal) => {
        include_str!(concat!("../fixtures/", $name))
    };
}

/// The outcome of a recorded run, and how its summary begins.
#[track_caller]
fn check(report: Option<TestReport>, code: i32, expected: Outcome, begin: &str) -> TestReport {
    let (found, summary) = outcome(report.as_ref(), code);
    let report = report.unwrap();
    assert_eq!(found, expected, "{summary}\n{report:#?}");
    assert!(summary.starts_with(begin), "{summary}\n{report:#?}");
    report
}

fn has(report: &TestReport, status: Status, id: &str) -> bool {
    report.named(status).any(|found| found == id)
}

#[test]
fn cargo_test() {
    let check =
        |text, code, outcome, begin| check(report(Libtest::new(), text), code, outcome, begin);
    check(recorded!("libtest/fail.txt"), 101, Fail, "1 of 14 failed: integration::broken");
    check(recorded!("libtest/fail.txt"), 0, Fail, "1 of 14 failed: integration::broken, although");
    check(recorded!("libtest/quiet.txt"), 0, Pass, "14 passed, 3 skipped");
    check(recorded!("libtest/quiet-fail.txt"), 101, Fail, "1 of 11 failed: broken");
    check(
        recorded!("libtest/exit.txt"),
        0,
        Inconclusive,
        "exit code 0, but the report is incomplete: integration announced 5",
    );
    check(
        recorded!("libtest/abort.txt"),
        101,
        Fail,
        "4 tests passed, but there was an error outside of tests: integration announced 5 tests and told the result of 4 (it began z_exits)",
    );
    check(recorded!("libtest/zero.txt"), 0, Fail, "no test was executed");
    check(
        recorded!("libtest/compile.txt"),
        101,
        Fail,
        "there was an error outside of tests: could not compile `sample`",
    );
    check(recorded!("libtest/nocapture.txt"), 0, Pass, "6 passed, 2 skipped");
}

#[test]
fn cargo_test_names_programs_and_documentation() {
    let report = report(Libtest::new(), recorded!("libtest/pass.txt"));
    let report = check(report, 0, Pass, "14 passed, 3 skipped");
    assert!(has(&report, Status::Passed, "sample::tests::prüft_ümlaut"));
    assert!(has(&report, Status::Passed, "sample::tests::panics"));
    assert!(has(&report, Status::Skipped, "sample::tests::with_reason"));
    assert!(has(&report, Status::Passed, "integration::whole"));
    assert!(has(&report, Status::Passed, "sample (doc)::src/lib.rs - add (line 11)"));
}

#[test]
fn cargo_nextest() {
    let check =
        |text, code, outcome, begin| check(report(Nextest::new(), text), code, outcome, begin);
    let passed = check(recorded!("nextest/pass.txt"), 0, Pass, "11 passed, 2 skipped");
    assert!(has(&passed, Status::Skipped, "sample::tests::with_reason"));
    check(recorded!("nextest/fail.txt"), 100, Fail, "1 of 7 failed: sample::integration::broken");
    check(recorded!("nextest/zero.txt"), 4, Fail, "no test was executed");
    let flaky =
        check(recorded!("nextest/flaky.txt"), 0, Pass, "11 passed, 2 skipped, 1 of them flaky");
    assert_eq!(flaky.flaky, ["sample::integration::flaky"]);
    let events = recorded!("nextest/pass.txt").replace("Summary [", "");
    check(&events, 0, Inconclusive, "exit code 0, but the report is incomplete: nextest ended");
}

#[test]
fn a_failing_event_that_was_cut_off_is_read() {
    let whole = recorded!("nextest/fail.txt");
    let at = whole.find(",\"stdout\":").unwrap();
    let end = at + whole[at..].find('\n').unwrap();
    let cut = format!("{}{}", &whole[..at + 40], &whole[end..]);
    let report = report(Nextest::new(), &cut);
    check(report, 100, Fail, "1 of 7 failed: sample::integration::broken");
}

#[test]
fn pytest() {
    let check = |xml, text, code, outcome, begin| {
        check(in_file(xml, text, Pytest::new), code, outcome, begin)
    };
    let passed = check(
        Some(recorded!("pytest/pass.xml")),
        recorded!("pytest/pass.txt"),
        0,
        Pass,
        "16 passed, 2 skipped",
    );
    assert!(has(&passed, Status::Passed, "tests/test_a.py::TestGroup::TestInner::test_deep"));
    assert!(has(&passed, Status::Passed, "tests/test_a.py::test_param[c - d]"));
    assert!(has(&passed, Status::Skipped, "tests/test_a.py::test_xfail"));
    check(
        Some(recorded!("pytest/fail.xml")),
        recorded!("pytest/fail.txt"),
        1,
        Fail,
        "4 of 16 failed: tests/test_a.py::test_fails",
    );
    check(
        Some(recorded!("pytest/collect.xml")),
        recorded!("pytest/collect.txt"),
        1,
        Fail,
        "15 tests passed, but there was an error outside of tests: tests/test_b.py could not be collected",
    );
    check(
        Some(recorded!("pytest/zero.xml")),
        recorded!("pytest/zero.txt"),
        5,
        Fail,
        "no test was executed",
    );
    check(
        Some(recorded!("pytest/exit.xml")),
        "",
        0,
        Inconclusive,
        "exit code 0, but the report is incomplete: a test was started and not ended",
    );
    check(
        None,
        recorded!("pytest/killed.txt"),
        0,
        Inconclusive,
        "exit code 0, but the report is incomplete: pytest ended without",
    );
}

#[test]
fn pytest_that_selected_more_than_it_reported() {
    let text = |line: &str| format!("============ test session starts ============\n{line}\n");
    let check = |line: &str, outcome| {
        let report = in_file(Some(recorded!("pytest/pass.xml")), &text(line), Pytest::new);
        check(report, 0, outcome, "");
    };
    check("collected 18 items", Pass);
    check("collected 19 items", Inconclusive);
    check("collected 30 items / 12 deselected / 18 selected", Pass);
    check("collected 30 items / 11 deselected / 19 selected", Inconclusive);
    check("2 workers [18 items]", Pass);
    check("2 workers [19 items]", Inconclusive);
    check("!!!!!!!! _pytest.outcomes.Exit: bye !!!!!!!!", Inconclusive);
    check("18 passed in 0.02s\n= 18 passed in 12.03s (0:00:12) =", Pass);
}

fn jest(format: Format) -> impl FnOnce(PathBuf) -> Jest {
    move |path| Jest::new(format, path, PathBuf::from("/project"))
}

#[test]
fn jest_runs() {
    let check = |json, code, outcome, begin| {
        check(in_file(json, "", jest(Format::Jest)), code, outcome, begin)
    };
    let passed = check(Some(recorded!("jest/pass.json")), 0, Pass, "8 passed, 2 skipped");
    assert!(has(&passed, Status::Passed, "a.test.js > group > deep - name"));
    check(
        Some(recorded!("jest/fail.json")),
        1,
        Fail,
        "1 of 8 failed: a.test.js > group > inner > ü",
    );
    check(
        Some(recorded!("jest/import.json")),
        0,
        Fail,
        "7 tests passed, but there was an error outside of tests: b.test.js: Test suite failed to run",
    );
    check(Some(recorded!("jest/zero.json")), 0, Fail, "no test was executed (10 skipped)");
    check(Some(recorded!("jest/flaky.json")), 0, Pass, "1 passed, 1 of them flaky");
    let cut = &recorded!("jest/pass.json")[..600];
    check(
        Some(cut),
        0,
        Inconclusive,
        "exit code 0, but the report is incomplete: jest's report is broken",
    );
    check(None, 0, Inconclusive, "exit code 0, but the report is incomplete: jest ended without");
    let fewer =
        recorded!("jest/pass.json").replacen("\"numTotalTests\":10", "\"numTotalTests\":12", 1);
    check(
        Some(&fewer),
        0,
        Inconclusive,
        "exit code 0, but the report is incomplete: the report announces 12",
    );
}

#[test]
fn vitest_runs() {
    let check = |json, text, code, outcome, begin| {
        check(in_file(Some(json), text, jest(Format::Vitest)), code, outcome, begin)
    };
    check(recorded!("vitest/pass.json"), "", 0, Pass, "10 passed, 2 skipped");
    check(
        recorded!("vitest/fail.json"),
        "",
        1,
        Fail,
        "1 of 10 failed: a.test.js > group > inner > ü",
    );
    check(
        recorded!("vitest/after.json"),
        "",
        0,
        Fail,
        "10 tests passed, but there was an error outside of tests: a.test.js: teardown",
    );
    check(
        recorded!("vitest/reject.json"),
        recorded!("vitest/reject.txt"),
        0,
        Fail,
        "10 tests passed, but there was an error outside of tests: Vitest caught 1 unhandled",
    );
    let flaky =
        check(recorded!("vitest/flaky.json"), "", 0, Pass, "10 passed, 2 skipped, 1 of them flaky");
    assert_eq!(flaky.flaky, ["a.test.js > flaky"]);
}

#[test]
fn node_runs() {
    let node = |path| Node::new(path, PathBuf::from("/project"));
    let check =
        |events, code, outcome, begin| check(in_file(events, "", node), code, outcome, begin);
    let passed = check(Some(recorded!("node/pass.jsonl")), 0, Pass, "11 passed, 3 skipped");
    assert!(has(&passed, Status::Passed, "a.test.mjs > group > inner > ü"));
    assert!(has(&passed, Status::Skipped, "a.test.mjs > todo with body"));
    check(
        Some(recorded!("node/fail.jsonl")),
        1,
        Fail,
        "1 of 11 failed: a.test.mjs > group > inner > ü",
    );
    check(
        Some(recorded!("node/exit.jsonl")),
        0,
        Inconclusive,
        "exit code 0, but the report is incomplete: a.test.mjs ended without reporting",
    );
    let leaves = check(
        Some(recorded!("node/leaves.jsonl")),
        0,
        Inconclusive,
        "exit code 0, but the report is incomplete: a.test.mjs > g was started and not ended",
    );
    assert_eq!((leaves.passed, leaves.problems.len()), (1, 3));
    check(Some(recorded!("node/announced.jsonl")), 0, Pass, "5 passed, 2 skipped");
    check(
        Some(recorded!("node/reject.jsonl")),
        0,
        Fail,
        "11 tests passed, but there was an error outside of tests: Error: Test \"rejects\"",
    );
    check(
        Some(recorded!("node/import.jsonl")),
        1,
        Fail,
        "10 tests passed, but there was an error outside of tests: b.test.mjs failed",
    );
    check(
        None,
        0,
        Inconclusive,
        "exit code 0, but the report is incomplete: node ended without writing",
    );
}

#[test]
fn go_test() {
    let check = |text, code, outcome, begin| check(report(Go::new(), text), code, outcome, begin);
    let passed = check(recorded!("go/pass.txt"), 0, Pass, "10 passed, 1 skipped");
    assert!(has(&passed, Status::Passed, "example.com/sample/a.TestSub/ü_-_x"));
    check(recorded!("go/fail.txt"), 1, Fail, "3 of 5 failed: example.com/sample/a.TestBreaks");
    check(recorded!("go/exit.txt"), 1, Fail, "1 of 2 failed: example.com/sample/a.TestExits");
    check(
        recorded!("go/main.txt"),
        0,
        Inconclusive,
        "exit code 0, but the report is incomplete: example.com/sample/b ended without saying PASS",
    );
    check(recorded!("go/zero.txt"), 0, Fail, "no test was executed");
    check(
        recorded!("go/build.txt"),
        2,
        Fail,
        "2 tests passed, but there was an error outside of tests: example.com/sample/broken: build failed",
    );
}

#[test]
fn the_test_anything_protocol() {
    let check =
        |text, code, outcome, begin| check(report(Tap::optional(), text), code, outcome, begin);
    check(recorded!("tap/bats.txt"), 0, Pass, "5 passed, 1 skipped");
    check(recorded!("tap/bats-fail.txt"), 1, Fail, "1 of 5 failed: fails");
    check(recorded!("tap/perl.txt"), 0, Pass, "3 passed, 2 skipped");
    check(
        recorded!("tap/perl-exit.txt"),
        0,
        Inconclusive,
        "exit code 0, but the report is incomplete: the plan is 3 tests, and 1 were reported",
    );
    check(
        recorded!("tap/perl-bail.txt"),
        0,
        Fail,
        "2 tests passed, but there was an error outside of tests: Bail out!  no network",
    );
    check(recorded!("tap/perl-skip.txt"), 0, Fail, "no test was executed");
    check(recorded!("tap/node.txt"), 0, Fail, "1 of 10 failed: group > inner > ü");
    check(
        recorded!("tap/node-exit.txt"),
        0,
        Inconclusive,
        "exit code 0, but the report is incomplete: /project/a.test.mjs ended without",
    );
    check(recorded!("tap/vitest.txt"), 0, Fail, "1 of 10 failed: a.test.js > group > inner > ü");
}

#[test]
fn another_order_of_the_two_streams_changes_no_name() {
    let text = recorded!("libtest/pass.txt");
    let mut lines: Vec<_> = text.lines().collect();
    let expected = report(Libtest::new(), text);
    lines.sort_by_key(|line| line.starts_with("2> "));
    assert_eq!(report(Libtest::new(), &lines.join("\n")), expected);
    lines.sort_by_key(|line| !line.starts_with("2> "));
    assert_eq!(report(Libtest::new(), &lines.join("\n")), expected);
}
