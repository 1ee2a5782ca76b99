//! The state after a decision of each kind.

use serde_json::json;

use super::*;
use crate::decide::breaker::{BreakerState, Cause, Probe};

#[test]
fn what_passed_under_other_settings_counts_no_more() {
    let named = |name: Option<&str>| name.map(str::to_owned);
    let passed = |run: Option<&str>, now: Option<&str>| {
        let run = RunState { passed_in_a_row: 3, settings: named(run), ..RunState::default() };
        let observed = IterationFacts { settings: named(now), ..IterationFacts::default() };
        let noted = run.noted(&observed);
        assert_eq!(noted.settings, named(now.or(run.settings.as_deref())));
        assert_eq!(noted.passed_in_a_row, run.passed_under(&observed));
        noted.passed_in_a_row
    };
    assert_eq!((passed(Some("a"), Some("a")), passed(None, None)), (3, 3));
    for (run, now) in [(Some("a"), Some("b")), (None, Some("a")), (Some("a"), None)] {
        assert_eq!(passed(run, now), 0, "{run:?} {now:?}");
    }
}

fn at(wall_ms: u64) -> Timestamp {
    Timestamp { boot: "boot".to_owned(), uptime_ms: wall_ms, wall_ms }
}

fn tree(digest: &str) -> TreeState {
    TreeState { digest: digest.to_owned(), head: None, branches: None }
}

/// A run in trouble after its third iteration.
fn troubled() -> LoopState {
    let run = RunState {
        iteration: 3,
        last: at(1_000),
        counters: Counters { no_exit: 3, same_error: 2, ..Counters::default() },
        signature: Some("E0382".to_owned()),
        tree: Some(tree("old")),
        outputs: vec![400, 300],
        passed_in_a_row: 1,
        spent: Spent { iterations: 3, tokens: 100, wall_ms: 50, ..Spent::default() },
        ..RunState::default()
    };
    LoopState { breaker: Breaker::default(), hold: None, run }
}

/// Its fourth iteration, which used tokens and time, and left a tree or not.
fn fourth(left: Option<&str>) -> IterationFacts {
    let seen = |left| crate::decide::iteration_facts::TreeSeen {
        before: tree("before"),
        after: tree(left),
        uncommitted: None,
        changed_files: None,
        since_beginning: None,
    };
    IterationFacts {
        at: at(1_500),
        iteration: 4,
        tokens: Some(11),
        tree: left.map(seen),
        ..IterationFacts::default()
    }
}

#[test]
fn a_stop_that_is_let_go_green_begins_the_counters_anew_and_no_other_does() {
    let before = troubled();
    let noted = before.run.noted(&fourth(None));
    assert_eq!((noted.iteration, noted.spent.iterations), (4, 4));
    assert_eq!((noted.spent.tokens, noted.spent.wall_ms), (111, 550));
    for (released, left) in [(Released::Red, None), (Released::NotRun, Some("new"))] {
        let after = before.released(released, &fourth(left));
        let tree = Some(tree(left.unwrap_or("old")));
        assert_eq!(after.memory.run, RunState { tree, ..noted.clone() }, "{released:?}");
        assert_eq!((after.change, after.trips), (None, Vec::new()));
    }
    let green = before.released(Released::Green, &fourth(Some("new"))).memory.run;
    let expected = RunState {
        tree: Some(tree("new")),
        counters: Counters::default(),
        signature: None,
        ..noted
    };
    assert_eq!(green, expected);
}

#[test]
fn an_iteration_in_which_the_agent_could_not_work_costs_tokens_and_is_none() {
    let before = troubled();
    let mut expected = before.run.noted(&fourth(None));
    expected.spent.iterations = 3;
    let after = before.idle(&fourth(Some("new")));
    assert_eq!(after.memory, LoopState { run: expected, ..before });
    assert_eq!((after.change, after.trips), (None, Vec::new()));
}

#[test]
fn the_operators_end_and_a_held_decision_count_nothing() {
    let before = troubled();
    let noted = before.run.noted(&fourth(None));
    let forced = before.forced(&fourth(None)).memory.run;
    assert_eq!(forced, RunState { ended: true, ..noted.clone() });
    assert_eq!(before.held(&fourth(Some("new"))).memory.run, noted);
}

#[test]
fn a_limit_changes_its_own_counter_alone() {
    let limited = Iteration { limited: true, output: 9, ..Iteration::default() };
    let run = troubled().run;
    let after = run.clone().counted(&limited);
    let counters = Counters { rate_limited: 1, ..run.counters };
    assert_eq!(after, RunState { counters, ..run });
}

