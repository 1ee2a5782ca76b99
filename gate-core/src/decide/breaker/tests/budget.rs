//! The budget: iterations, tokens, cost and time of a run.

use super::*;
use crate::decide::spent::Spent;

fn session(turn: Turn, session: &str, tokens: Option<u64>, cost: Option<u64>) -> Turn {
    let mut turn = turn;
    turn.input.observed.session = Some(session.to_owned()).filter(|name| !name.is_empty());
    turn.input.observed.tokens = tokens;
    turn.input.observed.cost_micro_usd = cost;
    turn
}

fn spent(turns: &[(&str, Option<u64>)]) -> Spent {
    let mut lap = Loop::new(|_| ());
    for (name, tokens) in turns {
        lap.feed(session(works(), name, *tokens, tokens.map(|tokens| tokens * 3)));
    }
    assert_eq!(lap.memory.run.spent.cost_micro_usd, lap.memory.run.spent.tokens * 3);
    lap.memory.run.spent
}

#[test]
fn a_session_that_goes_on_tells_its_sum_again() {
    assert_eq!(spent(&[("a", Some(100)), ("a", Some(250)), ("a", Some(250))]).tokens, 250);
}

#[test]
fn what_a_client_reports_for_each_call_counts_whole_also_if_the_session_goes_on() {
    let call = |tokens: u64| {
        let mut turn = session(works(), "a", Some(tokens), Some(tokens * 3));
        turn.input.observed.is_of_call = true;
        turn
    };
    let mut lap = Loop::new(|_| ());
    for tokens in [100, 250, 40, 40] {
        lap.feed(call(tokens));
    }
    let spent = &lap.memory.run.spent;
    assert_eq!((spent.tokens, spent.cost_micro_usd), (430, 1290));
    // A log with the calls one after the other repeats what came before.
    lap.feed(session(works(), "a", Some(90), Some(270)));
    assert_eq!(lap.memory.run.spent.tokens, 480);
}

#[test]
fn sessions_add_up() {
    assert_eq!(spent(&[("a", Some(100)), ("b", Some(50)), ("b", Some(70))]).tokens, 170);
}

#[test]
fn without_a_session_each_transcript_adds() {
    assert_eq!(spent(&[("", Some(100)), ("", Some(100))]).tokens, 200);
}

#[test]
fn a_session_that_begins_again_adds_what_it_tells() {
    assert_eq!(spent(&[("a", Some(100)), ("a", Some(30))]).tokens, 130);
}

#[test]
fn a_transcript_that_tells_nothing_makes_nothing_count_twice() {
    assert_eq!(spent(&[("a", Some(100)), ("a", None), ("a", Some(120))]).tokens, 120);
    assert_eq!(spent(&[("a", Some(100)), ("b", None), ("b", Some(20))]).tokens, 120);
}

#[test]
fn a_budget_ends_its_run_from_where_it_is_spent_and_opens_no_breaker() {
    type Set = fn(&mut Budget, u64);
    let cases: [(&str, Set); 4] = [
        (" of 4 iterations", |it, n| it.iterations = n as u32),
        (" of 400 tokens", |it, n| it.tokens = n * 100),
        (" of $0.04", |it, n| it.cost_micro_usd = n * 10_000),
        (" of 4m", |it, n| it.wall_ms = n * MINUTE),
    ];
    for (words, set) in cases {
        let mut lap = Loop::new(|policy| set(&mut policy.budget, 4));
        let turn = session(works(), "", Some(100), Some(10_000));
        assert_eq!(lap.repeat(3, &turn), [Verdict::Continue; 3], "{words}");
        for decision in [lap.feed(turn.clone()), lap.feed(turn), lap.feed(passes())] {
            assert_eq!(decision.verdict, Verdict::Tripped, "{words}");
            assert_eq!(decision.reasons[0].code, ReasonCode::BudgetSpent);
            assert!(decision.reasons[0].message.ends_with(words), "{:?}", decision.reasons);
            assert!(lap.memory.breaker.is_closed());
        }
    }
}

#[test]
fn the_iteration_that_passes_is_exit_with_the_budget_spent() {
    let mut lap = Loop::new(|policy| policy.budget.iterations = 1);
    assert_eq!(lap.feed(passes()).verdict, Verdict::Exit);
}

#[test]
fn limited_iterations_cost_as_well() {
    let mut lap = Loop::new(|policy| policy.budget.tokens = 150);
    let turn = session(works().limited(), "", Some(100), None);
    assert_eq!(lap.repeat(2, &turn), [Verdict::Continue, Verdict::Tripped]);
}

#[test]
fn a_clock_that_goes_backwards_does_not_give_the_time_back() {
    let mut lap = Loop::new(|policy| policy.budget.wall_ms = 5 * MINUTE);
    lap.repeat(3, &works());
    lap.now -= 100 * MINUTE;
    assert_eq!(lap.feed(works()).verdict, Verdict::Continue);
    assert_eq!(lap.memory.run.spent.wall_ms, 3 * MINUTE);
    assert_eq!(lap.repeat(2, &works()), [Verdict::Continue, Verdict::Tripped]);
}

#[test]
fn a_budget_that_is_spent_stays_spent_for_its_run_alone() {
    let mut lap = Loop::new(|policy| policy.budget.iterations = 2);
    lap.repeat(2, &works());
    assert_eq!(lap.feed(passes()).verdict, Verdict::Tripped);
    lap.memory.run = RunState::begins(&lap.at(), lap.memory.resets());
    assert_eq!(lap.feed(works().tests(Outcome::Pass)).verdict, Verdict::Continue);
}

#[test]
fn a_probe_that_mends_the_cause_does_not_go_past_the_budget() {
    let mut lap = Loop::new(|policy| {
        policy.breaker.same_error = 2;
        policy.budget.iterations = 3;
    });
    lap.repeat(2, &claims().error("e"));
    assert_eq!(lap.cause(), Some(Cause::SameError));
    lap.cool_down();
    let decision = lap.probe(claims().error("f"));
    assert_eq!(decision.verdict, Verdict::Tripped);
    assert_eq!(decision.reasons[0].message, "budget spent: 3 of 3 iterations");
    assert!(lap.memory.breaker.is_closed(), "what had tripped it is gone");
}

#[test]
fn a_probe_that_passes_the_gate_is_exit_with_the_budget_spent() {
    let mut lap = Loop::new(|policy| {
        policy.breaker.same_error = 2;
        policy.budget.iterations = 3;
    });
    lap.repeat(2, &claims().error("e"));
    lap.cool_down();
    assert_eq!(lap.probe(passes()).verdict, Verdict::Exit);
    assert!(lap.memory.breaker.is_closed());
}
