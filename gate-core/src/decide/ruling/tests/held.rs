//! What stops a run, or makes it wait, whatever the agent says.

use super::*;
use crate::decide::breaker::{Breaker, BreakerState, Cause, Trip};
use crate::decide::iteration_facts::{Outage, OutageCause, TreeSeen, TreeState};
use crate::decide::run_state::{LoopState, RunState};
use crate::decide::stop::Stop;

fn memory(breaker: Breaker, run: RunState) -> LoopState {
    LoopState { breaker, hold: None, run }
}

fn stateful(memory: Option<LoopState>) -> Input {
    Input { stateful: true, memory, ..claim(&[tests(Outcome::Pass)]) }
}

#[test]
fn a_breaker_that_is_not_closed_says_why_before_anything_else_counts() {
    let trip = Some(Trip { cause: Cause::Refused, message: "5 claims".to_owned() });
    for (state, trip, expected) in [
        (BreakerState::Open, trip.clone(), "breaker-open: the breaker stopped this loop: 5 claims"),
        (
            BreakerState::Open,
            None,
            "breaker-open: the breaker stopped this loop: no reason recorded",
        ),
        (
            BreakerState::HalfOpen,
            trip.clone(),
            "breaker-open: the breaker lets one iteration try again, and another one is trying now: 5 claims",
        ),
        (BreakerState::Isolated, trip, "breaker-isolated: an operator stopped this loop: 5 claims"),
    ] {
        let breaker = Breaker { state, trip, ..Breaker::default() };
        let input = stateful(Some(memory(breaker, RunState::default())));
        check(&input, &checked(), Verdict::Tripped, &[expected]);
        let blocked = Input { signal: said(Status::Blocked).signal, ..input };
        check(&blocked, &checked(), Verdict::Tripped, &[expected]);
    }
}

#[test]
fn the_operators_hold_is_named_and_not_the_loops_own_breaker() {
    let open = |cause, message: &str| Breaker {
        state: BreakerState::Open,
        trip: Some(Trip { cause, message: message.to_owned() }),
        ..Breaker::default()
    };
    let own_breaker = open(Cause::Refused, "5 claims");
    let hold = Some(open(Cause::Operator, "lunch"));
    let held_twice = LoopState { hold, ..memory(own_breaker.clone(), RunState::default()) };
    let reason = "breaker-open: the breaker stopped this loop: lunch";
    check(&stateful(Some(held_twice)), &checked(), Verdict::Tripped, &[reason]);
    let over =
        LoopState { hold: Some(Breaker::default()), ..memory(own_breaker, RunState::default()) };
    let reason = "breaker-open: the breaker stopped this loop: 5 claims";
    check(&stateful(Some(over)), &checked(), Verdict::Tripped, &[reason]);
}

#[test]
fn a_state_that_was_lost_is_an_open_breaker() {
    let untrusted =
        "breaker-open: the breaker stops this loop, because its state cannot be trusted";
    let reason = |why: &str| format!("{untrusted}: {why}");
    check(&stateful(None), &checked(), Verdict::Tripped, &[&reason("it is missing")]);
    let torn = Input { lost: Some("it is torn".to_owned()), ..stateful(None) };
    check(&torn, &checked(), Verdict::Tripped, &[&reason("it is torn")]);
    let stateless = Input { stateful: false, ..torn };
    assert_eq!(decide(&stateless, &checked()).verdict, Verdict::Exit);
}

#[test]
fn a_budget_that_was_spent_before_holds_beside_an_open_breaker() {
    let mut policy = checked();
    policy.budget.iterations = 2;
    policy.budget.tokens = 1_000;
    let mut run = RunState::default();
    (run.spent.iterations, run.spent.tokens) = (2, 1_500);
    let spent = [
        "budget-spent: budget spent: 2 of 2 iterations",
        "budget-spent: budget spent: 1,500 of 1,000 tokens",
    ];
    let input = stateful(Some(memory(Breaker::default(), run.clone())));
    check(&input, &policy, Verdict::Tripped, &spent);
    let open = Breaker { state: BreakerState::Open, ..Breaker::default() };
    let input = stateful(Some(memory(open, run)));
    let first = "breaker-open: the breaker stopped this loop: no reason recorded";
    check(&input, &policy, Verdict::Tripped, &[first, spent[0], spent[1]]);
}

#[test]
fn passing_iterations_are_counted_in_a_row_of_the_same_settings() {
    let mut policy = checked();
    policy.exit_gate.consecutive = 3.try_into().unwrap();
    let passed = |passed_in_a_row, settings: &str| {
        let settings = Some(settings.to_owned());
        let run = RunState { passed_in_a_row, settings, ..RunState::default() };
        let mut input = stateful(Some(memory(Breaker::default(), run)));
        input.observed.settings = Some("a".to_owned());
        input
    };
    let reason = |count: u32| {
        format!("consecutive-not-reached: this iteration passes: {count} of 3 in a row")
    };
    for (before, settings, now) in [(0, "a", 1), (1, "a", 2), (2, "b", 1)] {
        check(&passed(before, settings), &policy, Verdict::Continue, &[&reason(now)]);
    }
    assert_eq!(decide(&passed(2, "a"), &policy).verdict, Verdict::Exit);
    let red = Input { evidence: vec![tests(Outcome::Fail)], ..passed(1, "a") };
    check(&red, &policy, Verdict::Continue, &["required-check-failed: tests failed"]);
}

