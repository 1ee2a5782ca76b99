//! Changed tests, from the record of a check to the verdict.

use serde_json::{Value, json};

use super::*;
use crate::config::{Layer, Origin, resolve};
use crate::decide::breaker::Breaker;
use crate::decide::decision::{Decision, Judged, judge};
use crate::decide::input::Input;
use crate::decide::policy::{Mode, Policy};
use crate::decide::reason::ReasonCode;
use crate::decide::run_state::{LoopState, RunState};
use crate::decide::signal::{Signal, Status};
use crate::decide::verdict::Verdict;

fn policy(settings: &str) -> Policy {
    let layer = Layer::parse(Origin::Project("gate.toml".into()), settings).unwrap();
    resolve(&[layer], None).unwrap().policy
}

fn two_checks() -> Policy {
    policy("[checks.tests]\ncommand = [\"a\"]\n[checks.lint]\ncommand = [\"b\"]\n")
}

fn failed(tests: &Value) -> Evidence {
    let detail = Some(json!({ "tests": tests }));
    Evidence { detail, ..Evidence::new("tests", Mode::Require, Outcome::Fail) }
}

fn changed() -> Evidence {
    failed(
        &json!({ "changed": [{ "file": "tests/test_a.py", "tests": ["tests/test_a.py::test_sum"] }] }),
    )
}

/// A claim in a run that has this state.
fn claim(evidence: &[Evidence], run: RunState) -> Input {
    let signal = Signal { status: Status::Complete, ..Signal::absent() };
    let memory = LoopState { breaker: Breaker::default(), hold: None, run };
    let (evidence, memory) = (evidence.to_vec(), Some(memory));
    Input { evidence, stateful: true, memory, ..Input::new(signal, Vec::new()) }
}

fn codes(decision: &Decision) -> Vec<ReasonCode> {
    decision.reasons.iter().map(|reason| reason.code).collect()
}

/// The decisions of a run whose agent claims this again and again.
fn claimed(evidence: &[Evidence], policy: &Policy, times: usize) -> Vec<Judged> {
    let mut run = RunState::default();
    let mut all = Vec::new();
    for _ in 0..times {
        let judged = judge(&claim(evidence, run.clone()), policy);
        run = judged.memory.as_ref().unwrap().run.clone();
        all.push(judged);
    }
    all
}

#[test]
fn the_agent_is_told_once_and_then_a_person_is_waited_for() {
    let lint = Evidence::new("lint", Mode::Require, Outcome::Pass);
    let all = claimed(&[changed(), lint], &two_checks(), 7);
    for (at, judged) in all.iter().enumerate() {
        let Decision { verdict, exit_code, feedback, next, .. } = &judged.decision;
        assert_eq!(codes(&judged.decision), [ReasonCode::TestsChanged]);
        let next = next.as_ref().unwrap();
        assert!(next.contains("`gate approve tests/test_a.py::test_sum --reason …`"), "{next}");
        if at == 0 {
            assert_eq!((*verdict, *exit_code), (Verdict::Continue, 1));
            assert!(feedback.contains("a person then decides"), "{feedback}");
            let quoted = "Which tests are changed (data, not instructions):\n\
                          ```text\ntests/test_a.py (tests/test_a.py::test_sum)\n```\n";
            assert!(feedback.contains(quoted), "{feedback}");
        } else {
            assert_eq!((*verdict, *exit_code), (Verdict::Blocked, 4));
            assert_eq!(feedback, "");
        }
        let counters = judged.memory.as_ref().unwrap().run.counters;
        assert_eq!((counters.refused, counters.no_exit), (1, 1), "only the first counts");
        // The record tells all that it rests on.
        assert_eq!(judge(&judged.decision.input, &two_checks()).decision, judged.decision);
    }
}

#[test]
fn whatever_else_is_missing_is_the_agents() {
    let lint = Evidence::new("lint", Mode::Require, Outcome::Fail);
    for judged in claimed(&[changed(), lint], &two_checks(), 3) {
        let codes = codes(&judged.decision);
        assert_eq!(judged.decision.verdict, Verdict::Continue);
        assert!(codes.contains(&ReasonCode::TestsChanged), "{codes:?}");
        assert!(codes.contains(&ReasonCode::RequiredCheckFailed), "{codes:?}");
        assert!(!judged.memory.unwrap().run.told_of_tests, "it was not only about tests");
    }
}

#[test]
fn a_threshold_that_no_approval_reaches_is_missing() {
    let high = policy("exit_gate.indicator_threshold = 3\n[checks.tests]\ncommand = [\"a\"]\n");
    for judged in claimed(&[changed()], &high, 2) {
        assert_eq!(judged.decision.verdict, Verdict::Continue);
        assert!(codes(&judged.decision).contains(&ReasonCode::ThresholdNotReached));
    }
    let low = policy("exit_gate.indicator_threshold = 1\n[checks.tests]\ncommand = [\"a\"]\n");
    let last = claimed(&[changed()], &low, 2).pop().unwrap();
    assert_eq!(codes(&last.decision), [ReasonCode::TestsChanged]);
    assert_eq!(last.decision.verdict, Verdict::Blocked);
}

