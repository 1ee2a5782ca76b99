//! Outputs of checks, and how the checks ended.

use super::super::command::inspect;
use super::CheckEnd::{Failed, Hidden, Passed, RanNothing};
use super::*;

/// Checks how a command ended that printed this and ended with this code.
#[track_caller]
fn check(line: &str, text: &str, code: Option<i32>, expected: CheckEnd) {
    let mut output = Output::new(inspect(line).check.expect("a check"));
    output.text(text);
    assert_eq!(output.result(code).end, expected, "{line}: {text}");
}

#[test]
fn an_exit_code_counts_where_it_is_the_checks() {
    check("cargo test", "", Some(0), Passed);
    check("cargo test", "", Some(101), Failed);
    check("cargo test | tail -3", "", Some(0), Hidden);
    // A runner that ends with 0 whatever it finds.
    check("pytest", "===== 1 failed, 11 passed in 0.31s =====", Some(0), Failed);
}

#[test]
fn what_ran_no_test_has_not_failed() {
    for (line, text, code) in [
        ("pnpm exec jest", "npm error Missing script: \"jest\"", 1),
        ("pytest -q", "bash: pytest: command not found", 127),
        ("npx vitest run", "sh: 1: vitest: not found", 127),
        ("python3 -m pytest", "/usr/bin/python3: No module named pytest", 1),
        ("pytest -q -k form", "10 deselected in 0.50s", 5),
        ("pytest a.py", "ERROR: file or directory not found: a.py\n\nno tests ran in 0.01s", 4),
        ("pytest --fast", "pytest: error: unrecognized arguments: --fast", 4),
        ("npx jest --passWithNoTests", "No tests found, exiting with code 0", 0),
        ("bats gone.bats | tail -9", "1..1\nnot ok 1 bats-gather-tests", 0),
        (
            "cargo test gone",
            "running 0 tests\n\ntest result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 4 filtered out; finished in 0.00s",
            0,
        ),
    ] {
        check(line, text, Some(code), RanNothing);
    }
    // A failing test may say so, too, and the end of a report is not the whole.
    check("pytest", "E  sh: a: command not found\n== 1 failed in 0.1s ==", Some(1), Failed);
    check(
        "pytest -q",
        "E  ModuleNotFoundError: No module named 'shop'\n1 error in 0.1s",
        Some(2),
        Failed,
    );
    check(
        "cargo test | tail -3",
        "test result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s",
        Some(0),
        Hidden,
    );
}

#[test]
fn a_log_may_show_a_summary() {
    let passes = |text: &str| {
        let mut output = Output::new(Check::default());
        output.text(text);
        output.shown_passes()
    };
    assert_eq!(passes("tests-1  | Passed: 7\ntests-1  | Failed: 0"), Some(7));
    assert_eq!(passes("**Passed:** 7, **Failed:** 0"), Some(7));
    assert_eq!(passes("tests-1  | ===== 12 passed in 0.31s ====="), Some(12));
    assert_eq!(passes("Passed: 7\nFailed: 2"), None);
    assert_eq!(passes("All good"), None);
}

#[test]
fn summaries_of_tests_are_read() {
    let check = |text: &str, expected| check("pytest | tail -5", text, None, expected);
    check("12 passed in 0.31s", Passed);
    check("===== 1 failed, 11 passed in 0.31s =====", Failed);
    let ok = "test result: ok. 3 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s";
    check(&format!("running 3 tests\n\n{ok}"), Passed);
    check("      Tests  4 passed (4)", Passed);
    check("ok  \tgithub.com/a/b\t0.012s", Passed);
    check("Ran 9 tests in 0.003s\n\nOK", Passed);
    check("1..2\nok 1 a\nnot ok 2 b", Failed);
    check("[test] ok  \tgithub.com/a/b\t0.012s", Passed);
    check("\u{1b}[1m12\u{1b}[0m \u{1b}[32mpassed\u{1b}[0m in 0.31s", Passed);
    check("something else", Hidden);
    check("", Hidden);
}

#[test]
fn a_client_may_write_the_exit_code_below_the_output() {
    check("cargo test", "a\n<id: 3 completed with exit code 0>", None, Passed);
    check("cargo test", "a\n[exited with code 2]", Some(0), Failed);
    check("cargo test | tail -3", "a\n<id: 3 completed with exit code 0>", None, Hidden);
}

#[test]
fn a_run_in_the_background_ends_later() {
    let mut output = Output::new(inspect("cargo test").check.expect("a check"));
    output.text("Command running in background with ID: b1");
    assert!(output.is_awaited_in("{\"id\":\"b1\"}") && !output.is_awaited_in("b12"));
    output.text("<status>completed</status>\n<exit_code>0</exit_code>");
    assert_eq!(output.result(None).end, Passed);
    for begin in ["<command started in background with shellId: b1>", "SESSION_ID=b1"] {
        let mut output = Output::new(inspect("cargo test").check.expect("a check"));
        output.text(begin);
        assert!(output.is_awaited_in("b1"), "{begin}");
        output.text("<id: b1 completed with exit code 0>");
        assert_eq!(output.result(Some(0)).end, Passed);
    }
    check("cargo test", "Process running with session ID 7", Some(0), Hidden);
    check("cargo test", "{\"exit_code\":1,\"output\":\"\"}", None, Failed);
    check("cargo test", "{\"session_id\":7,\"output\":\"\\n8 passed in 0.31s\\n\"}", None, Passed);
}
