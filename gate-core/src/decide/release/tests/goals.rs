//! Goals of persons at stops.

use super::*;
use crate::decide::checks::{CheckKind, GOAL};
use crate::decide::policy::Criterion;

/// A policy with a goal as its only check.
fn goal_policy() -> Policy {
    let mut policy = policy("[breaker]\nrefused = 0\nno_progress = 0\n[checks.goal]\n");
    let (id, text) = ("goal-1".to_owned(), "tax".to_owned());
    let check = policy.checks.get_mut(GOAL).unwrap();
    check.criteria =
        vec![Criterion { id, text, verify: vec!["true".to_owned()], supersedes: Vec::new() }];
    assert_eq!(CheckKind::for_check(GOAL, check), CheckKind::Criteria);
    policy
}

#[test]
fn a_goal_that_fails_in_another_way_refuses_anew() {
    let policy = goal_policy();
    let run = RunState::default();
    let mut memory = LoopState { breaker: Breaker::default(), hold: None, run };
    let outputs = [
        "no column at 0x7f3ac1 (0.1s)",
        "no column at 0x7f3bd2 (0.2s)",
        "no column at 0x7f3ce3 (0.3s)",
        "no rate at 0x7f3ce3 (0.1s)",
    ];
    let ends = outputs.map(|output| {
        let record = required(GOAL, Outcome::Fail, "not met: tax");
        let record = Evidence { excerpt: Some(output.to_owned()), ..record };
        let mut input = stop(Status::Absent, changed(), &[record]);
        (input.stateful, input.memory) = (true, Some(memory.clone()));
        let (end, messages) = ruled(&input, &policy);
        memory = judge(&input, &policy).memory.unwrap();
        if end == "red" { messages.concat() } else { end }
    });
    let released = "goal is still red after 2 refusals";
    assert_eq!(ends, ["continue", "continue", released, "continue"]);
}

#[test]
fn a_goal_that_is_met_is_told_by_its_words() {
    let met = required(GOAL, Outcome::Pass, "met: tax");
    check(
        &stop(Status::Absent, changed(), &[met]),
        &goal_policy(),
        "green",
        &["passed: goal met: tax"],
    );
}

#[test]
fn work_that_remains_frees_nobody_from_a_goal() {
    let bound = Situation { has_goal: true, ..changed() };
    let red = [required(GOAL, Outcome::Fail, "not met: tax")];
    let input = stop(Status::Continue, bound, &red);
    check(&input, &goal_policy(), "continue", &["goal failed: not met: tax"]);
    let idle = Situation { has_goal: true, ..Situation::default() };
    assert_eq!(ruled(&stop(Status::Continue, idle, &red), &goal_policy()).0, "not run");
}
