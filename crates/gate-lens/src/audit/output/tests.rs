//! Outputs of checks, and how the checks ended.

use super::super::command::inspect;
use super::*;

/// Checks how a command ended that printed this and ended with this code.
#[track_caller]
fn check(line: &str, text: &str, code: Option<i32>, expected: Option<bool>) {
    let mut output = Output::new(inspect(line).check.expect("a check"));
    output.text(text);
    assert_eq!(output.passed(code), expected, "{line}: {text}");
}

#[test]
fn an_exit_code_counts_where_it_is_the_checks() {
    check("cargo test", "", Some(0), Some(true));
    check("cargo test", "", Some(101), Some(false));
    check("cargo test | tail -3", "", Some(0), None);
    // A runner that ends with 0 whatever it finds.
    check("pytest", "===== 1 failed, 11 passed in 0.31s =====", Some(0), Some(false));
}

#[test]
fn what_could_not_be_started_has_not_failed() {
    check("pnpm exec jest", "npm error Missing script: \"jest\"", Some(1), None);
    check("pytest -q", "bash: pytest: command not found", Some(127), None);
}

#[test]
fn summaries_of_tests_are_read() {
    let check = |text: &str, expected| check("pytest | tail -5", text, None, expected);
    check("12 passed in 0.31s", Some(true));
    check("===== 1 failed, 11 passed in 0.31s =====", Some(false));
    let ok = "test result: ok. 3 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s";
    check(&format!("running 3 tests\n\n{ok}"), Some(true));
    check("      Tests  4 passed (4)", Some(true));
    check("ok  \tgithub.com/a/b\t0.012s", Some(true));
    check("Ran 9 tests in 0.003s\n\nOK", Some(true));
    check("1..2\nok 1 a\nnot ok 2 b", Some(false));
    check("[test] ok  \tgithub.com/a/b\t0.012s", Some(true));
    check("\u{1b}[1m12\u{1b}[0m \u{1b}[32mpassed\u{1b}[0m in 0.31s", Some(true));
    check("something else", None);
    check("", None);
}

#[test]
fn a_client_may_write_the_exit_code_below_the_output() {
    check("cargo test", "a\n<id: 3 completed with exit code 0>", None, Some(true));
    check("cargo test", "a\n[exited with code 2]", Some(0), Some(false));
    check("cargo test | tail -3", "a\n<id: 3 completed with exit code 0>", None, None);
}

#[test]
fn a_run_in_the_background_ends_later() {
    let mut output = Output::new(inspect("cargo test").check.expect("a check"));
    output.text("Command running in background with ID: b1");
    assert!(output.is_awaited_in("{\"id\":\"b1\"}") && !output.is_awaited_in("b12"));
    output.text("<status>completed</status>\n<exit_code>0</exit_code>");
    assert_eq!(output.passed(None), Some(true));
    for begin in ["<command started in background with shellId: b1>", "SESSION_ID=b1"] {
        let mut output = Output::new(inspect("cargo test").check.expect("a check"));
        output.text(begin);
        assert!(output.is_awaited_in("b1"), "{begin}");
        output.text("<id: b1 completed with exit code 0>");
        assert_eq!(output.passed(Some(0)), Some(true));
    }
    check("cargo test", "Process running with session ID 7", Some(0), None);
    check("cargo test", "{\"exit_code\":1,\"output\":\"\"}", None, Some(false));
    check(
        "cargo test",
        "{\"session_id\":7,\"output\":\"\\n8 passed in 0.31s\\n\"}",
        None,
        Some(true),
    );
}
