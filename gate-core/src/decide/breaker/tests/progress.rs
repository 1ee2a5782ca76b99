//! Progress: what counts as one, and which iterations need none.

use super::*;

fn seen(before: (&str, Option<&str>), after: (&str, Option<&str>)) -> TreeSeen {
    let state = |(digest, head): (&str, Option<&str>)| TreeState {
        digest: digest.to_owned(),
        head: head.map(str::to_owned),
        branches: None,
    };
    TreeSeen {
        before: state(before),
        after: state(after),
        uncommitted: None,
        changed_files: None,
        since_beginning: None,
    }
}

/// How long the row without progress is after these looks at the tree.
fn row(looks: &[TreeSeen]) -> u32 {
    let mut lap = Loop::new(|_| ());
    for seen in looks {
        let observed =
            IterationFacts { at: lap.at(), tree: Some(seen.clone()), ..IterationFacts::default() };
        let memory = Some(lap.memory.clone());
        let input = Input { stateful: true, memory, observed, ..works().input };
        lap.memory = judge(&input, &lap.policy).memory.expect("state is kept");
    }
    lap.memory.run.counters.no_progress
}

#[test]
fn a_tree_that_stays_as_it_was_is_none() {
    let still = seen(("t", Some("c")), ("t", Some("c")));
    assert_eq!(row(&[still.clone(), still.clone(), still]), 2);
}

#[test]
fn a_commit_without_a_change_of_files_is_progress() {
    let before = seen(("t", Some("c1")), ("t", Some("c1")));
    assert_eq!(
        row(&[before.clone(), before.clone(), seen(("t", Some("c2")), ("t", Some("c2")))]),
        0
    );
    assert_eq!(row(&[before, seen(("t", None), ("t", None))]), 0, "the first commit's undoing");
}

#[test]
fn outside_git_another_digest_is_progress() {
    let first = seen(("t", None), ("t", None));
    assert_eq!(row(&[first.clone(), first.clone()]), 1);
    assert_eq!(row(&[first.clone(), first, seen(("u", None), ("u", None))]), 0);
}

#[test]
fn what_checks_write_is_not_the_agents_progress() {
    let wrote = |before, after| seen((before, None), (after, None));
    assert_eq!(row(&[wrote("a", "b"), wrote("b", "c"), wrote("c", "d")]), 2);
}

#[test]
fn the_first_iteration_is_compared_with_the_last_commit() {
    for (uncommitted, count) in [(Some(true), 0), (Some(false), 1), (None, 0)] {
        let look = TreeSeen { uncommitted, ..seen(("t", Some("c")), ("t", Some("c"))) };
        assert_eq!(row(&[look]), count);
    }
}

#[test]
fn a_tree_that_nobody_saw_neither_counts_nor_clears() {
    let mut lap = Loop::new(|policy| policy.breaker.no_progress = 3);
    lap.feed(works());
    lap.repeat(2, &works().still());
    assert_eq!(lap.repeat(9, &works().left(Left::Unseen)), [Verdict::Continue; 9]);
    assert_eq!(lap.feed(works().still()).verdict, Verdict::Tripped);
}

/// The row without progress after four more such iterations.
fn excused(turn: &Turn, set: impl FnOnce(&mut Policy)) -> u32 {
    let mut lap = Loop::new(set);
    lap.feed(works());
    lap.feed(works().still());
    lap.repeat(4, &turn.clone().still());
    lap.memory.run.counters.no_progress
}

fn with(mut turn: Turn, evidence: &[Evidence]) -> Turn {
    turn.input.evidence = evidence.to_vec();
    turn
}

fn of(check: &str, mode: Mode, outcome: Outcome) -> Evidence {
    Evidence::new(check, mode, outcome)
}

fn ticked(mode: Mode) -> Evidence {
    Evidence { claim: true, ..of("boxes", mode, Outcome::Pass) }
}

#[test]
fn finished_work_that_only_lacks_words_needs_no_progress() {
    assert_eq!(excused(&silent(), |_| ()), 1);
    let phrases = |policy: &mut Policy| {
        policy.exit_gate.enabled = true;
        policy.exit_gate.threshold = crate::decide::policy::Threshold::Fixed(2);
    };
    assert_eq!(excused(&passes(), phrases), 1);
    assert_eq!(excused(&silent(), phrases), 1);
}

#[test]
fn what_is_excused_clears_the_row_where_the_tree_moves_on() {
    let mut lap = Loop::new(|_| ());
    lap.feed(works());
    lap.repeat(2, &works().still());
    lap.feed(silent());
    assert_eq!(lap.memory.run.counters.no_progress, 0);
}

#[test]
fn words_without_evidence_excuse_nothing() {
    let nothing = with(silent(), &[]);
    assert_eq!(excused(&nothing, |_| ()), 5, "no check was run");
    assert_eq!(excused(&nothing, |policy| policy.checks.clear()), 5, "there is no check");
    let only_ticked = with(silent(), &[ticked(Mode::Require)]);
    assert_eq!(excused(&only_ticked, |policy| policy.checks.clear()), 5, "a claim is none");
    let warned = with(silent(), &[of("lint", Mode::Warn, Outcome::Pass)]);
    assert_eq!(excused(&warned, |policy| policy.checks.clear()), 5, "nor what is only shown");
}

#[test]
fn evidence_that_does_not_pass_excuses_nothing() {
    for outcome in [Outcome::Fail, Outcome::Inconclusive, Outcome::Tamper, Outcome::Skipped] {
        assert_eq!(excused(&silent().tests(outcome), |_| ()), 5, "{outcome:?}");
    }
}

#[test]
fn ticked_boxes_beside_green_tests_do_not_take_the_excuse_away() {
    let tests = of("tests", Mode::Require, Outcome::Pass);
    assert_eq!(excused(&with(silent(), &[tests, ticked(Mode::Require)]), |_| ()), 1);
}

#[test]
fn where_nothing_is_required_all_that_counts_has_to_pass() {
    let counted = |policy: &mut Policy| {
        policy.checks.values_mut().for_each(|check| check.mode = Mode::Count);
    };
    let tests = of("tests", Mode::Count, Outcome::Pass);
    assert_eq!(excused(&with(silent(), std::slice::from_ref(&tests)), counted), 1);
    let red = of("lint", Mode::Count, Outcome::Fail);
    assert_eq!(excused(&with(silent(), &[tests, red]), counted), 5);
}

#[test]
fn work_that_goes_on_is_not_excused_by_green_tests() {
    assert_eq!(excused(&works().tests(Outcome::Pass), |_| ()), 5);
}

#[test]
fn what_the_agent_says_of_its_progress_changes_nothing() {
    let boast = "40 files modified, 3 commits";
    let mut said = works();
    said.input.signal = Signal {
        reason: Some(boast.to_owned()),
        remaining_work: Some(boast.to_owned()),
        confidence: Some("high".to_owned()),
        fields_agree: true,
        ..said.input.signal
    };
    let quiet = excused(&works(), |_| ());
    assert_eq!((excused(&said, |_| ()), quiet), (5, 5));
}
