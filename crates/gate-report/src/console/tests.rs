//! Summaries that runners really printed, and what only looks like one.

use std::path::Path;

use super::*;
use crate::tests::{comes_to, report};

#[derive(Deserialize)]
struct Samples {
    runner: Vec<RunnerSamples>,
}

#[derive(Deserialize)]
struct RunnerSamples {
    rule: Vec<RuleSamples>,
}

#[derive(Deserialize)]
struct RuleSamples {
    matches: Vec<String>,
    rejects: Vec<String>,
}

fn reader(name: &str) -> Console {
    Console::new(RUNNERS.iter().find(|runner| runner.name == name).unwrap())
}

/// The message and the place of the first failed test in the text.
#[track_caller]
fn says(name: &str, text: &str, test: &str, place: &str, message: &str) {
    let mut report = report(reader(name), text).unwrap();
    report.explain(Path::new("/project"));
    let failure = &report.failures[0];
    assert_eq!(failure.test.as_deref(), Some(test), "{:#?}", report.failures);
    assert_eq!(failure.place().as_deref(), Some(place), "{failure:?}");
    assert!(failure.message.contains(message), "{}", failure.message);
    assert!(!failure.message.contains("ℹ ") && !failure.message.contains("Tests  "));
}

#[test]
fn a_failed_test_says_why_in_the_text_for_people() {
    let jest = include_str!("../fixtures/jest/fail.txt");
    says("jest", jest, "group > inner > ü", "a.test.js:2", "Expected: 2\nReceived: 1");
    let vitest = include_str!("../fixtures/vitest/fail.txt");
    let expected = "AssertionError: expected 1 to be 2";
    says("vitest", vitest, "a.test.js > group > inner > ü", "a.test.js:3", expected);
    let node = include_str!("../fixtures/text/node-fail.txt");
    says("node", node, "b", "nf/f.test.mjs:1", "Error: x");
    let unittest = include_str!("../fixtures/text/unittest-fail.txt");
    says("unittest", unittest, "test_c (test_u.T.test_c)", "test_u.py:5", "ValueError");
}

#[test]
fn every_rule_matches_its_samples_and_rejects_the_others() {
    let pack: Samples = toml::from_str(PACK).unwrap();
    assert_eq!(pack.runner.len(), RUNNERS.len());
    for (runner, samples) in RUNNERS.iter().zip(pack.runner) {
        for (rule, samples) in runner.rule.iter().zip(samples.rule) {
            let Pattern(regex) = &rule.regex;
            assert!(!samples.matches.is_empty() && !samples.rejects.is_empty());
            for line in samples.matches {
                assert!(regex.is_match(&line), "{}: {line}", runner.name);
            }
            for line in samples.rejects {
                assert!(!regex.is_match(&line), "{}: {line}", runner.name);
            }
        }
    }
}

#[test]
fn jest_wrote() {
    let check = |text, expected| comes_to(reader("jest"), text, expected);
    check(include_str!("../fixtures/jest/pass.txt"), "Pass: 8 passed, 2 skipped");
    check(include_str!("../fixtures/jest/fail.txt"), "Fail: 1 of 8 failed: group > inner > ü");
    let import = "Fail: 7 tests passed, but there was an error outside of tests: a test file";
    check(include_str!("../fixtures/jest/import.txt"), import);
    check(include_str!("../fixtures/jest/zero.txt"), "Fail: no test was executed (10 skipped)");
    let exit = "Inconclusive: exit code 0, but the report is incomplete: process.exit called";
    check(include_str!("../fixtures/jest/exit.txt"), exit);
    check("No tests found, exiting with code 0", "Fail: no test was executed");
    check("PASS src/a.test.ts (5.1 s)", "Inconclusive");
}

