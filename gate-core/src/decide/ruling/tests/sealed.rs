//! Tests that the agent does not see: the third refusal in a run is the last.

use serde_json::json;

use super::*;
use crate::decide::breaker::Breaker;
use crate::decide::decision::judge;
use crate::decide::run_state::{LoopState, RunState};
use crate::decide::sealed_tests::MAX_SEALED_REFUSALS;

fn sealed(outcome: &str) -> Evidence {
    let detail = json!({ "tests": { "sealed": { "outcome": outcome } } });
    Evidence { detail: Some(detail), ..tests(Outcome::Fail) }
}

/// The codes and verdicts of claims in a row, each with this record and a red lint.
fn in_a_row(record: &Evidence, times: u32) -> Vec<(Verdict, Vec<&'static str>)> {
    let lint = super::record("lint", Mode::Require, Outcome::Fail, "");
    let mut run = RunState::default();
    let claimed = |_| {
        let memory = LoopState { breaker: Breaker::default(), hold: None, run: run.clone() };
        let evidence = [record.clone(), lint.clone()];
        let input = Input { stateful: true, memory: Some(memory), ..claim(&evidence) };
        let judged = judge(&input, &checked());
        run = judged.memory.unwrap().run;
        let reasons = judged.decision.reasons;
        (judged.decision.verdict, reasons.iter().map(|reason| reason.code.code()).collect())
    };
    (0..times).map(claimed).collect()
}

#[test]
fn after_the_last_refusal_a_person_is_waited_for() {
    let refused = (Verdict::Continue, vec!["required-check-failed", "sealed-tests-failed"]);
    let last = (Verdict::Blocked, vec!["sealed-tests-failed"]);
    let all = in_a_row(&sealed("failed"), MAX_SEALED_REFUSALS);
    assert_eq!(all, [refused.clone(), refused, last]);
}

#[test]
fn once_sealed_tests_pass_earlier_refusals_of_theirs_wait_for_nobody() {
    let run = RunState { sealed_refusals: MAX_SEALED_REFUSALS, ..RunState::default() };
    let memory = LoopState { breaker: Breaker::default(), hold: None, run };
    let red = claim(&[tests(Outcome::Fail)]);
    let input = Input { stateful: true, memory: Some(memory), ..red };
    check(&input, &checked(), Verdict::Continue, &["required-check-failed: tests failed"]);
}

#[test]
fn other_tests_refuse_as_often_as_they_are_red() {
    for record in [tests(Outcome::Fail), sealed("passed")] {
        for (verdict, codes) in in_a_row(&record, MAX_SEALED_REFUSALS + 1) {
            assert_eq!(verdict, Verdict::Continue);
            assert_eq!(codes, ["required-check-failed"; 2]);
        }
    }
}
