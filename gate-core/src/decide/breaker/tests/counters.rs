//! The counters: what each iteration does to them.

use super::*;
use crate::decide::breaker::Counters;

/// Four different kinds of trouble at once.
fn trouble() -> Turn {
    claims().still().error("red").denied()
}

fn troubled() -> (Loop, Counters) {
    let mut lap = Loop::new(|_| ());
    lap.feed(trouble().left(Left::Moved));
    lap.repeat(2, &trouble());
    let counters = lap.memory.run.counters;
    let expected = Counters {
        no_exit: 3,
        refused: 3,
        no_progress: 2,
        same_error: 3,
        permission_denied: 3,
        ..Counters::default()
    };
    assert_eq!(counters, expected);
    (lap, counters)
}

#[test]
fn a_limit_feeds_no_other_counter() {
    let (mut lap, before) = troubled();
    let run = lap.memory.run.clone();
    lap.feed(works().limited().writes(7));
    lap.feed(claims().still().error("other").denied().limited());
    assert_eq!(lap.memory.run.counters, Counters { rate_limited: 2, ..before });
    let counted_run = lap.memory.run.clone();
    assert_eq!((counted_run.tree, counted_run.signature), (run.tree, run.signature));
    assert_eq!((counted_run.outputs, counted_run.checks), (run.outputs, run.checks));
    lap.feed(trouble());
    assert_eq!(lap.memory.run.counters.rate_limited, 0);
    assert_eq!(lap.memory.run.counters.same_error, before.same_error + 1);
}

#[test]
fn what_could_not_be_measured_clears_nothing() {
    let (mut lap, before) = troubled();
    lap.feed(works().tests(Outcome::Inconclusive).still());
    let counted_run = lap.memory.run.counters;
    let expected = Counters { no_exit: 4, no_progress: 3, inconclusive: 1, ..before };
    assert_eq!(counted_run, expected);
}

#[test]
fn what_could_not_be_measured_does_not_break_the_row_of_an_error() {
    for between in [unsure(), unsure().error("of the infrastructure")] {
        let (mut lap, before) = troubled();
        lap.feed(between);
        assert_eq!(lap.memory.run.counters.same_error, before.same_error);
        lap.feed(trouble());
        assert_eq!(lap.memory.run.counters.same_error, before.same_error + 1);
        lap.feed(claims().error("another"));
        assert_eq!(lap.memory.run.counters.same_error, 1);
    }
}

#[test]
fn an_unmeasured_iteration_with_the_same_error_counts_it() {
    let (mut lap, before) = troubled();
    lap.feed(unsure().error("red"));
    assert_eq!(lap.memory.run.counters.same_error, before.same_error + 1);
}

#[test]
fn only_a_measured_change_of_the_tree_clears_the_lack_of_progress() {
    for (between, left) in [(unsure(), 0), (unsure().still(), 3), (unsure().left(Left::Unseen), 2)]
    {
        let (mut lap, _) = troubled();
        lap.feed(between);
        assert_eq!(lap.memory.run.counters.no_progress, left);
    }
}

#[test]
fn a_measured_iteration_without_trouble_clears_all_but_no_exit() {
    let (mut lap, _) = troubled();
    lap.feed(works());
    assert_eq!(lap.memory.run.counters, Counters { no_exit: 4, ..Counters::default() });
}

#[test]
fn an_iteration_that_passes_clears_all() {
    let (mut lap, _) = troubled();
    lap.policy.exit_gate.consecutive = std::num::NonZeroU32::new(2).expect("not zero");
    let decision = lap.feed(passes().still());
    assert_eq!(decision.verdict, Verdict::Continue);
    assert_eq!(lap.memory.run.counters, Counters::default());
    assert_eq!(lap.feed(passes().still()).verdict, Verdict::Exit);
    assert!(lap.memory.run.ended);
}

#[test]
fn passing_in_a_row_is_broken_by_any_other_iteration_but_a_limited_one() {
    for (between, row) in [(works(), 0), (claims(), 0), (unsure(), 0), (works().limited(), 1)] {
        let mut lap = Loop::new(|policy| {
            policy.exit_gate.consecutive = std::num::NonZeroU32::new(3).expect("not zero");
        });
        lap.feed(passes());
        lap.feed(between);
        assert_eq!(lap.memory.run.passed_in_a_row, row);
    }
}

#[test]
fn of_two_gates_at_once_the_later_number_counts() {
    let mut lap = Loop::new(|_| ());
    lap.memory.run.iteration = 8;
    let observed = IterationFacts { at: lap.at(), iteration: 3, ..IterationFacts::default() };
    let memory = Some(lap.memory.clone());
    let input = Input { stateful: true, memory, observed, ..works().input };
    let judged = judge(&input, &lap.policy);
    assert_eq!(judged.memory.expect("state is kept").run.iteration, 8);
}
