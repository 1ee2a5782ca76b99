//! Messages of failing tests in the agent's feedback and in the JSON: real projects, tested
//! by their real tools, with a test of gate's own in each run.

use serde_json::Value;

use crate::fooled::names_a_control;
use crate::needs::needs;
use crate::run::SAYS;
use crate::runners::{cargo, modules, project};
use crate::support::{DONE, Run, gate, judge};

/// Names of gate's reports.
const OWN: &[&str] = &["pytest.xml", "jest.json", "results.cjs"];

/// Feedback and JSON hold these words and this place, and nothing of gate's own.
#[track_caller]
fn tells(run: Run, place: &str, words: &[&str]) -> Value {
    let ran = run.code(1);
    let decision = ran.json();
    let feedback = decision["feedback"].as_str().unwrap();
    let tests = &decision["evidence"][0]["detail"]["tests"];
    let first = &tests["failures"][0];
    let message = first["message"].as_str().unwrap_or_default();
    for word in words {
        assert!(feedback.contains(word), "{word:?} is not in the feedback:\n{feedback}");
        assert!(message.contains(word), "{word:?} is not in {tests:#}");
    }
    let found = format!("{}:{}", first["file"].as_str().unwrap_or_default(), first["line"]);
    assert_eq!(found, place, "{tests:#}");
    assert!(feedback.contains(place), "{place} is not in the feedback:\n{feedback}");
    for own in OWN {
        assert!(!feedback.contains(own), "{own:?} is in the feedback:\n{feedback}");
    }
    assert!(!names_a_control(feedback), "a control is in the feedback:\n{feedback}");
    assert!(!names_a_control(&ran.stdout), "a control is in the JSON:\n{}", ran.stdout);
    assert!(feedback.chars().count() <= 1_500);
    decision
}

/// The same for a project with one failing test of two.
#[track_caller]
fn fails(run: Run, place: &str, words: &[&str]) {
    let decision = tells(run, place, words);
    let tests = &decision["evidence"][0]["detail"]["tests"];
    assert_eq!((&tests["failed"], &tests["executed"]), (&1.into(), &2.into()), "{tests:#}");
    let feedback = decision["feedback"].as_str().unwrap();
    assert!(feedback.contains("1 of 2 failed"), "{feedback}");
    assert!(feedback.contains("Checks: FAIL tests ("), "{feedback}");
    assert!(feedback.contains("both layouts are read"), "the claim is not in:\n{feedback}");
    assert!(!feedback.contains("duration_ms"), "totals are no part of a message:\n{feedback}");
    assert!(feedback.contains("BLOCKED") && feedback.contains("Do not weaken"), "{feedback}");
}

const RUST: &str = "pub fn add(a: i32, b: i32) -> i32 {\n    a - b\n}\n\n#[test]\nfn adds() {\n    \
                    println!(\"noise\");\n    assert_eq!(add(1, 2), 3);\n}\n#[test]\nfn holds() {}\n";

#[test]
fn cargo_test() {
    let words = ["assertion `left == right` failed", "left: -1", "right: 3"];
    fails(cargo("cargo test --offline", RUST), "src/lib.rs:8", &words);
    let broken = "pub fn add(a: i32) -> i32 {\n    \"a\"\n}\n";
    let words = ["error[E0308]: mismatched types", "expected `i32`, found `&str`"];
    tells(cargo("cargo test --offline", broken), "src/lib.rs:2", &words);
}

#[test]
fn cargo_nextest() {
    if needs("nextest") {
        let words = ["assertion `left == right` failed", "left: -1", "right: 3"];
        fails(cargo("cargo nextest run --offline", RUST), "src/lib.rs:8", &words);
    }
}