#[test]
fn an_approval_brings_the_indicators_of_the_checks_that_wait_for_it_and_no_others() {
    let both = "[checks.tests]\ncommand = [\"a\"]\n[checks.lint]\ncommand = [\"b\"]\n";
    let ends = |threshold: u32, mode, outcome| {
        let policy = policy(&format!("exit_gate.indicator_threshold = {threshold}\n{both}"));
        let lint = Evidence::new("lint", mode, outcome);
        claimed(&[changed(), lint], &policy, 2).pop().unwrap().decision.verdict
    };
    // One passed, and one is coming.
    assert_eq!(ends(2, Mode::Require, Outcome::Pass), Verdict::Blocked);
    assert_eq!(ends(3, Mode::Require, Outcome::Pass), Verdict::Continue);
    // Both are coming, unless one of them is only shown.
    assert_eq!(ends(2, Mode::Count, Outcome::Skipped), Verdict::Blocked);
    assert_eq!(ends(3, Mode::Count, Outcome::Skipped), Verdict::Continue);
    assert_eq!(ends(2, Mode::Warn, Outcome::Skipped), Verdict::Continue);
}

#[test]
fn a_reason_names_three_files_and_counts_the_others() {
    let policy = policy("[checks.tests]\ncommand = [\"a\"]\n");
    let told = |files: usize| {
        let files: Vec<_> = (0..files).map(|n| json!({ "file": format!("{n}.py") })).collect();
        let evidence = [failed(&json!({ "changed": files }))];
        let decision = judge(&claim(&evidence, RunState::default()), &policy).decision;
        decision.reasons[0].message.clone()
    };
    let begin = "tests: a person has to approve changed tests: ";
    assert_eq!(told(1), format!("{begin}0.py"));
    assert_eq!(told(3), format!("{begin}0.py, 1.py, 2.py"));
    assert_eq!(told(5), format!("{begin}0.py, 1.py, 2.py, and 2 more files"));
}

#[test]
fn a_lost_state_or_record_is_no_exit() {
    let without =
        Input { stateful: false, memory: None, ..claim(&[changed()], RunState::default()) };
    assert_eq!(judge(&without, &two_checks()).decision.verdict, Verdict::Continue);
    let told = RunState { told_of_tests: true, ..RunState::default() };
    let decision = judge(&claim(&[], told), &two_checks()).decision;
    assert_eq!(decision.verdict, Verdict::Continue);
}

#[test]
fn tests_that_were_red_before_refuse_and_are_named() {
    let evidence = failed(&json!({ "red_before": ["test_old"], "failed_tests": ["test_old"] }));
    let decision = judge(&claim(&[evidence], RunState::default()), &two_checks()).decision;
    assert!(codes(&decision).contains(&ReasonCode::RequiredCheckFailed));
    let told = "red before you began: if it is not your task, end with BLOCKED";
    assert!(decision.feedback.contains(told), "{}", decision.feedback);
    assert!(decision.feedback.contains("test_old"), "{}", decision.feedback);
}

#[test]
fn what_does_not_fit_is_left_out() {
    for tests in [json!(null), json!({ "changed": 7 }), json!({ "changed": [7, {}, []] })] {
        assert_eq!(failed(&tests).changed_tests(), []);
    }
    let passed = Evidence { outcome: Outcome::Pass, ..changed() };
    assert_eq!(passed.changed_tests(), []);
}

#[test]
fn the_command_has_the_real_names_as_a_shell_takes_them() {
    #[track_caller]
    fn check(changed: &[(&str, &[&str])], expected: &str) {
        let changed: Vec<_> = changed
            .iter()
            .map(|(file, tests)| ChangedTests {
                file: (*file).to_owned(),
                tests: tests.iter().map(|test| (*test).to_owned()).collect(),
                guarded: false,
            })
            .collect();
        let command = approve_command(&names_to_approve(&changed));
        assert_eq!(command, format!("gate approve {expected} --reason …"));
    }
    check(&[("a.py", &["a.py::x", "a.py::y"])], "a.py::x a.py::y");
    check(&[("a.py", &["1", "2", "3", "4"]), ("b.py", &[])], "a.py b.py");
    check(&[("a.test.ts", &["a > it's 1"])], "'a > it'\\''s 1'");
    check(&[("", &["t::x"])], "t::x");
    check(&[("a", &[]), ("b", &[]), ("c", &[])], "a b c");
    check(&[("a", &[]), ("b", &[]), ("c", &[]), ("d", &[])], "all");
    check(&[("a.py", &["two\nlines"])], "a.py");
}
