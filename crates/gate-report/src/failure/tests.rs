//! Failures as runners print them.

use super::*;

/// The text of a failure in `/w` is shown like this, with this place.
#[track_caller]
fn check(text: &str, place: Option<&str>, message: &str) {
    let raw = TestFailure { message: text.to_owned(), ..TestFailure::default() };
    let found = shaped(&raw, Path::new("/w")).unwrap();
    assert_eq!((found.place().as_deref(), found.message.as_str()), (place, message), "{text}");
}

#[test]
fn pytest_in_its_long_form() {
    check(
        "def test_add():\n>       assert add(1, 2) == 3\nE       assert -1 == 3\n\
         E        +  where -1 = add(1, 2)\n\ntest_calc.py:4: AssertionError",
        Some("test_calc.py:4"),
        "> assert add(1, 2) == 3\nE assert -1 == 3\nE  +  where -1 = add(1, 2)\n\
         test_calc.py:4: AssertionError",
    );
    check(
        "def test_later():\n>       later()\n\ntest_calc.py:11: \n_ _ _ _\n\n    def later():\n\
         >       raise NotImplementedError\nE       NotImplementedError\n\n\
         calc.py:4: NotImplementedError",
        Some("calc.py:4"),
        "> later()\ntest_calc.py:11:\n> raise NotImplementedError\nE NotImplementedError\n\
         calc.py:4: NotImplementedError",
    );
}

#[test]
fn pytest_in_its_short_form_and_a_file_that_cannot_be_collected() {
    check(
        "test_calc.py:4: in test_add\n    assert add(1, 2) == 3\nE   assert -1 == 3",
        Some("test_calc.py:4"),
        "test_calc.py:4: in test_add\n    assert add(1, 2) == 3\nE   assert -1 == 3",
    );
    check(
        "/lib/site-packages/_pytest/python.py:528: in importtestmodule\n    mod = import_path(\n\
         <frozen importlib._bootstrap>:1204: in _gcd_import\n    ???\n\
         E     File \"/w/test_broken.py\", line 1\nE       def test_broken(:\n\
         E   SyntaxError: invalid syntax",
        Some("test_broken.py:1"),
        "E     File \"test_broken.py\", line 1\nE def test_broken(:\nE   SyntaxError: invalid syntax",
    );
}

#[test]
fn a_traceback_of_python() {
    check(
        "Traceback (most recent call last):\n  File \"/usr/lib/python3.11/unittest/case.py\", line 9, \
         in run\n    self._call()\n  File \"/w/tests/test_u.py\", line 5, in test_a\n    \
         self.assertEqual(add(1, 2), 3)\nAssertionError: -1 != 3",
        Some("tests/test_u.py:5"),
        "  File \"tests/test_u.py\", line 5, in test_a\n    self.assertEqual(add(1, 2), 3)\n\
         AssertionError: -1 != 3",
    );
}

#[test]
fn a_panic_of_rust_without_the_output_before_it_and_the_backtrace_behind_it() {
    check(
        "noise\n\nthread 'adds' (9941) panicked at src/lib.rs:7:32:\nassertion `left == right` \
         failed\n  left: -1\n right: 3\nstack backtrace:\n   0: __rustc::rust_begin_unwind\n\
         note: Some details are omitted",
        Some("src/lib.rs:7"),
        "panicked at src/lib.rs:7:32:\nassertion `left == right` failed\n  left: -1\n right: 3",
    );
    check("Error: \"no way\"", None, "Error: \"no way\"");
    check(
        "Test executable failed (exit status: 101).\n\nstderr:\n\nthread 'main' (9) panicked at \
         /tmp/rustdoctest4LV4gn/doctest_bundle_2024.rs:6:1:\nassertion failed: false\nnote: run \
         with `RUST_BACKTRACE=1`",
        None,
        "panicked:\nassertion failed: false",
    );
}

#[test]
fn the_first_diagnostic_of_a_compiler() {
    check(
        "error[E0308]: mismatched types\n --> crates/a/src/lib.rs:1:14\n  |\n1 | fn a() -> u8 { \"\" \
         }\n  |           --   ^^ expected `u8`, found `&str`\n  = note: at src/b.rs:3:4",
        Some("crates/a/src/lib.rs:1"),
        "error[E0308]: mismatched types\n --> crates/a/src/lib.rs:1:14\n  |\n1 | fn a() -> u8 { \"\" \
         }\n  |           --   ^^ expected `u8`, found `&str`\n  = note: at src/b.rs:3:4",
    );
}

