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
    check("npx tsc --noEmit", "a.ts(1,2): error TS2304: no name", Some(0), Some(true));
    check("cargo test | tail -3", "", Some(0), None);
    // A runner that ends with 0 whatever it finds.
    check("pytest", "===== 1 failed, 11 passed in 0.31s =====", Some(0), Some(false));
}

#[test]
fn silence_ends_with_the_words_that_come_next() {
    let line = "npx eslint src | head; echo '--- next'; cat a.ts";
    check(line, "--- next\nconst a = 1;", Some(0), Some(true));
    check(line, "a.ts is odd\n--- next", Some(0), None);
}

#[test]
fn a_check_that_names_its_errors_has_passed_if_there_are_none_whatever_others_print() {
    let line = "npx tsc --noEmit 2>&1 | head -3; echo '--- clean?'; npm run deploy | tail -2";
    check(line, "--- clean?\nDeployed to a.example", Some(0), Some(true));
    check(line, "a.ts(1,2): error TS2304: no name\n--- clean?\nDeployed", Some(0), Some(false));
    check("npx tsc --noEmit | grep src/a.ts; ls", "a.ts", Some(0), None);
    for code in [TIMED_OUT, 1] {
        check("npx tsc --noEmit | head; ls", "Command timed out", Some(code), None);
    }
}

#[test]
fn tests_that_are_named_tell_how_they_ended() {
    let line = "npx vitest run a.test.js 2>&1 | grep -E '✓|✗|FAIL'";
    check(line, " ✓ a.test.js (47 tests) 8ms", Some(0), Some(true));
    check(line, " ✓ a.test.js (47 tests) 8ms\n ✗ b.test.js", Some(0), Some(false));
    check("make test-all | tail", "sinf   PASS\ncosf   FAIL", Some(0), Some(false));
    check("bash -n a.sh && nl -ba a.sh | head -3", "1  ls", Some(0), Some(true));
}

#[test]
fn words_for_each_file_of_a_loop_say_how_its_checks_ended() {
    let line = "for f in a.rb b.rb; do ruby -c \"$f\" >/dev/null && echo \"OK  $f\" || echo \"FAIL $f\"; done";
    check(line, "OK  a.rb\nOK  b.rb", Some(0), Some(true));
    check(line, "OK  a.rb\nFAIL b.rb", Some(0), Some(false));
}

#[test]
fn one_off_code_that_fails_may_be_wrong_itself() {
    let line = "python3 -c 'import a; assert a.b() == 3'";
    check(line, "", Some(0), Some(true));
    check(line, "AssertionError", Some(1), None);
}

#[test]
fn the_last_of_numbered_steps_is_a_pass() {
    check("ninja a | tail -2", "[1/2] Compiling a\n[2/2] Linking a", Some(0), Some(true));
    check("ninja a | head -1", "[1/2] Compiling a", Some(0), None);
    check("make all | tail -1", "[100%] Built target a", Some(0), Some(true));
}

#[test]
fn what_could_not_be_started_has_not_failed() {
    check("npm run lint:api", "npm error Missing script: \"lint:api\"", Some(1), None);
    check("pytest -q", "bash: pytest: command not found", Some(127), None);
}

#[test]
fn summaries_of_tests_are_read() {
    let check = |text: &str, expected| check("make test | tail -5", text, None, expected);
    check("12 passed in 0.31s", Some(true));
    check("===== 1 failed, 11 passed in 0.31s =====", Some(false));
    let ok = "test result: ok. 3 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s";
    check(&format!("running 3 tests\n\n{ok}"), Some(true));
    check("      Tests  4 passed (4)", Some(true));
    check("ok  \tgithub.com/a/b\t0.012s", Some(true));
    check("3 doctests, 41 tests, 0 failures", Some(true));
    check("41 tests, 2 failures", Some(false));
    check("7 runs, 12 assertions, 1 failures, 0 errors, 0 skips", Some(false));
    check("Ran 9 tests in 0.003s\n\nOK", Some(true));
    check("  6 passed (2.1s)", Some(true));
    check("12 pass\n 0 fail", Some(true));
    check("1..2\nok 1 a\nnot ok 2 b", Some(false));
    check("Geslaagd!  - Mislukt: 2, Geslaagd: 9, Duur: 1 s - A.dll (net9.0)", Some(false));
    check("[test] ok  \tgithub.com/a/b\t0.012s", Some(true));
    check("\u{1b}[1m12\u{1b}[0m \u{1b}[32mpassed\u{1b}[0m", Some(true));
    check("something else", None);
    check("", None);
}