#[test]
fn the_lengths_of_six_outputs_are_kept_until_one_passes() {
    let wrote = |output| Iteration { output, ..Iteration::default() };
    let mut run = RunState::default();
    for output in 1..=8 {
        run = run.counted(&wrote(output));
    }
    assert_eq!(run.outputs, [3, 4, 5, 6, 7, 8]);
    let passed = run.counted(&Iteration { passed: true, ..wrote(9) });
    assert_eq!((passed.outputs, passed.passed_in_a_row, passed.ended), (Vec::new(), 1, false));
}

#[test]
fn a_probe_of_the_operators_hold_leaves_the_loops_own_breaker_as_it_is() {
    let half_open = |cause| Breaker {
        state: BreakerState::HalfOpen,
        trip: Some(Trip { cause, message: "because".to_owned() }),
        snapshot: Some(TripSnapshot::default()),
        probe: Some(Probe { id: "me".to_owned(), since: at(0), limit_ms: 9 }),
        ..Breaker::default()
    };
    let own = Breaker { calm: 2, level: 3, ..Breaker::default() };
    let hold = Some(half_open(Cause::Operator));
    let held = LoopState { breaker: own.clone(), hold, ..troubled() };
    let passes = Iteration { passed: true, measured: true, ..Iteration::default() };
    let update = |iteration| held.after(iteration, &fourth(None), &Policy::default());
    let closed = update(&passes).memory;
    assert_eq!((&closed.breaker, closed.governing()), (&own, &own));
    assert!(closed.hold.as_ref().is_some_and(Breaker::is_closed));
    assert_eq!((closed.run.counters, closed.run.outputs), (Counters::default(), Vec::new()));
    let failed = update(&Iteration::default());
    assert_eq!(failed.memory.breaker, own);
    assert_eq!(failed.memory.governing().state, BreakerState::Open);
    assert_eq!(failed.trips[0].message, "because");
    assert_eq!(failed.memory.breaker_view().trip.as_deref(), Some("operator"));
}

#[test]
fn resets_of_both_breakers_end_a_run() {
    let mut memory = troubled();
    memory.breaker.resets = 2;
    assert_eq!(memory.resets(), 2);
    memory.hold = Some(Breaker { resets: u64::MAX, ..Breaker::default() });
    assert_eq!(memory.resets(), u64::MAX);
    let run = RunState::begins(&at(0), 2);
    assert!(!run.is_over(&at(1), 2) && run.is_over(&at(1), 3) && run.is_over(&at(1), 1));
    assert!(!run.is_over(&at(MAX_SILENCE_MS - 1), 2) && run.is_over(&at(MAX_SILENCE_MS), 2));
    assert!(RunState { ended: true, ..run }.is_over(&at(1), 2));
}

#[test]
fn a_state_of_an_older_gate_is_read_and_written_without_what_it_did_not_know() {
    let time = json!({ "boot": "boot", "uptime_ms": 5, "wall_ms": 5 });
    let old = json!({
        "breaker": { "state": "closed" },
        "run": { "iteration": 7, "started": time, "last": time },
    });
    let read: LoopState = serde_json::from_value(old).unwrap();
    let run = RunState { iteration: 7, ..RunState::begins(&at(5), 0) };
    assert_eq!(read, LoopState { breaker: Breaker::default(), hold: None, run });
    let written = serde_json::to_value(&read).unwrap();
    for key in ["hold", "run/refusals", "run/settings", "run/user_settings", "run/sealed_refusals"]
    {
        assert_eq!(written.pointer(&format!("/{key}")), None, "{key}");
    }
}

#[test]
fn what_a_run_counted_is_read_as_it_was_written() {
    let refusals = Refusals { blocks: 2, ..Refusals::default() };
    let run = RunState { sealed_refusals: 2, told_of_tests: true, refusals, ..troubled().run };
    let written = serde_json::to_string(&run).unwrap();
    assert_eq!(serde_json::from_str::<RunState>(&written).unwrap(), run);
}

#[test]
fn the_settings_of_the_user_are_those_of_the_runs_beginning() {
    let named = |name: &str| Some(name.to_owned());
    let observed = IterationFacts { user_settings: named("now"), ..fourth(None) };
    let run = troubled().run;
    assert_eq!(run.noted(&observed).user_settings, named("now"));
    let begun = RunState { user_settings: named("then"), ..run };
    assert_eq!(begun.noted(&observed).user_settings, named("then"));
}

#[test]
fn an_error_that_could_not_be_measured_on_keeps_the_row_that_there_is() {
    let signature = Some("E0599".to_owned());
    let unsure = Iteration { inconclusive: true, signature, ..Iteration::default() };
    assert_eq!(troubled().run.counted(&unsure).signature.as_deref(), Some("E0382"));
    let first = RunState::default().counted(&unsure);
    assert_eq!(first.signature.as_deref(), Some("E0599"));
}
