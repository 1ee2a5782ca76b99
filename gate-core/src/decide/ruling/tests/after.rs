//! Decisions describe themselves, and leave a state to the next one.

use serde_json::json;

use super::*;
use crate::decide::breaker::{Breaker, BreakerView};
use crate::decide::changed_tests::ChangedTests;
use crate::decide::decision::judge;
use crate::decide::iteration_facts::{Outage, OutageCause};
use crate::decide::policy::Threshold;
use crate::decide::run_state::{LoopState, RunState};
use crate::decide::signal::TokenHalves;

fn in_run(run: RunState, input: Input) -> Input {
    let memory = LoopState { breaker: Breaker::default(), hold: None, run };
    Input { stateful: true, memory: Some(memory), ..input }
}

/// The run after the first decision in it.
fn run_after(input: Input) -> RunState {
    judge(&in_run(RunState::default(), input), &checked()).memory.unwrap().run
}

#[test]
fn a_decision_says_what_waits_for_a_person() {
    let green = claim(&[tests(Outcome::Pass)]);
    let settings =
        Input { settings_changed: Some("gate.toml changed".to_owned()), ..green.clone() };
    let detail = json!({ "tests": { "changed": [{ "file": "a.py", "tests": ["a.py::x"] }] } });
    let changed = claim(&[Evidence { detail: Some(detail), ..tests(Outcome::Fail) }]);
    let waits = |input: &Input| {
        let decision = decide(input, &checked());
        (decision.waits_for_settings(), decision.waits_for_tests(), decision.changed_tests())
    };
    let (file, tests) = ("a.py".to_owned(), strings(&["a.py::x"]));
    assert_eq!(waits(&green), (false, false, vec![]));
    assert_eq!(waits(&settings), (true, false, vec![]));
    assert_eq!(waits(&changed), (false, true, vec![ChangedTests { file, tests, guarded: false }]));
}

#[test]
fn the_use_of_the_budget_includes_this_iteration() {
    let mut input = claim(&[]);
    input.observed.tokens = Some(11);
    assert_eq!(decide(&input, &checked()).spent(), None, "no state is kept");
    let mut run = RunState::default();
    (run.spent.iterations, run.spent.tokens) = (2, 100);
    let spent = decide(&in_run(run, input), &checked()).spent().unwrap();
    assert_eq!((spent.iterations, spent.tokens), (3, 111));
}

#[test]
fn only_a_state_that_was_lost_is_shown_as_an_open_breaker() {
    let shown = |stateful| {
        let input = Input { stateful, ..claim(&[tests(Outcome::Pass)]) };
        decide(&input, &checked()).breaker
    };
    assert_eq!((shown(false), shown(true)), (BreakerView::default(), BreakerView::lost()));
}

#[test]
fn only_an_agent_that_goes_on_is_given_the_next_token() {
    let halves = TokenHalves { first: "4fk3".to_owned(), second: "9vp8".to_owned() };
    let token = |outcome| {
        let input = Input { next_token: Some(halves.clone()), ..claim(&[tests(outcome)]) };
        decide(&input, &checked()).input.next_token
    };
    assert_eq!((token(Outcome::Pass), token(Outcome::Fail)), (None, Some(halves.clone())));
}

#[test]
fn only_an_agent_that_is_asked_to_wait_and_for_nothing_else_was_not_refused() {
    let running = Evidence { running: true, ..tests(Outcome::Skipped) };
    let lint = record("lint", Mode::Require, Outcome::Fail, "");
    let refused = |evidence: &[Evidence]| run_after(claim(evidence)).counters.refused;
    assert_eq!(refused(std::slice::from_ref(&running)), 0);
    assert_eq!(refused(&[running, lint]), 1);
    let mut strict = policy("");
    strict.exit_gate.threshold = Threshold::Fixed(2);
    let input = in_run(RunState::default(), claim(&[]));
    assert_eq!(judge(&input, &strict).memory.unwrap().run.counters.refused, 1);
}

#[test]
fn an_outage_feeds_no_counter_unless_the_gate_passes_all_the_same() {
    let outage = Outage {
        cause: OutageCause::Limit,
        text: String::new(),
        stderr: String::new(),
        count: 1,
        gives_up: None,
    };
    let during = |mut input: Input| {
        input.observed.outage = Some(outage.clone());
        run_after(input)
    };
    let silent = during(said(Status::Absent));
    assert_eq!((silent.counters.no_exit, silent.ended), (0, false));
    assert!(during(claim(&[tests(Outcome::Pass)])).ended);
    assert_eq!(run_after(said(Status::Absent)).counters.no_exit, 1);
}