#[test]
fn builds_and_linters_say_it_in_words() {
    let check = |text: &str, expected| check("npm run build | tail -5", text, None, expected);
    check("    Finished `dev` profile in 3s", Some(true));
    check("src/a.ts(1,2): error TS2304: Cannot find name", Some(false));
    check("All checks passed!", Some(true));
    check("12 files inspected, no offenses detected", Some(true));
    check("12 files inspected, 2 offenses detected", Some(false));
    check("svelte-check found 3 errors and 1 warning in 2 files", Some(false));
    check("svelte-check found 0 errors and 0 warnings", Some(true));
    check("Found 2 errors in 1 file (checked 9 source files)", Some(false));
    check("Build complete! (3.1s)", Some(true));
    check("\u{25cb}  (Static)   prerendered as static content", Some(true));
    check("\u{2716} 5 problems (0 errors, 5 warnings)", Some(true));
    check("0 issues.", Some(true));
    check("built in 2s\nELIFECYCLE Command failed with exit code 1.", Some(false));
    check("Debugger attached.", None);
    check("", None);
}

#[test]
fn silence_is_a_pass_of_a_silent_check_alone() {
    check("npx tsc --noEmit | head -20", "(no output)", Some(0), Some(true));
    check("npx tsc --noEmit | grep src", "", Some(1), None);
    check("npm run build | tail -3", "", Some(0), None);
}

#[test]
fn words_of_the_command_line_tell_the_end() {
    check("make test && echo GOOD || echo BAD", "GOOD", Some(0), Some(true));
    check("make test && echo GOOD || echo BAD", "BAD", Some(0), Some(false));
    check("make test; echo \"exit=$?\"; date", "exit=2\nmonday", Some(0), Some(false));
    check("make test | tail -2; echo ${PIPESTATUS[0]}", "0", Some(0), Some(true));
}

#[test]
fn a_client_may_write_the_exit_code_below_the_output() {
    check("make test", "a\n<id: 3 completed with exit code 0>", None, Some(true));
    check("make test", "a\n[exited with code 2]", Some(0), Some(false));
    check("make test | tail -3", "a\n<id: 3 completed with exit code 0>", None, None);
}

#[test]
fn a_run_in_the_background_ends_later() {
    let mut output = Output::new(inspect("make test").check.expect("a check"));
    output.text("Command running in background with ID: b1");
    assert!(output.is_awaited_in("{\"id\":\"b1\"}") && !output.is_awaited_in("b12"));
    output.text("<status>completed</status>\n<exit_code>0</exit_code>");
    assert_eq!(output.passed(None), Some(true));
    for begin in ["<command started in background with shellId: b1>", "SESSION_ID=b1"] {
        let mut output = Output::new(inspect("make test").check.expect("a check"));
        output.text(begin);
        assert!(output.is_awaited_in("b1"), "{begin}");
        output.text("<id: b1 completed with exit code 0>");
        assert_eq!(output.passed(Some(0)), Some(true));
    }
    check("make test", "Process running with session ID 7", Some(0), None);
    check("make test", "{\"exit_code\":1,\"output\":\"\"}", None, Some(false));
    check("make test", "{\"session_id\":7,\"output\":\"\\n8 passed (5s)\\n\"}", None, Some(true));
}
