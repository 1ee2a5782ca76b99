//! The lines of a loop in a log.

use std::path::PathBuf;
use std::time::Duration;

use gate_core::decide::evidence::{Evidence, Outcome};
use gate_core::decide::policy::Mode;
use gate_core::decide::spent::Spent;
use serde_json::json;

use super::*;
use crate::runner::FinishedRun;
use crate::tests::record;

#[track_caller]
fn check(event: &LoopEvent<'_>, expected: Option<&str>) {
    assert_eq!(line(event).as_deref(), expected);
}

fn begins(spent: Option<&Spent>) -> String {
    let elapsed = Duration::from_secs(75);
    line(&LoopEvent::Begins { iteration: 3, elapsed, spent }).unwrap()
}

#[test]
fn a_loop_begins_with_its_command_and_each_iteration_with_its_costs() {
    let command = "codex exec \u{1b}[2J-";
    check(&LoopEvent::Starts { command, note: None }, Some("starting codex exec -"));
    let note = Some("no network");
    check(&LoopEvent::Starts { command, note }, Some("starting codex exec - (no network)"));
    let spent = |tokens, cost_micro_usd| Spent { tokens, cost_micro_usd, ..Spent::default() };
    let plain = "iteration 3 begins, 1m 15s elapsed";
    assert_eq!(begins(None), plain);
    assert_eq!(begins(Some(&spent(0, 0))), plain);
    assert_eq!(begins(Some(&spent(900, 0))), format!("{plain}, 900 tokens so far"));
    assert_eq!(begins(Some(&spent(900, 1_234_567))), format!("{plain}, $1.23 so far"));
}

fn finished(outcome: Outcome, summary: &str) -> CheckEvent {
    let evidence = Evidence::new("tests", Mode::Require, outcome);
    let evidence = evidence.with_summary(summary).with_duration(Duration::from_secs(12));
    CheckEvent::Finished { evidence: Box::new(evidence) }
}

#[test]
fn a_check_is_a_line_when_it_has_ended() {
    for (outcome, summary, expected) in [
        (Outcome::Pass, "9 passed", "check tests: pass: 9 passed (12s)"),
        (Outcome::Fail, "", "check tests: fail (12s)"),
        (Outcome::Inconclusive, "a\nb", "check tests: inconclusive: a b (12s)"),
        (Outcome::Tamper, "x", "check tests: tampered with: x (12s)"),
        (Outcome::Skipped, "x", "check tests: did not run: x (12s)"),
    ] {
        check(&LoopEvent::Check(&finished(outcome, summary)), Some(expected));
    }
    let changed = CheckEvent::TreeChanged { files: vec!["a.rs".to_owned()] };
    check(&LoopEvent::Check(&changed), None);
    check(&LoopEvent::Printed(b"words"), None);
}

#[test]
fn an_end_is_shown_by_the_verdict_and_before_it_by_an_error() {
    let run = |error: &str, code: i32| FinishedRun {
        transcript: PathBuf::new(),
        exit_code: Some(code),
        error: error.to_owned(),
        not_started: false,
        was_ended: false,
        stderr_end: String::new(),
        interrupted: None,
        delegated: Default::default(),
    };
    check(&LoopEvent::Ended { iteration: 2, run: &run("", 0) }, None);
    let killed = "iteration 2: agent killed";
    check(&LoopEvent::Ended { iteration: 2, run: &run("agent\nkilled", 137) }, Some(killed));
    let failed = "iteration 2: the agent ended with exit code 1";
    check(&LoopEvent::Ended { iteration: 2, run: &run("agent reported failure", 1) }, Some(failed));
    let reasons = json!([{ "code": "signal-absent", "message": "no signal" },
                         { "code": "threshold-not-reached", "message": "0 of 2" }]);
    let record = record(&json!({ "reasons": reasons }));
    let judged = "iteration 2 ended: continue: no signal";
    check(&LoopEvent::Judged { iteration: 2, record: &record }, Some(judged));
    let until = "2026-11-02T10:05:09.9Z".parse().unwrap();
    let waits = format!("waiting until {}: the limit is reached", clock(until));
    check(&LoopEvent::Waits { until, reason: "the limit is\treached" }, Some(&waits));
}