#[test]
fn vitest_wrote() {
    let check = |text, expected| comes_to(reader("vitest"), text, expected);
    check(include_str!("../fixtures/vitest/pass.txt"), "Pass: 10 passed, 2 skipped");
    let failed = "Fail: 1 of 10 failed: a.test.js > group > inner > ü";
    check(include_str!("../fixtures/vitest/fail.txt"), failed);
    let reject = "Fail: 10 tests passed, but there was an error outside of tests: Vitest caught";
    check(include_str!("../fixtures/vitest/reject.txt"), reject);
    let after = "Fail: 10 tests passed, but there was an error outside of tests: a test file";
    check(include_str!("../fixtures/vitest/after.txt"), after);
    check(" RUN  v4.1.12 /project", "Inconclusive");
}

#[test]
fn node_wrote() {
    let check = |text, expected| comes_to(reader("node"), text, expected);
    check(include_str!("../fixtures/text/node.txt"), "Pass: 5 passed, 2 skipped");
    let fail = "Fail: 1 of 3 failed: b, although the command ended with code 0";
    check(include_str!("../fixtures/text/node-fail.txt"), fail);
    let alone = "Inconclusive: exit code 0, but the report is incomplete: ";
    check(include_str!("../fixtures/text/node-empty.txt"), alone);
    check("ℹ tests 0\nℹ pass 0\nℹ fail 0", "Fail: no test was executed");
    check("ℹ tests 3\nℹ pass 2", "Inconclusive");
    let tap = "# tests 3\n# suites 0\n# pass 2\n# fail 1\n# cancelled 0\n";
    let failed = "Fail: there was an error outside of tests: node counts 1 tests: fail";
    comes_to(reader("node-tap"), tap, failed);
}

#[test]
fn unittest_wrote() {
    let check = |text, expected| comes_to(reader("unittest"), text, expected);
    let failed = "Fail: 2 of 3 failed: test_b (test_u.T.test_b), test_c (test_u.T.test_c)";
    check(include_str!("../fixtures/text/unittest-fail.txt"), failed);
    check(include_str!("../fixtures/text/unittest.txt"), "Pass: 1 passed, 1 skipped");
    check(include_str!("../fixtures/text/unittest-zero.txt"), "Fail: no test was executed");
    check("Ran 0 tests in 0.000s\n\nNO TESTS RAN", "Fail: no test was executed");
    check("Ran 1 test in 0.001s\n\nFAILED (unexpected successes=1)", "Fail: 1 of 1 failed");
    check("Ran 3 tests in 0.001s\n\nFAILED", "Fail: 3 tests passed, but");
    check("Ran 3 tests in 0.001s\n", "Inconclusive");
}

#[test]
fn mocha_wrote() {
    let check = |text, expected| comes_to(reader("mocha"), text, expected);
    let fail = "Fail: 1 of 2 failed, although the command ended with code 0";
    check(include_str!("../fixtures/text/mocha-fail.txt"), fail);
    check(include_str!("../fixtures/text/mocha.txt"), "Pass: 1 passed");
    check(include_str!("../fixtures/text/mocha-zero.txt"), "Fail: no test was executed");
}

#[test]
fn what_only_looks_like_a_summary_is_no_result() {
    for text in [
        "PASS",
        "PASS all of it",
        "Tests: 3, Assertions: 5.",
        "Tests  are fine",
        "● a",
        "# tests 3\n# pass 3\n# fail 0\n# duration_ms 3",
        "# duration_ms 3\n# fail 3",
        "ℹ fail 3",
        "# fail 3",
        "ℹ tests are fine",
        "# tests\n# fail",
        "✔ a",
        "✔ src/a.js (3ms)",
        "OK",
        "FAILED (failures=1)",
        "Ran 3 tests in 2 s",
        "Ran 3 tests in 0.1s",
        "3 passing (1ms)",
        "  3 passing",
        "  3 failing",
        "  all passing (1ms)",
    ] {
        for runner in RUNNERS.iter() {
            let report = report(Console::new(runner), text);
            assert_eq!(report, None, "{}: {text}", runner.name);
        }
    }
}
