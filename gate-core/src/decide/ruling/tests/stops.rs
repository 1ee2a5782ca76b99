//! Stops that a hook asks about: what an earlier refusal changes, and what only a person can do.

use serde_json::json;

use super::*;
use crate::decide::breaker::Breaker;
use crate::decide::run_state::{LoopState, RunState};
use crate::decide::situation::{Situation, Work};
use crate::decide::stop::{Refusals, Stop};

/// A stop in a run that has this state, without its circumstances: it is decided as a loop's
/// iteration is.
fn stopped(input: Input, run: RunState) -> Input {
    let memory = Some(LoopState { breaker: Breaker::default(), hold: None, run });
    let mut input = Input { stateful: true, memory, ..input };
    let agent = "codex".to_owned();
    let stop = Stop { agent, prompt: None, background: Vec::new(), situation: None };
    input.observed.stop = Some(stop);
    input
}

fn refused(refusals: Refusals) -> RunState {
    RunState { refusals, ..RunState::default() }
}

#[test]
fn a_stop_is_refused_as_often_as_the_settings_say() {
    let mut policy = policy("");
    policy.hook.max_blocks = 3;
    let after = |blocks| refused(Refusals { blocks, ..Refusals::default() });
    let goes_on = || stopped(said(Status::Continue), after(2));
    let remains = "signal-continue: the agent says that work remains";
    check(&goes_on(), &policy, Verdict::Continue, &[remains]);
    let limit = "max-blocks: the stop was refused 3 times, the limit of `hook.max_blocks`";
    let once_more = stopped(said(Status::Continue), after(3));
    check(&once_more, &policy, Verdict::Tripped, &[limit, remains]);
    let mut in_a_loop = once_more;
    in_a_loop.observed.stop = None;
    check(&in_a_loop, &policy, Verdict::Continue, &[remains]);
}

#[test]
fn an_agent_that_was_given_the_protocol_once_needs_no_signal() {
    let silent = |reminded| {
        let input = Input { evidence: vec![tests(Outcome::Pass)], ..said(Status::Absent) };
        stopped(input, refused(Refusals { reminded, ..Refusals::default() }))
    };
    let absent = "signal-absent: the agent's final message contains no exit signal";
    check(&silent(false), &checked(), Verdict::Continue, &[absent]);
    assert_eq!(decide(&silent(true), &checked()).verdict, Verdict::Exit);
}

#[test]
fn tasks_in_the_background_are_waited_for_once() {
    let waiting = |waited| {
        let run = refused(Refusals { waited, ..Refusals::default() });
        let mut input = stopped(claim(&[tests(Outcome::Pass)]), run);
        input.observed.stop.as_mut().unwrap().background = strings(&["npm run dev"]);
        decide(&input, &checked()).verdict
    };
    assert_eq!((waiting(false), waiting(true)), (Verdict::Continue, Verdict::Exit));
}

#[test]
fn in_a_hook_the_approved_settings_suffice() {
    let settings_changed = Some("gate.toml changed".to_owned());
    let input = Input { settings_changed, ..claim(&[tests(Outcome::Pass)]) };
    let decision = decide(&stopped(input, RunState::default()), &checked());
    assert_eq!(decision.verdict, Verdict::Exit);
    assert!(decision.input.warnings.iter().any(|warning| warning.message == "gate.toml changed"));
}

#[test]
fn a_stop_with_changed_tests_is_refused_once_and_then_a_person_is_waited_for() {
    let two = policy("[checks.lint]\ncommand = [\"true\"]\n[checks.tests]\ncommand = [\"true\"]\n");
    let detail = json!({ "tests": { "changed": [{ "file": "a.py", "tests": ["a.py::x"] }] } });
    let changed = Evidence { detail: Some(detail), ..tests(Outcome::Fail) };
    let looked_at = |told_of_tests, lint| {
        let evidence = [changed.clone(), record("lint", Mode::Require, lint, "")];
        let run = RunState { told_of_tests, ..RunState::default() };
        let mut input = stopped(claim(&evidence), run);
        let situation = Situation { work: Work::Changed, ..Situation::default() };
        input.observed.stop.as_mut().unwrap().situation = Some(situation);
        decide(&input, &two).verdict
    };
    assert_eq!(looked_at(false, Outcome::Pass), Verdict::Continue);
    assert_eq!(looked_at(true, Outcome::Pass), Verdict::Blocked);
    assert_eq!(looked_at(true, Outcome::Fail), Verdict::Continue, "lint is the agent's");
}
