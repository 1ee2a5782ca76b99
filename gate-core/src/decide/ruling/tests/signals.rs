//! The agent's own word, and what lifts or adds to it.

use super::*;
use crate::decide::policy::{AgentOverride, Threshold};

fn with(status: Status, set: impl FnOnce(&mut Signal)) -> Input {
    let mut input = said(status);
    set(&mut input.signal);
    input
}

#[test]
fn each_statement_but_a_clean_completion_has_its_reason() {
    let problem = |signal: &mut Signal| signal.problems = vec!["two values".to_owned()];
    let reason = |signal: &mut Signal| signal.reason = Some("no key".to_owned());
    let work = |signal: &mut Signal| signal.remaining_work = Some("docs".to_owned());
    for (input, verdict, expected) in [
        (
            with(Status::Absent, |_| ()),
            Verdict::Continue,
            "signal-absent: the agent's final message contains no exit signal",
        ),
        (
            with(Status::Continue, |_| ()),
            Verdict::Continue,
            "signal-continue: the agent says that work remains",
        ),
        (
            with(Status::Continue, reason),
            Verdict::Continue,
            "signal-continue: the agent says that work remains: no key",
        ),
        (
            with(Status::Continue, |signal| {
                reason(signal);
                work(signal);
            }),
            Verdict::Continue,
            "signal-continue: the agent says that work remains: docs",
        ),
        (with(Status::Continue, problem), Verdict::Continue, "signal-contradicts: two values"),
        (with(Status::Complete, problem), Verdict::Continue, "signal-contradicts: two values"),
        (
            with(Status::Invalid, |_| ()),
            Verdict::Continue,
            "signal-invalid: the exit signal cannot be read",
        ),
        (with(Status::Invalid, problem), Verdict::Continue, "signal-invalid: two values"),
        (
            with(Status::Blocked, |_| ()),
            Verdict::Blocked,
            "signal-blocked: the agent says that it cannot go on: it gives no reason",
        ),
        (
            with(Status::Blocked, reason),
            Verdict::Blocked,
            "signal-blocked: the agent says that it cannot go on: no key",
        ),
    ] {
        check(&input, &policy(""), verdict, &[expected]);
    }
}

#[test]
fn where_no_signal_is_required_one_that_forbids_still_does() {
    let policy = policy("exit_gate.require_explicit_signal = false\n");
    let verdict = |status| decide(&said(status), &policy).verdict;
    assert_eq!(verdict(Status::Absent), Verdict::Exit);
    assert_eq!(verdict(Status::Continue), Verdict::Continue);
    assert_eq!(verdict(Status::Invalid), Verdict::Continue);
    assert_eq!(verdict(Status::Blocked), Verdict::Blocked);
}

#[test]
fn a_signal_that_forbids_keeps_checks_from_running_and_is_the_only_reason() {
    let mut policy = checked();
    policy.exit_gate.threshold = Threshold::Fixed(1);
    check(
        &said(Status::Continue),
        &policy,
        Verdict::Continue,
        &["signal-continue: the agent says that work remains"],
    );
    check(
        &claim(&[]),
        &policy,
        Verdict::Continue,
        &[
            "check-not-run: tests is configured and left no record",
            "threshold-not-reached: 0 of 1 completion indicators",
        ],
    );
}

#[test]
fn a_program_that_failed_counts_only_without_a_completion() {
    let input = |status, code| Input { agent_exit_code: Some(code), ..said(status) };
    let decision = decide(&input(Status::Complete, 3), &policy(""));
    assert_eq!(decision.verdict, Verdict::Exit);
    let silent = policy("exit_gate.require_explicit_signal = false\n");
    assert_eq!(decide(&input(Status::Absent, 0), &silent).verdict, Verdict::Exit);
    check(
        &input(Status::Absent, -9),
        &silent,
        Verdict::Continue,
        &["agent-failed: the agent's program ended with code -9 and without a complete signal"],
    );
}

#[test]
fn an_override_lifts_the_threshold_if_settings_and_confidence_allow_it() {
    let set = |agent_override| {
        let mut policy = checked();
        policy.exit_gate.threshold = Threshold::Fixed(2);
        policy.signal.agent_override = agent_override;
        policy
    };
    let asks = |status, confidence: Option<&str>, outcome| {
        let mut input = with(status, |signal| {
            signal.override_requested = true;
            signal.confidence = confidence.map(str::to_owned);
        });
        input.evidence = vec![tests(outcome)];
        input
    };
    let granted = set(AgentOverride::HighConfidence);
    let sure = asks(Status::Complete, Some("high"), Outcome::Pass);
    assert_eq!(decide(&sure, &granted).verdict, Verdict::Exit);
    for (policy, input) in [
        (set(AgentOverride::Never), sure),
        (granted.clone(), asks(Status::Complete, Some("medium"), Outcome::Pass)),
        (granted.clone(), asks(Status::Complete, None, Outcome::Pass)),
    ] {
        check(
            &input,
            &policy,
            Verdict::Continue,
            &["threshold-not-reached: 1 of 2 completion indicators"],
        );
    }
    let red = asks(Status::Complete, Some("high"), Outcome::Fail);
    check(&red, &granted, Verdict::Continue, &["required-check-failed: tests failed"]);
    let goes_on = asks(Status::Continue, Some("high"), Outcome::Pass);
    assert_eq!(decide(&goes_on, &granted).verdict, Verdict::Continue);
}

#[test]
fn a_gate_that_is_switched_off_counts_no_indicators_and_keeps_its_checks() {
    let mut off = checked();
    off.exit_gate.enabled = false;
    off.exit_gate.threshold = Threshold::Fixed(9);
    against(&off, &[tests(Outcome::Pass)], &[]);
    against(&off, &[tests(Outcome::Fail)], &["required-check-failed: tests failed"]);
}
