//! Output of commands that fail, and the lines of it that give the cause.

use super::*;

/// The failures in a text that a command in `/w` printed, each with its name, place and message.
fn told(output: &str) -> Vec<String> {
    let failures = failures_in(output, "", Path::new("/w"));
    let line = |failure: &TestFailure| {
        let test = failure.test.as_deref().map(|test| format!("{test} ")).unwrap_or_default();
        format!("{test}@ {}\n{}", failure.place().unwrap_or_default(), failure.message)
    };
    failures.iter().map(line).collect()
}

#[track_caller]
fn check(output: &str, expected: &[&str], line: &str) {
    assert_eq!(told(output), expected, "{output}");
    let failures = failures_in(output, "", Path::new("/w"));
    assert_eq!(failures.first().map(headline).as_deref(), Some(line), "{output}");
}

#[test]
fn pytest_in_its_own_text() {
    let output = "FF                                   [100%]
=================================== FAILURES ===================================
________________________________ test_discount _________________________________

    def test_discount():
        print(\"noise\")
>       assert discount([100], 10) == 90
E       assert 100 == 90
E        +  where 100 = discount([100], 10)

tests/test_cart.py:8: AssertionError
----------------------------- Captured stdout call -----------------------------
noise
_______________________________ TestCart.test_tax ______________________________
tests/test_cart.py:13: in test_tax
    assert tax(1) == 2
E   assert 1 == 2
=========================== short test summary info ============================
FAILED tests/test_cart.py::test_discount - assert 100 == 90
FAILED tests/test_cart.py::TestCart::test_tax - assert 1 == 2
2 failed in 0.04s
";
    let expected = [
        "test_discount @ tests/test_cart.py:8\n> assert discount([100], 10) == 90\n\
         E assert 100 == 90\nE  +  where 100 = discount([100], 10)\n\
         tests/test_cart.py:8: AssertionError",
        "TestCart.test_tax @ tests/test_cart.py:13\ntests/test_cart.py:13: in test_tax\n    \
         assert tax(1) == 2\nE   assert 1 == 2",
    ];
    check(output, &expected, "tests/test_cart.py:8: assert 100 == 90");
    let broken = "==================================== ERRORS ====================================
________________ ERROR collecting tests/test_cart.py ________________
ImportError while importing test module '/w/tests/test_cart.py'.
Traceback:
/usr/lib/python3.11/importlib/__init__.py:126: in import_module
    return _bootstrap._gcd_import(name[level:], package, level)
tests/test_cart.py:1: in <module>
    import cart
E   ModuleNotFoundError: No module named 'cart'
=========================== short test summary info ============================
ERROR tests/test_cart.py
1 error in 0.05s
";
    let line = failures_in(broken, "", Path::new("/w")).first().map(headline);
    let expected = "tests/test_cart.py:1: ModuleNotFoundError: No module named 'cart'";
    assert_eq!(line.as_deref(), Some(expected));
}

#[test]
fn other_runners_in_their_own_text() {
    let rust = include_str!("../fixtures/libtest/fail.txt").replace("2> ", "");
    let line = failures_in(&rust, "", Path::new("/project")).first().map(headline);
    let expected = "tests/integration.rs:4: assertion `left == right` failed: left: 4, right: 5";
    assert_eq!(line.as_deref(), Some(expected));
    let go = "--- FAIL: TestTotal (0.00s)\n    cart_test.go:9: got 100, want 90\nFAIL\n\
              FAIL\texample.com/shop\t0.003s\nFAIL\n";
    check(
        go,
        &["TestTotal @ cart_test.go:9\ncart_test.go:9: got 100, want 90"],
        "cart_test.go:9: got 100, want 90",
    );
    let tap = "TAP version 13\nnot ok 1 - discount\n  ---\n  error: \
               |-\n    Expected values to be strictly equal:\n    \n    100 !== 90\n    \n  code: \
               'ERR_ASSERTION'\n  ...\n1..1\n";
    let line = failures_in(tap, "", Path::new("/w")).first().map(headline);
    let expected = "Expected values to be strictly equal: 100 !== 90";
    assert_eq!(line.as_deref(), Some(expected));
    let unittest = format!(
        "F\n{}\nFAIL: test_a (__main__.T.test_a)\n{}\n{TRACEBACK}\n  File \"/w/u.py\", line 5, in \
         test_a\n    self.assertEqual(discount([100], 10), 90)\nAssertionError: 100 != 90\n\n{}\n\
         Ran 1 test in 0.001s\n\nFAILED (failures=1)\n",
        "=".repeat(70),
        "-".repeat(70),
        "-".repeat(70),
    );
    let message = "test_a (__main__.T.test_a) @ u.py:5\n  File \"u.py\", line 5, in test_a\n    \
                   self.assertEqual(discount([100], 10), 90)\nAssertionError: 100 != 90";
    check(&unittest, &[message], "u.py:5: AssertionError: 100 != 90");
}

#[test]
fn a_traceback_is_its_error_with_the_last_frames_in_the_project() {
    let output = format!(
        "loading\n{TRACEBACK}\n  File \"/w/run.py\", line 1, in <module>\n    main()\n  \
         File \"/w/shop/cart.py\", line 6, in total\n    return check(prices)\n           \
         ^^^^^^^^^^^^^\n  File \"/w/shop/check.py\", line 10, in check\n    raise \
         ValueError(\"no prices\")\n  File \"/usr/lib/python3/json/__init__.py\", line 9, in loads\n    \
         x()\nValueError: no prices\n\nmake: *** [Makefile:2: check] Error 1\n"
    );
    let message = "@ shop/check.py:10\n  File \"shop/cart.py\", line 6, in total\n    return \
                   check(prices)\n           ^^^^^^^^^^^^^\n  File \"shop/check.py\", line 10, in \
                   check\n    raise ValueError(\"no prices\")\nValueError: no prices";
    check(&output, &[message], "shop/check.py:10: ValueError: no prices");
    let chained = format!(
        "{output}\nDuring handling of that:\n\n{TRACEBACK}\n  File \"<string>\", \
                           line 1, in <module>\nAssertionError\n"
    );
    check(&chained, &["@ \nAssertionError"], "AssertionError");
}

#[test]
fn an_assertion_of_node_is_shown_with_its_values() {
    let output = "node:assert:90\n  throw new AssertionError(obj);\n  ^\n\nAssertionError \
                  [ERR_ASSERTION]: Expected values to be strictly equal:\n\n100 !== 90\n\n    at \
                  check (/w/check.js:2:28)\n    at Module._compile (node:internal/modules:1:1)\n    \
                  at node:internal/main:28:49 {\n  generatedMessage: true,\n  actual: 100\n}\n\n\
                  Node.js v20.20.2\n";
    let message = "@ check.js:2\nAssertionError [ERR_ASSERTION]: Expected values to be strictly \
                   equal:\n100 !== 90\n    at check (check.js:2:28)";
    let line = "check.js:2: AssertionError [ERR_ASSERTION]: Expected values to be strictly equal: \
                100 !== 90";
    check(output, &[message], line);
    let mocha = "  1 passing (3ms)\n  1 failing\n\n  1) cart\n       discount:\n\n      \
                 AssertionError: expected 100 to equal 90\n      + expected - actual\n\n      -100\n      \
                 +90\n      \n      at Context.<anonymous> (test/cart.js:9:12)\n      at \
                 process.processImmediate (node:internal/timers:483:21)\n";
    let line = failures_in(mocha, "", Path::new("/w")).first().map(headline);
    assert_eq!(line.as_deref(), Some("test/cart.js:9: AssertionError: expected 100 to equal 90"));
}

#[test]
fn panics_are_shown_without_their_backtraces() {
    let output = "starting\n\nthread 'main' (77) panicked at src/main.rs:4:5:\nassertion `left == \
                  right` failed: the total\n  left: 100\n right: 90\nnote: run with \
                  `RUST_BACKTRACE=1` environment variable to display a backtrace\nmore\n";
    let message = "@ src/main.rs:4\npanicked at src/main.rs:4:5:\nassertion `left == right` failed: \
                   the total\n  left: 100\n right: 90";
    let line = "src/main.rs:4: assertion `left == right` failed: the total: left: 100, right: 90";
    check(output, &[message], line);
    let go = "panic: no prices\n\ngoroutine 1 [running]:\nmain.total(...)\n\t/w/cart.go:7 +0x1d\n\
              exit status 2\n";
    check(go, &["@ cart.go:7\npanic: no prices"], "cart.go:7: panic: no prices");
}

#[test]
fn a_difference_begins_where_it_begins_and_a_trace_with_its_last_command() {
    let long: String = (0..200).map(|line| format!("+new {line}\n")).collect();
    let output = format!("comparing\n--- expected\n+++ actual\n@@ -1 +1,200 @@\n-old\n{long}");
    let shown = told(&output);
    assert!(shown[0].starts_with("@ \n--- expected\n+++ actual\n@@ -1 +1,200 @@\n-old\n"));
    check("2c2\n< b\n---\n> c\n", &["@ \n2c2\n< b\n---\n> c"], "< b, > c");
    let traced = "+ x=1\n+ echo hello\nhello\n+ test 1 = 2\nbash: oops\n";
    check(traced, &["@ \n+ test 1 = 2\nbash: oops"], "+ test 1 = 2");
}

#[test]
fn other_words_are_no_known_failure() {
    for output in ["", "nothing is right\n", "a + b\n+ c\n", "3a\n", "at 3 o'clock\n  at home\n"] {
        assert_eq!(told(output), [""; 0], "{output}");
    }
}

#[test]
fn what_the_program_printed_meanwhile_is_no_part_of_its_error() {
    let printed = "looking 1\nlooking 2\n";
    let traceback = "Traceback (most recent call last):\n  File \"/w/check.py\", line 8, in <module>\n    \
                     assert total == 90\n";
    let last_line = "AssertionError: no discount\n";
    // Both streams are read at once, so that one may cut the other.
    for output in
        [format!("{traceback}{last_line}{printed}"), format!("{traceback}{printed}{last_line}")]
    {
        let errors = format!("{traceback}{last_line}");
        let failures = failures_in(&output, &errors, Path::new("/w"));
        let failure = failures.first().expect("the traceback is known");
        assert!(failure.message.ends_with("AssertionError: no discount"), "{failure:?}");
        assert!(!failure.message.contains("looking"), "{failure:?}");
    }
}