#[test]
fn pytest() {
    if !needs("pytest") {
        return;
    }
    let test = "from calc import add\n\ndef test_adds():\n    assert add(1, 2) == 3\n\n\
                def test_holds():\n    pass\n";
    let calc = ("calc.py", "def add(a, b):\n    return a - b\n");
    let case = |test: &str| project("python3 -m pytest -q", &[calc, ("test_calc.py", test)]);
    fails(case(test), "test_calc.py:4", &["assert add(1, 2) == 3", "assert -1 == 3"]);
    tells(case("def test_broken(:\n"), "test_calc.py:1", &["def test_broken(:", "SyntaxError"]);
    let missing = "from calc import subtract\n\ndef test_a():\n    pass\n";
    tells(case(missing), "test_calc.py:1", &["cannot import name 'subtract'"]);
}

#[test]
fn unittest() {
    if !needs("python3") {
        return;
    }
    let test = "import unittest\n\nclass Calc(unittest.TestCase):\n    def test_adds(self):\n        \
                self.assertEqual(1 - 2, 3)\n    def test_holds(self):\n        pass\n";
    let run = project("python3 -m unittest", &[("test_calc.py", test)]);
    fails(run, "test_calc.py:5", &["self.assertEqual(1 - 2, 3)", "AssertionError: -1 != 3"]);
}

#[test]
#[ignore = "minutes: projects with real test runners"]
fn jest() {
    if !needs("jest") {
        return;
    }
    let test = "describe('sum', () => {\n  test('adds', () => {\n    expect(1 - 2).toBe(3);\n  });\n});\n\
                test('holds', () => {});\n";
    let run = modules("jest", "npx jest", &[("thing.test.js", test)]);
    fails(run, "thing.test.js:3", &["Expected: 3", "Received: -1", "toBe"]);
}

#[test]
#[ignore = "minutes: projects with real test runners"]
fn vitest() {
    if !needs("vitest") {
        return;
    }
    let test = "import { test, expect } from 'vitest';\ntest('adds', () => {\n  \
                expect(1 - 2).toBe(3);\n});\ntest('holds', () => {});\n";
    let run = modules("vitest", "npx vitest run", &[("thing.test.mjs", test)]);
    fails(run, "thing.test.mjs:3", &["expected -1 to be 3"]);
    let broken =
        modules("vitest", "npx vitest run", &[("thing.test.mjs", "test('adds', () => {\n")]);
    tells(broken, "thing.test.mjs:1", &["test('adds', () => {", "Failed to parse source"]);
}

#[test]
#[ignore = "minutes: projects with real test runners"]
fn mocha() {
    if !needs("mocha") {
        return;
    }
    let test = "const assert = require('assert');\ndescribe('sum', () => {\n  it('adds', () => {\n    \
                assert.equal(1 - 2, 3, 'a sum');\n  });\n});\nit('holds', () => {});\n";
    let run = modules("mocha", "npx mocha", &[("test/thing.js", test)]);
    fails(run, "test/thing.js:4", &["a sum", "expected: 3", "actual: -1"]);
}

#[test]
fn node() {
    if !needs("node") {
        return;
    }
    let head = "const test = require('node:test');\nconst assert = require('node:assert');\n";
    let case = |body: &str| {
        let test = format!("{head}{body}test('holds', () => {{}});\n");
        project("node --test", &[("thing.test.js", &test)])
    };
    let plain = "test('adds', () => {\n  assert.strictEqual(1 - 2, 3);\n});\n";
    fails(case(plain), "thing.test.js:4", &["Expected values to be strictly equal", "-1 !== 3"]);
    let own = "test('adds', () => {\n  assert.equal(1 - 2, 3, 'the sum is wrong');\n});\n";
    let words = ["the sum is wrong", "expected: 3", "received: -1"];
    fails(case(own), "thing.test.js:4", &words);
    let broken = project("node --test", &[("thing.test.js", "const = 1;\n")]);
    tells(broken, "thing.test.js:1", &["const = 1;", "SyntaxError"]);
}

#[test]
fn node_behind_npm() {
    if !needs("node") || !needs("npm") {
        return;
    }
    let package = r#"{"name": "thing", "version": "1.0.0", "scripts": {"test": "node --test"}}"#;
    let test = "import test from 'node:test';\nimport assert from 'node:assert';\n\
                test('holds', () => {});\ntest('adds', () => {\n  assert.strictEqual(1 - 2, 3);\n});\n";
    let run = project("npm test", &[("package.json", package), ("thing.test.mjs", test)]);
    fails(run, "thing.test.mjs:5", &["-1 !== 3"]);
}

