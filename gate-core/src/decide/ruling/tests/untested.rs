//! Changes that no test shows: asked for once a run.

use serde_json::json;

use super::*;
use crate::decide::breaker::Breaker;
use crate::decide::decision::judge;
use crate::decide::run_state::{LoopState, RunState};

/// A claim whose new test passes without the work.
fn idle() -> Input {
    let shown = json!({ "outcome": "not-needed", "passed": ["test_a"] });
    let detail = Some(json!({ "tests": { "without_work": shown } }));
    let summary = "1 passed; warning: 1 new test passes without the work: test_a".to_owned();
    claim(&[Evidence { detail, summary, ..tests(Outcome::Pass) }])
}

fn in_run(input: Input, run: RunState) -> Input {
    let memory = Some(LoopState { breaker: Breaker::default(), hold: None, run });
    Input { stateful: true, memory, ..input }
}

#[test]
fn the_agent_is_asked_for_a_test_once_a_run() {
    let first = judge(&in_run(idle(), RunState::default()), &checked());
    let says = "untested-change: tests: the new test passes without the work: test_a";
    assert_eq!(reasons(&first.decision), [says]);
    assert_eq!(first.decision.verdict, Verdict::Continue);
    assert!(first.decision.feedback.contains("test_a"), "{}", first.decision.feedback);
    let run = first.memory.unwrap().run;
    assert!(run.asked_for_test);
    let second = judge(&in_run(idle(), run), &checked()).decision;
    assert_eq!(second.verdict, Verdict::Exit);
    let warnings: Vec<_> = second.warnings.iter().map(|warning| warning.code.code()).collect();
    assert_eq!(warnings, ["change-without-test"]);
}

#[test]
fn what_the_agent_is_asked_for_is_no_warning_and_all_else_is() {
    let flaky = strings(&["b"]);
    let lint = Evidence { flaky, ..record("lint", Mode::Count, Outcome::Pass, "") };
    let mut input = in_run(idle(), RunState::default());
    input.evidence.push(lint);
    let decision = judge(&input, &checked()).decision;
    let warnings: Vec<_> = decision.warnings.iter().map(|warning| warning.code.code()).collect();
    assert_eq!(warnings, ["flaky"]);
    // Another reason for the same check takes no warning away.
    let red = record("tests", Mode::Require, Outcome::Fail, "");
    input.evidence.push(red);
    input.evidence.push(Evidence { flaky: strings(&["c"]), ..tests(Outcome::Pass) });
    let decision = judge(&input, &checked()).decision;
    let told = |message: &str| decision.warnings.iter().any(|w| w.message.starts_with(message));
    assert!(told("tests passed only when it was run again: c"), "{:?}", decision.warnings);
}

#[test]
fn without_state_nothing_is_asked() {
    assert_eq!(decide(&idle(), &checked()).verdict, Verdict::Exit);
}

#[test]
fn what_else_is_missing_comes_first() {
    let input = Input { signal: Signal::absent(), ..idle() };
    let judged = judge(&in_run(input, RunState::default()), &checked());
    assert!(!judged.memory.unwrap().run.asked_for_test, "{:?}", judged.decision.reasons);
}