#[test]
fn tasks_in_the_background_are_waited_for_where_nothing_else_is_missing() {
    let mut input = claim(&[tests(Outcome::Pass)]);
    let stop = |tasks: &[&str]| Stop {
        agent: "codex".to_owned(),
        prompt: None,
        background: strings(tasks),
        situation: None,
    };
    for (tasks, expected) in [
        (&["npm run dev"][..], "a background task is still running: npm run dev"),
        (
            &["npm run dev", "a watcher"],
            "2 background tasks are still running, one of them npm run dev",
        ),
    ] {
        input.observed.stop = Some(stop(tasks));
        let reason = format!("background-running: {expected}");
        check(&input, &checked(), Verdict::Continue, &[&reason]);
    }
    input.evidence = vec![tests(Outcome::Fail)];
    check(&input, &checked(), Verdict::Continue, &["required-check-failed: tests failed"]);
}

fn outage(cause: OutageCause) -> Outage {
    Outage { cause, text: String::new(), stderr: String::new(), count: 1, gives_up: None }
}

#[test]
fn an_agent_that_could_not_work_says_so_first_and_only_a_cancelled_loop_forbids_by_it() {
    for (cause, expected) in [
        (OutageCause::Limit, "rate-limited: the agent's service refused the request"),
        (
            OutageCause::Connection,
            "agent-unavailable: the agent lost the connection to its service",
        ),
        (OutageCause::Crash, "agent-unavailable: the agent's program failed at its start"),
        (OutageCause::Cancelled, "cancelled: the loop was ended while the agent worked"),
    ] {
        let mut silent = said(Status::Absent);
        silent.observed.outage = Some(outage(cause));
        let absent = "signal-absent: the agent's final message contains no exit signal";
        check(&silent, &policy(""), Verdict::Continue, &[expected, absent]);
        let mut green = claim(&[]);
        green.observed.outage = Some(outage(cause));
        let forbids = cause == OutageCause::Cancelled;
        let verdict = if forbids { Verdict::Continue } else { Verdict::Exit };
        assert_eq!(decide(&green, &policy("")).verdict, verdict, "{cause:?}");
    }
}

#[test]
fn an_outage_quotes_the_client_and_ends_the_loop_where_it_lasted_too_long() {
    let mut input = said(Status::Complete);
    input.signal.problems = vec!["two values".to_owned()];
    input.observed.outage = Some(Outage {
        text: "exit status 127".to_owned(),
        stderr: "codex: not found".to_owned(),
        gives_up: Some("it failed for 3h".to_owned()),
        ..outage(OutageCause::Crash)
    });
    check(
        &input,
        &policy(""),
        Verdict::Tripped,
        &[
            "backoff-limit: it failed for 3h",
            "agent-unavailable: the agent's program failed at its start: exit status 127; \
             its standard error ends: codex: not found",
            "signal-contradicts: two values",
        ],
    );
}

#[test]
fn a_program_that_changed_the_tree_before_it_failed_did_work() {
    let tree = |digest: &str| TreeState { digest: digest.to_owned(), head: None, branches: None };
    let crashed = |left: &str| {
        let run = RunState { tree: Some(tree(left)), ..RunState::default() };
        let mut input = stateful(Some(memory(Breaker::default(), run)));
        input.evidence = vec![tests(Outcome::Fail)];
        let (before, after) = (tree("b"), tree("b"));
        input.observed.tree = Some(TreeSeen {
            before,
            after,
            uncommitted: None,
            changed_files: None,
            since_beginning: None,
        });
        input.observed.outage = Some(outage(OutageCause::Crash));
        reasons(&decide(&input, &checked()))
    };
    let red = "required-check-failed: tests failed";
    assert_eq!(crashed("a"), [red]);
    let failed = "agent-unavailable: the agent's program failed at its start";
    assert_eq!(crashed("b"), [failed, red]);
}

#[test]
fn settings_that_changed_are_a_persons_to_look_at_once_nothing_else_is_missing() {
    let changed = |outcome| Input {
        settings_changed: Some("gate.toml changed".to_owned()),
        ..claim(&[tests(outcome)])
    };
    let reason = "settings-changed: gate.toml changed";
    check(&changed(Outcome::Pass), &checked(), Verdict::Blocked, &[reason]);
    let red = ["required-check-failed: tests failed"];
    check(&changed(Outcome::Fail), &checked(), Verdict::Continue, &red);
}
