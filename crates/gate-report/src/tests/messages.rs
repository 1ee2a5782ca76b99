//! Messages of failing tests, from output of real runners.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use super::fed::{in_file, report};
use crate::go::Go;
use crate::go_text::GoText;
use crate::jest::Jest;
use crate::junit;
use crate::libtest::Libtest;
use crate::nextest::Nextest;
use crate::node::Node;
use crate::pytest::Pytest;
use crate::tap::Tap;
use crate::{Format, Tally, TestReport};

/// The failures of a report of a run in `/project`, each with its name, its place and its
/// message, are these.
#[track_caller]
fn says(report: Option<TestReport>, expected: &str) {
    let mut report = report.unwrap();
    report.explain(Path::new("/project"));
    let mut found = String::new();
    for failure in &report.failures {
        let test = failure.test.as_deref().unwrap_or("(no test)");
        let place = failure.place().unwrap_or_else(|| "(no place)".to_owned());
        let _ = writeln!(found, "{test} @ {place}\n{}", failure.message);
    }
    assert_eq!(found.trim_end(), expected);
}

#[test]
fn cargo_test_tells_the_panic_and_the_first_error_of_the_compiler() {
    says(
        report(Libtest::new(), include_str!("../fixtures/libtest/fail.txt")),
        "integration::broken @ tests/integration.rs:4\npanicked at tests/integration.rs:4:51:\n\
         assertion `left == right` failed\n  left: 4\n right: 5",
    );
    says(
        report(Libtest::new(), include_str!("../fixtures/libtest/compile.txt")),
        "(no test) @ src/main.rs:1\nerror: this file contains an unclosed delimiter\n \
         --> src/main.rs:1:9\n  |\n1 | fn x( {\n  |     - -^\n  |     | |\n  |     | unclosed \
         delimiter\n  |     unclosed delimiter",
    );
    let manifest = "2> error: failed to parse manifest at `/project/Cargo.toml`\n2> \n2> Caused \
                    by:\n2>   no targets specified\n2> \n2> note: more";
    says(
        report(Libtest::new(), manifest),
        "(no test) @ (no place)\nerror: failed to parse manifest at `Cargo.toml`\nCaused by:\n  no \
         targets specified",
    );
}

#[test]
fn cargo_test_keeps_the_outputs_of_tests_apart() {
    let text = "running 2 tests\ntest b ... FAILED\ntest a ... FAILED\n\nfailures:\n\n\
                ---- b stdout ----\nfirst\n\nthread 'b' panicked at src/b.rs:1:2:\nno b\n\n\
                ---- a stdout ----\nError: \"no a\"\n\n\nfailures:\n    a\n    b\n\n\
                test result: FAILED. 0 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out";
    says(
        report(Libtest::new(), text),
        "b @ src/b.rs:1\npanicked at src/b.rs:1:2:\nno b\na @ (no place)\nError: \"no a\"",
    );
    let doc = "running 1 test\ntest src/lib.rs - doc (line 2) ... FAILED\n\nfailures:\n\n\
               ---- src/lib.rs - doc (line 2) stdout ----\nTest executable failed (exit status: \
               101).\n\nstderr:\n\nthread 'main' (1) panicked at /tmp/rustdoctestX/d.rs:6:1:\n\
               assertion failed: false\n\n\nfailures:\n    src/lib.rs - doc (line 2)\n\n\
               test result: FAILED. 0 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out";
    says(
        report(Libtest::new(), doc),
        "src/lib.rs - doc (line 2) @ src/lib.rs:2\npanicked:\nassertion failed: false",
    );
}

#[test]
fn nextest_tells_the_panic() {
    says(
        report(Nextest::new(), include_str!("../fixtures/nextest/fail.txt")),
        "sample::integration::broken @ tests/integration.rs:4\npanicked at \
         tests/integration.rs:4:51:\nassertion `left == right` failed\n  left: 4\n right: 5",
    );
    let broken = "2> error[E0425]: cannot find value `x` in this scope\n2>  --> src/lib.rs:1:15\n2> \
                  \n2> error: could not compile `sample` (lib test)";
    says(
        report(Nextest::new(), broken),
        "(no test) @ src/lib.rs:1\nerror[E0425]: cannot find value `x` in this scope\n \
         --> src/lib.rs:1:15",
    );
}