#[test]
fn errors_of_javascript_keep_the_frames_of_the_project() {
    check(
        "Error: expect(received).toBe(expected) // Object.is equality\n\nExpected: 3\nReceived: -1\n    \
         at Object.toBe (/w/src/thing.test.js:3:21)\n    at run \
         (/w/node_modules/jest-circus/build/run.js:789:3)\n    at new Promise (<anonymous>)",
        Some("src/thing.test.js:3"),
        "Error: expect(received).toBe(expected) // Object.is equality\nExpected: 3\nReceived: -1\n    \
         at Object.toBe (src/thing.test.js:3:21)",
    );
    check(
        "AssertionError [ERR_ASSERTION]: -1 == 3\n    at TestContext.<anonymous> \
         (file:///w/a.test.mjs:4:27)\n    at Test.run (node:internal/test_runner/test:796:25)\n    at \
         async Promise.all (index 0)",
        Some("a.test.mjs:4"),
        "AssertionError [ERR_ASSERTION]: -1 == 3\n    at TestContext.<anonymous> (a.test.mjs:4:27)",
    );
    check("it was\n    at least three", None, "it was\n    at least three");
    check(
        "/w/a.test.js:1\nconst = 1;\n      ^\n\nSyntaxError: Unexpected token '='\n\nNode.js v20.20.2",
        Some("a.test.js:1"),
        "a.test.js:1\nconst = 1;\n      ^\nSyntaxError: Unexpected token '='",
    );
}

#[test]
fn errors_of_java_keep_the_frames_of_the_project() {
    check(
        "org.opentest4j.AssertionFailedError: expected: <3> but was: <-1>\n\tat \
         org.junit.jupiter.api.AssertionUtils.fail(AssertionUtils.java:55)\n\tat \
         app//com.example.CalcTest.adds(CalcTest.java:9)\n\tat \
         java.base/java.lang.reflect.Method.invoke(Method.java:580)",
        Some("CalcTest.java:9"),
        "org.opentest4j.AssertionFailedError: expected: <3> but was: <-1>\n \
         at app//com.example.CalcTest.adds(CalcTest.java:9)",
    );
}

#[test]
fn lines_of_go_and_the_place_of_its_panic() {
    check(
        "    a_test.go:7: hello\n    a_test.go:9: add(1, 2) = -1, want 3",
        Some("a_test.go:9"),
        "a_test.go:7: hello\na_test.go:9: add(1, 2) = -1, want 3",
    );
    check(
        "panic: assignment to entry in nil map [recovered]\n\ngoroutine 9 [running]:\n\
         panic({0x508ec0, 0x551d60})\n\t/usr/lib/go/src/runtime/panic.go:884 +0x212\n\
         thing.TestZ(0xc0)\n\t/w/a_test.go:15 +0x2e",
        Some("a_test.go:15"),
        "panic: assignment to entry in nil map [recovered]",
    );
}

#[test]
fn a_host_with_a_port_is_no_place() {
    check("connect example.com:8080 failed", None, "connect example.com:8080 failed");
}

#[test]
fn a_text_that_holds_nothing_is_no_failure() {
    let raw = TestFailure { message: "\n  \n".to_owned(), ..TestFailure::default() };
    assert_eq!(shaped(&raw, Path::new("/w")), None);
}

#[test]
fn a_long_message_keeps_whole_lines_of_its_beginning_and_its_end() {
    let lines: Vec<_> = (0..400).map(|n| format!("line {n}")).collect();
    let raw = TestFailure { message: lines.join("\n"), ..TestFailure::default() };
    let message = shaped(&raw, Path::new("/w")).unwrap().message;
    assert!(message.starts_with("line 0\nline 1\n") && message.ends_with("line 398\nline 399"));
    assert!(message.contains("\n…\n") && message.chars().count() <= MAX_MESSAGE_CHARS, "{message}");
    let wide = TestFailure { message: "x".repeat(9_000), ..TestFailure::default() };
    let message = shaped(&wide, Path::new("/w")).unwrap().message;
    assert_eq!(message.chars().count(), MAX_LINE_CHARS + 1);
}

#[test]
fn the_runners_own_place_serves_if_the_text_has_none() {
    let raw = TestFailure {
        test: Some("t".to_owned()),
        message: "wrong".to_owned(),
        file: Some("/w/a.bats".to_owned()),
        line: Some(3),
    };
    let found = shaped(&raw, Path::new("/w")).unwrap();
    assert_eq!(found.place().as_deref(), Some("a.bats:3"));
}

#[test]
fn a_host_with_its_port_is_no_place() {
    check("db.local:5432 refused the connection", None, "db.local:5432 refused the connection");
    check("a_test.go:9: got 1, want 2", Some("a_test.go:9"), "a_test.go:9: got 1, want 2");
}
