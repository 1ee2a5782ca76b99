//! What tests ran themselves, several documents in one output, and nextest
//! amid other text: as the tools really wrote it.

use gate_core::decide::evidence::Outcome::{self, Fail, Inconclusive, Pass};

use super::fed::in_file;
use super::{outcome, report};
use crate::libtest::Libtest;
use crate::nextest_text::NextestText;
use crate::node::Node;
use crate::pytest::Pytest;
use crate::tap::Tap;
use crate::{Reader, Status, TestReport};

macro_rules! recorded {
    ($name:literal) => {
        include_str!(concat!("../fixtures/", $name))
    };
}

#[track_caller]
fn check(reader: impl Reader + 'static, text: &str, expected: Outcome, begin: &str) -> TestReport {
    let report = report(reader, text);
    let (found, summary) = outcome(report.as_ref(), 0);
    assert_eq!(found, expected, "{summary}\n{report:#?}");
    assert!(summary.contains(begin), "{summary}\n{report:#?}");
    report.unwrap()
}

#[test]
fn documents_that_follow_each_other() {
    let twice = recorded!("tap/node-twice.txt");
    check(Tap::optional(), twice, Pass, "4 passed");
    let second = twice.rfind("TAP version").unwrap();
    let torn = |cut: &str| [twice[..second].replace(cut, "").as_str(), &twice[second..]].concat();
    check(Tap::optional(), &torn("\n1..2"), Inconclusive, "the plan is missing");
    check(Tap::optional(), &torn("\nok 1 - a"), Inconclusive, "out of order");
    check(Tap::optional(), &torn("\nTAP version 13"), Pass, "4 passed");
    let without = twice.replace("TAP version 13\n", "");
    check(Tap::optional(), &without, Inconclusive, "");
    let empty = format!("TAP version 13\n{twice}");
    check(Tap::optional(), &empty, Inconclusive, "the plan is missing");
    let failed = twice.replacen("ok 1 - a", "not ok 1 - a", 1);
    check(Tap::optional(), &failed, Fail, "1 of 4 failed: a");
}

#[test]
fn test_programs_that_tests_ran() {
    let both = check(Libtest::optional(), recorded!("libtest/nested.txt"), Pass, "7 passed");
    assert_eq!((both.failed, both.skipped), (0, 0));
    let streams = check(Libtest::new(), recorded!("libtest/nested-streams.txt"), Pass, "7 passed");
    assert!(streams.named(Status::Passed).any(|id| id.ends_with("inner_fails")));
}

const INNER: &str = "running 2 tests\ntest inner::bad ... FAILED\n\ntest result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out";

fn ok(number: u64) -> String {
    format!("test result: ok. {number} passed; 0 failed; 0 ignored; 0 measured; 0 filtered out")
}

#[test]
fn what_tests_ran_is_passed_over_where_the_outer_section_is_whole() {
    let check = |text: &str, outcome, begin| drop(check(Libtest::optional(), text, outcome, begin));
    check(&format!("running 3 tests\n{INNER}\n{}", ok(3)), Pass, "3 passed");
    check(&format!("running 3 tests\n{INNER}"), Fail, "failed: inner::bad");
    check(&format!("running 4 tests\n{INNER}\n{}", ok(3)), Fail, "failed: inner::bad");
    let late = format!("running 3 tests\ntest a ... FAILED\n{}", ok(3));
    check(&late, Fail, "failed: a");
    let failed = ok(3).replace("ok. 3 passed; 0", "FAILED. 2 passed; 1");
    check(&format!("running 3 tests\n{INNER}\n{failed}"), Fail, "1 of 3 failed");
}

#[test]
fn a_program_that_exits_early_does_not_hide_the_next_ones() {
    let check = |text: &str, outcome, begin| drop(check(Libtest::optional(), text, outcome, begin));
    let early = "running 3 tests\ntest a ... ok";
    check(&format!("{early}\nrunning 1 test\n.\n{}", ok(1)), Inconclusive, "announced 3 tests");
    check(&format!("{early}\nrunning 3 tests\n.\n{}", ok(3)), Inconclusive, "announced 3 tests");
    check(&format!("{early}\n{INNER}"), Fail, "failed: inner::bad");
    // What is still open when a result ends the outermost is not lost.
    let torn = format!("{early}\nrunning 2 tests\ntest b ... ok\n{}", ok(3));
    check(&torn, Inconclusive, "announced 2 tests");
}

#[test]
fn what_cargo_says_about_inner_programs_counts_once_each() {
    let check = |text: &str, outcome, begin| drop(check(Libtest::new(), text, outcome, begin));
    let complaint = "2> error: test failed, to rerun pass `--lib`";
    let whole = format!("running 3 tests\n{INNER}\n{complaint}\n{}", ok(3));
    check(&whole, Pass, "3 passed");
    check(&format!("{whole}\n{complaint}"), Fail, "cargo says that a test program failed");
}

/// Whichever line is lost, a failure amid what tests ran is no pass.
#[test]
fn no_lost_line_hides_a_failure() {
    let own = ok(3);
    let text =
        recorded!("libtest/nested.txt").replace("inner_passes ... ok", "inner_passes ... FAILED");
    let text = text.replace(&own, &own.replace("ok. 3 passed; 0", "FAILED. 2 passed; 1"));
    let lines: Vec<_> = text.lines().collect();
    for lost in 0..lines.len() {
        let rest = [&lines[..lost], &lines[lost + 1..]].concat().join("\n");
        let report = report(Libtest::new(), &rest);
        assert_ne!(outcome(report.as_ref(), 0).0, Pass, "without `{}`: {report:#?}", lines[lost]);
    }
}

