//! Rulings, one circumstance at a time.

mod after;
mod held;
mod listed;
mod sealed;
mod signals;
mod stops;
mod warnings;
mod work_left;

use crate::config::{Layer, Origin, resolve};
use crate::decide::decision::{Decision, decide};
use crate::decide::evidence::{Evidence, Outcome};
use crate::decide::input::Input;
use crate::decide::policy::{Mode, Policy};
use crate::decide::signal::{Signal, Status};
use crate::decide::verdict::Verdict;

/// These settings, in which no indicator is missing.
fn policy(settings: &str) -> Policy {
    let text = format!("exit_gate.indicator_threshold = 0\n{settings}");
    let layer = Layer::parse(Origin::Project("gate.toml".into()), &text).unwrap();
    resolve(&[layer], None).unwrap().policy
}

/// With one required check, `tests`.
fn checked() -> Policy {
    policy("[checks.tests]\ncommand = [\"true\"]\n")
}

fn said(status: Status) -> Input {
    Input::new(Signal { status, ..Signal::absent() }, Vec::new())
}

fn record(check: &str, mode: Mode, outcome: Outcome, summary: &str) -> Evidence {
    Evidence { summary: summary.to_owned(), ..Evidence::new(check, mode, outcome) }
}

fn tests(outcome: Outcome) -> Evidence {
    record("tests", Mode::Require, outcome, "")
}

/// A claim of completion, and these records.
fn claim(evidence: &[Evidence]) -> Input {
    Input { evidence: evidence.to_vec(), ..said(Status::Complete) }
}

fn reasons(decision: &Decision) -> Vec<String> {
    let reasons = decision.reasons.iter();
    reasons.map(|reason| format!("{}: {}", reason.code.code(), reason.message)).collect()
}

#[track_caller]
fn check(input: &Input, policy: &Policy, verdict: Verdict, expected: &[&str]) {
    let decision = decide(input, policy);
    assert_eq!((reasons(&decision), decision.verdict), (strings(expected), verdict));
}

