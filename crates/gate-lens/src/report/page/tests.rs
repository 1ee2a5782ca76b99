//! The page of a long night.

use gate_core::Verdict;
use gate_core::decide::breaker::BreakerState;
use gate_core::decide::evidence::Outcome;
use gate_core::decide::reason::ReasonCode;
use gate_core::decide::signal::Status;
use jiff::Timestamp;

use super::document;
use crate::loops::{CheckRecord, IterationRecord, LoopRecord, LoopState, Usage};
use crate::report::ReportRecord;

/// The largest page for 1,000 decisions, in bytes.
const MAX_BYTES: usize = 400_000;

fn iteration(number: u64) -> IterationRecord {
    let long = "the total of the cart is wrong when a discount is applied twice; ".repeat(20);
    IterationRecord {
        cut_off: false,
        crashed: false,
        seq: number,
        decision_id: format!("{number:036}"),
        iteration: number,
        time: "2026-03-01T22:07:38.921141799Z".to_owned(),
        verdict: Verdict::Continue,
        released: None,
        forced: false,
        verified: true,
        claim: Status::Complete,
        claim_reason: Some(long.clone()),
        reason: Some(ReasonCode::RequiredCheckFailed),
        why: long.clone(),
        checks: vec![CheckRecord {
            check: "tests".to_owned(),
            outcome: Outcome::Fail,
            duration_ms: 61_000,
            summary: long.clone(),
            excerpt: Some(long.repeat(10)),
            flaky: Vec::new(),
        }],
        changed: Some(true),
        changed_files: Some(7),
        agent_ms: Some(754_321),
        decision_ms: 61_234,
        usage: Usage::new(1_234_567, 1_234_567),
    }
}

fn night(iterations: u64, state: LoopState) -> LoopRecord {
    LoopRecord {
        tree: None,
        folder: None,
        handoff: None,
        resume: None,
        unended_on: None,
        lock: None,
        unreported: Vec::new(),
        deaths: Vec::new(),
        goals: Vec::new(),
        project: "shop".to_owned(),
        run: "nightly".to_owned(),
        task: None,
        agent: Some("codex".to_owned()),
        client: Some("codex".to_owned()),
        model: None,
        state,
        why: "a person is needed: `gate trust`".to_owned(),
        next: None,
        started: "2026-03-01T22:07:38Z".to_owned(),
        ended: "2026-03-02T06:07:38Z".to_owned(),
        duration_ms: 28_800_000,
        usage: Usage::default(),
        breaker: BreakerState::Closed,
        iterations: (1..=iterations).map(iteration).collect(),
    }
}

fn page(loops: Vec<LoopRecord>) -> String {
    document(&ReportRecord::new(loops, None, Timestamp::UNIX_EPOCH))
}

#[test]
fn a_thousand_decisions_fit_in_a_page_that_opens_at_once() {
    let one = page(vec![night(1_000, LoopState::Stopped)]);
    assert!(one.len() <= MAX_BYTES, "{} bytes", one.len());
    assert_eq!(one.matches("<th scope=\"row\">").count(), 1_000 + 3);
    let six = page((0..6).map(|_| night(166, LoopState::Blocked)).collect());
    assert!(six.len() <= MAX_BYTES, "{} bytes", six.len());
}

#[test]
fn commands_in_a_sentence_are_set_as_code() {
    assert!(page(vec![night(1, LoopState::Blocked)]).contains("<code>gate trust</code>"));
}

#[test]
fn earlier_iterations_are_folded() {
    let page = page(vec![night(25, LoopState::Open)]);
    assert!(page.contains("<summary>5 earlier iterations</summary>"));
}