#[test]
fn go() {
    if !needs("go") {
        return;
    }
    let case = |command: &str, body: &str| {
        let test = format!("package sum\n\nimport \"testing\"\n\n{body}");
        let module = ("go.mod", "module example.com/thing\n\ngo 1.18\n");
        let run = project(command, &[module, ("sum/sum_test.go", &test)]);
        run.file("sum/sum.go", "package sum\n").env("GOFLAGS", "-count=1").with_go_cache()
    };
    let test = "func TestAdds(t *testing.T) {\n\tif got := 1 - 2; got != 3 {\n\t\t\
                t.Errorf(\"got %d, want %d\", got, 3)\n\t}\n}\n\nfunc TestHolds(t *testing.T) {}\n";
    fails(case("go test ./...", test), "sum/sum_test.go:7", &["got -1, want 3"]);
    let broken = case("go test ./...", "func TestAdds(t *testing.T) { undefined() }\n");
    tells(broken, "sum/sum_test.go:5", &["undefined: undefined"]);
}

/// The prompt of `gate run`'s second iteration holds what the hook's refusal would.
#[test]
fn the_next_prompt_of_a_loop_says_how_the_test_failed() {
    let tap = "printf 'TAP version 13\\n1..1\\nnot ok 1 - adds\\n  ---\\n  expected: 3\\n  \
               received: -1\\n  ...\\n'\nexit 1\n";
    let agent = format!("#!/bin/sh\ncat >seen\necho x >>count\n{SAYS}");
    let ran = gate("run --task t1 --max-iterations 2 --prompt PROMPT.md --json -- ./agent.sh")
        .settings("[checks.tests]\ncommand = [\"sh\", \"tests.sh\"]\n")
        .file("PROMPT.md", "Mend it.\n")
        .file(".gitignore", "count\nseen\n")
        .file("tests.sh", tap)
        .script("agent.sh", &agent)
        .committed()
        .run();
    let prompt = ran.file("seen");
    for part in ["adds\nexpected: 3\nreceived: -1\n", "This is attempt 1.", "FAIL tests"] {
        assert!(prompt.contains(part), "{part:?} is not in the prompt:\n{prompt}");
    }
}

/// The first error of a compiler is what the others follow from.
#[test]
fn a_build_that_fails_is_quoted_from_its_first_error() {
    let build = "for n in 1 2 3 4 5 6 7 8 9 10 11 12 13 14; do echo \"warning: $n\"; done\n\
                 echo 'src/cart.ts(3,5): error TS2322: the first'\n\
                 for n in 1 2 3 4 5 6 7 8 9 10 11 12 13 14; do echo \"note: $n\"; done\nexit 2\n";
    let settings = "[checks.build]\ncommand = [\"sh\", \"build.sh\"]\n";
    let run = judge("check --json out.log", DONE).settings(settings).file("build.sh", build);
    let decision = run.code(1).json();
    let feedback = decision["feedback"].as_str().unwrap();
    assert!(
        feedback.contains("exit code 2\nsrc/cart.ts(3,5): error TS2322: the first\nnote: 1\n"),
        "{feedback}"
    );
    assert!(!feedback.contains("warning:"), "{feedback}");
}

#[test]
fn a_report_in_junit_s_form() {
    let report = "<testsuite><testcase classname=\"CalcTest\" name=\"adds\"><failure \
                  message=\"expected: 3 but was: -1\">AssertionError: expected: 3 but was: -1\n\tat \
                  CalcTest.adds(CalcTest.java:9)</failure></testcase>\
                  <testcase classname=\"CalcTest\" name=\"holds\"/></testsuite>";
    let run = project("sh run.sh {report}", &[("run.sh", "cp report.xml $1\nexit 1\n")]);
    fails(run.file("report.xml", report), "CalcTest.java:9", &["expected: 3 but was: -1"]);
}