#[test]
fn a_program_is_silent_whatever_tests_ran() {
    let check = |text: &str, outcome, begin| drop(check(Libtest::new(), text, outcome, begin));
    let named = |name: &str| {
        format!("2>      Running tests/{name}.rs (target/debug/deps/{name}-0123456789abcdef)\n")
    };
    let whole = format!("{}running 3 tests\n{}{INNER}\n{}\n", named("a"), named("b"), ok(3));
    check(&whole, Pass, "3 passed");
    check(&format!("{whole}{}", named("c")), Inconclusive, "ended without printing");
}

#[test]
fn nextest_in_the_text_is_measured_by_its_summary() {
    let texts = [recorded!("nextest/nocapture.txt"), recorded!("nextest/nocapture-streams.txt")];
    for text in texts {
        let nextest = check(NextestText::new(), text, Pass, "4 passed, 1 of them flaky");
        assert_eq!(nextest.flaky, ["nx::tests::flaky"]);
        // The test in the documentation comes after nextest.
        check(Libtest::optional(), text, Pass, "1 passed");
    }
    let summary = texts[0].find("     Summary [").unwrap();
    let killed = &texts[0][..summary];
    check(NextestText::new(), killed, Inconclusive, "nextest ended without its summary");
    check(Libtest::optional(), killed, Inconclusive, "nextest ended without its summary");
    let again = format!("{killed}\n{}", texts[0]);
    check(NextestText::new(), &again, Inconclusive, "nextest ended without its summary");
}

#[test]
fn nextest_within_a_test_hides_nothing() {
    let banner = "    Starting 4 tests across 1 binary";
    let failed = ok(2).replace("ok. 2 passed; 0", "FAILED. 1 passed; 1");
    let text = format!("running 2 tests\n{banner}\ntest a ... FAILED\n{failed}");
    check(Libtest::optional(), &text, Fail, "1 of 2 failed: a");
    check(Libtest::new(), &format!("{banner}\n{text}"), Fail, "1 of 2 failed: a");
}

#[test]
fn pytest_sessions_that_tests_ran() {
    let (xml, text) = (recorded!("pytest/inner.xml"), recorded!("pytest/inner.txt"));
    let outcome_of = |xml: &str, text: &str| {
        let report = in_file(Some(xml), text, Pytest::new);
        outcome(report.as_ref(), 0)
    };
    assert_eq!(outcome_of(xml, text), (Pass, "2 passed".to_owned()));
    let more = text.replacen("collected 2 items", "collected 3 items", 1);
    assert_eq!(outcome_of(xml, &more).0, Inconclusive);
    let exit = "!!!!!!!! _pytest.outcomes.Exit: bye !!!!!!!!";
    let inner = text.replacen("FAILED ", &format!("{exit}\nFAILED "), 1);
    assert_eq!(outcome_of(xml, &inner).0, Pass);
    let own = text.replacen("----", &format!("{exit}\n----"), 1);
    assert_eq!(outcome_of(xml, &own).0, Inconclusive, "{own}");
    // Where something else runs pytest, it may run it several times.
    let perhaps = in_file(Some(xml), text, |path| Pytest::optional(path.clone(), path));
    assert_eq!(outcome(perhaps.as_ref(), 0).0, Inconclusive);
}

#[test]
fn pytest_that_our_options_did_not_reach() {
    let outcome_of = |text: &str| {
        let trace = std::path::PathBuf::from("/nowhere/at/all");
        let report = in_file(None, text, |path| Pytest::optional(path, trace));
        outcome(report.as_ref(), 0)
    };
    let text = recorded!("pytest/unreached.txt");
    assert_eq!(outcome_of(text), (Pass, "2 passed, 1 skipped".to_owned()));
    assert_eq!(outcome_of(&text.replace("2 passed", "1 failed, 1 passed")).0, Fail);
    assert_eq!(outcome_of(&text.replace("2 passed", "1 passed")).0, Inconclusive);
    let (found, summary) = outcome_of(recorded!("pytest/killed.txt"));
    assert_eq!(found, Inconclusive);
    assert!(summary.contains("tox: passenv"), "{summary}");
    // It was reached, and left its trace: then its report has to be there.
    let report = in_file(None, text, |path| {
        let trace = path.with_file_name("trace");
        std::fs::write(&trace, "").unwrap();
        Pytest::optional(path, trace)
    });
    assert_eq!(outcome(report.as_ref(), 0).0, Inconclusive);
}

#[test]
fn scripts_that_only_help_the_tests() {
    let text = recorded!("tap/node-helper.txt");
    let passed = check(Tap::optional(), text, Pass, "1 passed");
    assert_eq!(passed.skipped, 0);
    let test = text.replace("helper.js", "b.test.js");
    check(Tap::optional(), &test, Inconclusive, "b.test.js ended without reporting a test");
    let failed = text.replace("ok 2", "not ok 2");
    check(Tap::optional(), &failed, Fail, "helper.js");

    let node = |events: &str| {
        let cwd = std::path::PathBuf::from("/project");
        outcome(in_file(Some(events), "", |path| Node::new(path, cwd)).as_ref(), 0)
    };
    let events = recorded!("node/helper.jsonl");
    assert_eq!(node(events), (Pass, "1 passed".to_owned()));
    assert_eq!(node(&events.replace("helper.js", "b.test.js")).0, Inconclusive);
    let failed =
        events.replace(r#""type":"pass","name":"/project"#, r#""type":"fail","name":"/project"#);
    assert_eq!(node(&failed).0, Fail, "{failed}");
}