#[test]
fn jest_and_vitest_tell_what_was_expected_and_received() {
    let new = |format| move |path| Jest::new(format, path, PathBuf::from("/project"));
    says(
        in_file(Some(include_str!("../fixtures/jest/fail.json")), "", new(Format::Jest)),
        "a.test.js > group > inner > ü @ a.test.js:2\nError: expect(received).toBe(expected) // \
         Object.is equality\nExpected: 2\nReceived: 1\n    at Object.toBe (a.test.js:2:135)",
    );
    says(
        in_file(Some(include_str!("../fixtures/vitest/fail.json")), "", new(Format::Vitest)),
        "a.test.js > group > inner > ü @ a.test.js:3\nAssertionError: expected 1 to be 2 // \
         Object.is equality\n    at a.test.js:3:135",
    );
}

/// jest puts advice before the error of a file that it cannot parse.
#[test]
fn jest_tells_the_error_of_a_file_that_cannot_be_parsed() {
    let message = "  ● Test suite failed to run\\n\\n    Jest encountered an unexpected token\\n\\n    \
                   Details:\\n\\n    SyntaxError: /project/b.test.js: Unexpected token (2:0)\\n\\n      \
                   1 | test('x', () => {\\n    > 2 |\\n        | ^\\n\\n      at constructor \
                   (node_modules/@babel/parser/src/parse-error.ts:96:45)\\n";
    let suite = format!(
        r#"{{"name": "/project/b.test.js", "status": "failed", "message": "{message}", "assertionResults": []}}"#
    );
    let json = format!(r#"{{"success": false, "testResults": [{suite}]}}"#);
    says(
        in_file(Some(&json), "", |path| Jest::new(Format::Jest, path, PathBuf::from("/project"))),
        "(no test) @ b.test.js:2\nSyntaxError: b.test.js: Unexpected token (2:0)\n  1 | \
         test('x', () => {\n> 2 |\n    | ^",
    );
}

#[test]
fn node_tells_the_error_and_its_place() {
    let event = |name: &str, line: u64, rest: &str| {
        format!(
            r#"{{"type":"fail","name":"{name}","nesting":0,"file":"/project/a.test.js","line":{line},"excused":false,"suite":false,{rest}}}"#
        )
    };
    let text = r#""text":"AssertionError [ERR_ASSERTION]: Expected values to be strictly equal:\n\n-1 !== 3\n\n    at TestContext.<anonymous> (/project/a.test.js:4:27)\n    at Test.run (node:internal/test_runner/test:796:25)""#;
    let stderr = r#""stderr":"/project/a.test.js:1\nconst = 1;\n      ^\n\nSyntaxError: Unexpected token '='""#;
    let lines = [event("adds", 3, text), event("a.test.js", 1, stderr)].join("\n");
    says(
        in_file(Some(&lines), "", |path| Node::new(path, PathBuf::from("/project"))),
        "a.test.js > adds @ a.test.js:4\nAssertionError [ERR_ASSERTION]: Expected values to be \
         strictly equal:\n-1 !== 3\n    at TestContext.<anonymous> (a.test.js:4:27)\n\
         (no test) @ a.test.js:1\na.test.js:1\nconst = 1;\n      ^\nSyntaxError: Unexpected token '='",
    );
}

#[test]
fn go_tells_the_lines_of_the_test_that_failed_and_not_of_its_parent() {
    says(
        report(Go::new(), include_str!("../fixtures/go/fail.txt")),
        "example.com/sample/a.TestBreaks @ a_test.go:4\na_test.go:4: no\n\
         example.com/sample/a.TestSub/ü_-_x @ a_test.go:6\na_test.go:6: x",
    );
    says(
        report(Go::new(), include_str!("../fixtures/go/build.txt")),
        "(no test) @ broken/broken.go:2\nbroken/broken.go:2:12: undefined: y",
    );
    says(
        report(GoText::new(), include_str!("../fixtures/text/go.txt")),
        "TestBad/sub @ a_test.go:4\na_test.go:4: x",
    );
}

#[test]
fn pytest_tells_the_assertion_with_its_line() {
    let case = |inner: &str| {
        format!(
            "<testsuites><testsuite name=\"pytest\"><testcase classname=\"t.test_a\" \
             name=\"test_add\" file=\"t/test_a.py\" line=\"2\">{inner}</testcase></testsuite></testsuites>"
        )
    };
    let long = "<failure message=\"assert -1 == 3&#10; +  where -1 = add(1, 2)\">def test_add():\n\
                &gt;       assert add(1, 2) == 3\nE       assert -1 == 3\nE        +  where -1 = \
                add(1, 2)\n\nt/test_a.py:4: AssertionError</failure>";
    says(
        in_file(Some(&case(long)), "1 failed in 0.01s", Pytest::new),
        "t/test_a.py::test_add @ t/test_a.py:4\n> assert add(1, 2) == 3\nE assert -1 == 3\n\
         E  +  where -1 = add(1, 2)\nt/test_a.py:4: AssertionError",
    );
    let bare = "<failure message=\"assert -1 == 3\">E   assert -1 == 3</failure>";
    says(
        in_file(Some(&case(bare)), "1 failed in 0.01s", Pytest::new),
        "t/test_a.py::test_add @ t/test_a.py:3\nE   assert -1 == 3",
    );
    let broken = "<testsuites><testsuite name=\"pytest\"><testcase classname=\"\" name=\"t.test_b\" \
                  file=\"t/test_b.py\"><error message=\"collection failure\"><![CDATA[E     File \
                  \"/project/t/test_b.py\", line 1\nE   SyntaxError: invalid \
                  syntax]]></error></testcase></testsuite></testsuites>";
    says(
        in_file(Some(broken), "1 error in 0.01s", Pytest::new),
        "(no test) @ t/test_b.py:1\nE     File \"t/test_b.py\", line 1\nE   SyntaxError: invalid syntax",
    );
}

#[test]
fn junit_tells_the_message_and_the_text_of_the_first_failure() {
    let parsed = |inner: &str| {
        let mut tally = Tally::new(Format::Junit);
        let case = format!(
            "<testcase classname=\"com.example.CalcTest\" name=\"adds\">{inner}</testcase>"
        );
        junit::parse(&format!("<testsuite>{case}</testsuite>"), &junit::ANY_DIALECT, &mut tally);
        Some(tally.finish())
    };
    says(
        parsed(
            "<failure message=\"expected: &lt;3&gt; but was: &lt;-1&gt;\" type=\"x\">\
             org.opentest4j.AssertionFailedError: expected: &lt;3&gt; but was: &lt;-1&gt;\n\tat \
             org.junit.jupiter.api.AssertEquals.failNotEqual(AssertEquals.java:197)\n\tat \
             com.example.CalcTest.adds(CalcTest.java:9)</failure><system-out>noise</system-out>",
        ),
        "com.example.CalcTest::adds @ CalcTest.java:9\norg.opentest4j.AssertionFailedError: \
         expected: <3> but was: <-1>\n at com.example.CalcTest.adds(CalcTest.java:9)",
    );
    says(
        parsed("<failure message=\"3 != -1\"/><error message=\"second\">other</error>"),
        "com.example.CalcTest::adds @ (no place)\n3 != -1",
    );
}

#[test]
fn tap_tells_the_diagnostics_of_a_failing_point() {
    says(
        report(Tap::new(), include_str!("../fixtures/tap/bats-fail.txt")),
        "fails @ a.bats:3\n(in test file a.bats, line 3)\n  `@test \"fails\" { [ -z \"$BREAK\" ]; }' \
         failed",
    );
    let block =
        "1..2\nnot ok 1 - adds\n  ---\n  expected: 3\n  actual: -1\n  ...\nok 2 - takes\n# late";
    says(report(Tap::new(), block), "adds @ (no place)\nexpected: 3\nactual: -1");
    let node = "TAP version 13\nnot ok 1 - adds\n  ---\n  duration_ms: 0.9\n  location: '/project/a.test.mjs:3:1'\n  \
                error: |-\n    -1 !== 3\n  code: 'ERR_ASSERTION'\n  stack: |-\n    TestContext.<anonymous> \
                (file:///project/a.test.mjs:4:10)\n    Test.run (node:internal/test:796:25)\n  ...\n1..1\n# tests 1\n# fail 1\n";
    says(
        report(Tap::new(), node),
        "adds @ a.test.mjs:4\nerror: |-\n  -1 !== 3\n  at TestContext.<anonymous> \
         (a.test.mjs:4:10)",
    );
}
