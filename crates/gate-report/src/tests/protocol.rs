//! The Test Anything Protocol and libtest's text, line by line.

use gate_core::decide::evidence::Outcome::{self, Fail, Inconclusive, Pass};

use super::{outcome, report};
use crate::Status;
use crate::libtest::Libtest;
use crate::tap::Tap;

#[track_caller]
fn tap(text: &str, expected: Outcome, begin: &str) {
    let report = report(Tap::new(), text);
    let (found, summary) = outcome(report.as_ref(), 0);
    assert_eq!(found, expected, "{summary}\n{text}\n{report:#?}");
    assert!(summary.contains(begin), "{summary}\n{text}");
}

#[test]
fn plans() {
    tap("1..1\nok 1", Pass, "1 passed");
    tap("TAP version 14\nok 1 - a\nok 2 - b\n1..2", Pass, "2 passed");
    tap("ok\nok\n1..2", Pass, "2 passed");
    tap("ok 1 - a", Inconclusive, "the plan is missing");
    tap("1..2\nok 1 - a", Inconclusive, "the plan is 2 tests, and 1 were reported");
    tap("1..1\nok 1 - a\nok 2 - b", Inconclusive, "the plan is 1 tests, and 2 were reported");
    tap("1..1\nok 1\n1..1", Inconclusive, "more than one plan");
    tap("1..0 # SKIP not here", Fail, "no test was executed");
    tap("1..0", Fail, "no test was executed");
    tap("", Inconclusive, "the plan is missing");
}

#[test]
fn numbers() {
    tap("1..2\nok 2 - a\nok 1 - b", Inconclusive, "test 1 is out of order");
    tap("1..2\nok 1 - a\nok 1 - b", Inconclusive, "test 2 is out of order");
    tap("1..2\nok 1 - a\nok 99999999999999999999999 - b", Pass, "2 passed");
}

#[test]
fn directives() {
    tap("1..2\nok 1 - a\nnot ok 2 - b # todo later", Pass, "1 passed, 1 skipped");
    tap("1..2\nok 1 - a\nok 2 # skip no network", Pass, "1 passed, 1 skipped");
    tap("1..1\nnot ok 1 - a \\# todo is part of the name", Fail, "a # todo is part of the name");
    tap("1..1\nnot ok 1 - a # a remark", Fail, "1 of 1 failed");
    tap("1..1\nok 1\nBail out! disk full", Fail, "Bail out! disk full");
}

#[test]
fn subtests() {
    let inner = "# Subtest: a\n    ok 1 - b\n    not ok 2 - c\n    1..2\nnot ok 1 - a\n1..1";
    tap(inner, Fail, "1 of 2 failed: a > c");
    tap("    1..1\n    ok 1 - b\nok 1 - a\n1..1", Pass, "1 passed");
    tap("    1..2\n    ok 1 - b\nok 1 - a\n1..1", Inconclusive, "the plan is 2 tests, and 1");
    tap("    1..1\n    ok 1 - b\nnot ok 1 - a\n1..1", Fail, "1 of 2 failed: a");
    tap("# Subtest: a\n    1..1\nok 1 - a\n1..1", Inconclusive, "the plan of `a` is 1 tests");
    tap("1..1\nnot ok 1 - a {\n    1..1\n    ok 1 - b\n}", Fail, "1 of 2 failed: a");
}

#[test]
fn blocks_of_diagnostics_hold_no_points() {
    tap("1..1\nok 1 - a\n  ---\n  out: |\n  not ok 2\n1..9\n  ...", Pass, "1 passed");
    tap("1..1\nok 1 - a\n  ---\n  out: x", Inconclusive, "a block of diagnostics does not end");
}

#[test]
fn what_only_looks_like_the_protocol_is_none() {
    for text in [
        "ok",
        "not ok",
        "not ok, sorry",
        "ok 1 - a",
        "okay",
        "1..",
        "1..x",
        "1..3 of them",
        "TAP version one",
    ] {
        assert_eq!(report(Tap::optional(), text), None, "{text}");
    }
}

#[test]
fn a_numbered_failure_is_believed_without_a_plan() {
    for text in ["not ok 2 - b", "noise\nok 1 - a\nnot ok 2 b\nmore"] {
        let report = report(Tap::optional(), text).unwrap();
        assert_eq!((report.failed, outcome(Some(&report), 0).0), (1, Fail), "{text}");
    }
    assert_eq!(report(Tap::optional(), "not ok 1 - a # TO\u{44}O later"), None);
}

#[track_caller]
fn libtest(text: &str, expected: Outcome, begin: &str) {
    let report = report(Libtest::optional(), text);
    let (found, summary) = outcome(report.as_ref(), 0);
    assert_eq!(found, expected, "{summary}\n{text}\n{report:#?}");
    assert!(summary.contains(begin), "{summary}\n{text}");
}

const RESULT: &str = "test result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out";

#[test]
fn sections_have_to_add_up() {
    libtest(&format!("running 2 tests\ntest a ... ok\ntest b ... ok\n{RESULT}"), Pass, "2 passed");
    libtest(&format!("running 2 tests\n..\n{RESULT}"), Pass, "2 passed");
    libtest(&format!("running 3 tests\n..\n{RESULT}"), Inconclusive, "announced 3 tests");
    libtest("running 2 tests\ntest a ... ok", Inconclusive, "told the result of 1");
    libtest(&format!("running 2 tests\n{RESULT}\n{RESULT}"), Inconclusive, "without its `running`");
    libtest(&format!("running 2 tests\nrunning 2 tests\n{RESULT}"), Inconclusive, "announced 2");
    let more = "running 2 tests\ntest a ... ok\ntest b ... ok\ntest c ... ok\n";
    libtest(&format!("{more}{RESULT}"), Pass, "2 passed");
    libtest(&format!("running 2 tests\ntest a ... FAILED\n{RESULT}"), Fail, "failed: a");
}

#[test]
fn failures_are_named_by_their_list() {
    let text = "running 3 tests\n.F.\nfailures:\n\n---- a::b stdout ----\ntest x ... ok\n    noise\n\nfailures:\n    a::b\n\ntest result: FAILED. 2 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out";
    libtest(text, Fail, "1 of 3 failed: a::b, although");
}

#[test]
fn what_cargo_says_counts_where_no_test_says_it() {
    let passed = format!("running 2 tests\n..\n{RESULT}\n");
    let failed = "2> error: test failed, to rerun pass `--test it`";
    libtest(&format!("{passed}{failed}"), Fail, "a test program failed: --test it");
    let header = "2>      Running tests/ui.rs (target/debug/deps/ui-0123456789abcdef)\n";
    let lib = "2>      Running unittests src/lib.rs (target/debug/deps/lib-0123456789abcdef)\n";
    libtest(&format!("{lib}{passed}{header}"), Inconclusive, "ui ended without printing");
    let bench = header.replace("tests/ui", "benches/ui");
    libtest(&format!("{lib}{passed}{bench}"), Pass, "2 passed");
}

#[test]
fn benchmarks_are_tests() {
    let text = "running 1 test\ntest b ... bench: 1 ns/iter (+/- 0)\ntest result: ok. 0 passed; 0 failed; 0 ignored; 1 measured; 0 filtered out";
    let report = report(Libtest::new(), text).unwrap();
    assert_eq!(report.named(Status::Passed).collect::<Vec<_>>(), ["b"]);
    assert_eq!((report.passed, report.problems.len()), (1, 0));
}