fn strings(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

/// What keeps a claim with these records from its exit.
#[track_caller]
fn against(policy: &Policy, evidence: &[Evidence], expected: &[&str]) {
    let decision = decide(&claim(evidence), policy);
    if expected.is_empty() {
        assert_eq!(decision.verdict, Verdict::Exit, "{evidence:?}: {:?}", decision.reasons);
    } else {
        assert_eq!(reasons(&decision), expected, "{evidence:?}");
        assert_eq!(decision.verdict, Verdict::Continue, "{evidence:?}");
    }
}

#[test]
fn the_weightiest_reason_comes_first_and_none_is_left_out() {
    let mut policy =
        policy("[checks.build]\ncommand = [\"true\"]\n[checks.tests]\ncommand = [\"true\"]\n");
    policy.exit_gate.threshold = crate::decide::policy::Threshold::Fixed(3);
    let mut input = said(Status::Continue);
    input.signal.remaining_work = Some("the docs".to_owned());
    input.agent_exit_code = Some(3);
    input.evidence = vec![
        record("tests", Mode::Require, Outcome::Fail, "1 of 3 failed"),
        record("build", Mode::Require, Outcome::Pass, ""),
        record("lint", Mode::Warn, Outcome::Tamper, ""),
    ];
    input.observed.limited = Some(crate::decide::iteration_facts::LimitNotice {
        text: "try later".to_owned(),
        resets_at: None,
    });
    check(
        &input,
        &policy,
        Verdict::Continue,
        &[
            "rate-limited: the iteration ended in a limit: try later",
            "tampered: lint does not count",
            "agent-failed: the agent's program ended with code 3 and without a complete signal",
            "signal-continue: the agent says that work remains: the docs",
            "required-check-failed: tests failed: 1 of 3 failed",
            "threshold-not-reached: 1 of 3 completion indicators",
        ],
    );
}

#[test]
fn a_required_check_forbids_by_its_worst_record() {
    let policy = checked();
    let one = |outcome| tests(outcome);
    let running = Evidence { running: true, ..one(Outcome::Skipped) };
    for (evidence, expected) in [
        (vec![one(Outcome::Pass)], &[][..]),
        (
            vec![one(Outcome::Pass), one(Outcome::Fail), one(Outcome::Inconclusive)],
            &["required-check-failed: tests failed"],
        ),
        (
            vec![record("tests", Mode::Require, Outcome::Inconclusive, "it timed out")],
            &["required-check-inconclusive: tests gave no result: it timed out"],
        ),
        (vec![one(Outcome::Skipped)], &["check-not-run: tests did not run"]),
        (vec![running], &["check-running: tests is still running"]),
        (Vec::new(), &["check-not-run: tests is configured and left no record"]),
        (vec![one(Outcome::Tamper)], &["tampered: tests does not count"]),
    ] {
        against(&policy, &evidence, expected);
    }
}

#[test]
fn either_the_settings_or_the_record_make_a_check_required() {
    let set =
        |mode: &str| policy(&format!("[checks.tests]\ncommand = [\"true\"]\nmode = \"{mode}\"\n"));
    let failed = |mode| [record("tests", mode, Outcome::Fail, "")];
    let forbids = &["required-check-failed: tests failed"][..];
    for (policy, mode, expected) in [
        ("require", Mode::Require, forbids),
        ("require", Mode::Warn, forbids),
        ("count", Mode::Require, forbids),
        ("warn", Mode::Require, forbids),
        ("count", Mode::Count, &[]),
        ("warn", Mode::Warn, &[]),
    ] {
        against(&set(policy), &failed(mode), expected);
    }
    let unknown = [record("plugin", Mode::Require, Outcome::Fail, "")];
    against(&policy(""), &unknown, &["required-check-failed: plugin failed"]);
}

#[test]
fn a_check_that_was_left_out_for_another_one_is_no_reason() {
    let policy = policy(
        "[checks.deploy]\ncommand = [\"true\"]\nneeds = [\"tests\"]\n\
         [checks.tests]\ncommand = [\"true\"]\n",
    );
    let skipped = record("deploy", Mode::Require, Outcome::Skipped, "");
    let with = |first: Evidence| [first, skipped.clone()];
    against(&policy, &with(tests(Outcome::Fail)), &["required-check-failed: tests failed"]);
    against(&policy, &with(tests(Outcome::Pass)), &["check-not-run: deploy did not run"]);
    let mut shown = checked();
    shown.checks.get_mut("tests").unwrap().mode = Mode::Warn;
    let warned = record("tests", Mode::Warn, Outcome::Fail, "");
    against(&shown, &with(warned), &["check-not-run: deploy did not run"]);
}

#[test]
fn checks_that_were_left_out_as_asked_are_not_missed() {
    let input = Input { checks_left_out: true, ..claim(&[]) };
    check(
        &input,
        &checked(),
        Verdict::Exit,
        &["passed: an explicit signal, no indicators needed, no checks"],
    );
    let failed = Input { evidence: vec![tests(Outcome::Fail)], ..input };
    check(&failed, &checked(), Verdict::Continue, &["required-check-failed: tests failed"]);
}

#[test]
fn only_an_iteration_that_is_refused_lets_the_loop_go_on() {
    let stops = |input: &Input| decide(input, &checked()).stop;
    assert!(!stops(&claim(&[tests(Outcome::Fail)])));
    assert!(stops(&claim(&[tests(Outcome::Pass)])) && stops(&said(Status::Blocked)));
}

#[test]
fn an_exit_says_what_it_rests_on() {
    let required = checked();
    let (pass, counts) = (tests(Outcome::Pass), record("lint", Mode::Count, Outcome::Fail, ""));
    let silent = policy("exit_gate.require_explicit_signal = false\n");
    for (input, policy, expected) in [
        (
            claim(std::slice::from_ref(&pass)),
            &required,
            "passed: an explicit signal, no indicators needed, every required check passes",
        ),
        (
            claim(&[counts]),
            &silent,
            "passed: an explicit signal, no indicators needed, no check is required",
        ),
        (
            said(Status::Absent),
            &silent,
            "passed: no signal required, no indicators needed, no checks",
        ),
    ] {
        check(&input, policy, Verdict::Exit, &[expected]);
    }
}

#[test]
fn where_evidence_is_asked_for_the_agents_own_ticks_are_none() {
    let policy = policy("exit_gate.unverified = \"continue\"\n");
    let pass = |mode| record("plan", mode, Outcome::Pass, "");
    let ticked = Evidence { claim: true, ..pass(Mode::Count) };
    let missing =
        &["evidence-required: no check confirms the agent's word, and one is required"][..];
    for (evidence, expected) in [
        (vec![], missing),
        (vec![ticked.clone()], missing),
        (vec![pass(Mode::Warn)], missing),
        (vec![pass(Mode::Count), record("plan", Mode::Count, Outcome::Fail, "")], missing),
        (vec![ticked, record("lint", Mode::Count, Outcome::Pass, "")], &[]),
        (vec![pass(Mode::Require)], &[]),
    ] {
        against(&policy, &evidence, expected);
    }
}

#[test]
fn an_exit_is_verified_only_if_each_required_check_passes() {
    let policy = checked();
    let forced = |evidence: &[Evidence]| {
        let input = Input { force_reason: Some("ship".to_owned()), ..claim(evidence) };
        let decision = decide(&input, &policy);
        assert_eq!(reasons(&decision), ["forced: forced by the operator: ship"]);
        assert_eq!((decision.verdict, decision.forced), (Verdict::Exit, true));
        decision.verified
    };
    let lint = record("lint", Mode::Count, Outcome::Pass, "");
    assert!(forced(&[tests(Outcome::Pass)]));
    assert!(!forced(&[]));
    assert!(!forced(&[lint.clone(), tests(Outcome::Inconclusive)]));
    assert!(!forced(&[lint, tests(Outcome::Pass), tests(Outcome::Fail)]));
    assert!(decide(&said(Status::Continue), &policy).verified, "it is no exit");
}
