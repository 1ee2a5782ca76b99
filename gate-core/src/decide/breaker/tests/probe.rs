//! The probe: one at once, with a deadline, and what it takes to pass.

use super::*;
use crate::decide::breaker::Event;

/// A loop that tripped like this, and whose cool-down is over.
fn cool(set: impl FnOnce(&mut Policy), turn: &Turn) -> Loop {
    let mut lap = Loop::new(set);
    lap.feed(works());
    for _ in 0..6 {
        if lap.feed(turn.clone()).verdict == Verdict::Tripped {
            break;
        }
    }
    lap.cool_down();
    lap
}

fn stuck() -> Loop {
    cool(|policy| policy.breaker.no_progress = 2, &claims().still())
}

fn erring() -> Loop {
    cool(|policy| policy.breaker.same_error = 2, &claims().error("e"))
}

#[track_caller]
fn check(mut lap: Loop, turn: Turn, verdict: Verdict) {
    let turn_text = format!("{turn:?}");
    let decision = lap.probe(turn);
    let closed = lap.memory.breaker.is_closed();
    assert_eq!((decision.verdict, closed), (verdict, verdict != Verdict::Tripped), "{turn_text}");
    let change = lap.last.expect("a decision").change.expect("a probe moves the breaker");
    let event = if closed { Event::ProbePassed } else { Event::ProbeFailed };
    assert_eq!((change.from, change.event), (BreakerState::HalfOpen, event));
    if closed {
        assert_eq!(lap.memory.run.counters, crate::decide::breaker::Counters::default());
        assert_eq!((lap.memory.breaker.trip, lap.memory.run.outputs), (None, Vec::new()));
    }
}

#[test]
fn a_gate_that_passes_closes_whatever_had_tripped() {
    for lap in [stuck(), erring(), cool(|policy| policy.breaker.refused = 2, &claims())] {
        check(lap, passes().still(), Verdict::Exit);
    }
}

#[test]
fn nothing_but_a_passing_gate_closes_what_gates_refused() {
    for turn in [works().tests(Outcome::Pass), silent(), claims(), unsure()] {
        check(cool(|policy| policy.breaker.refused = 2, &claims()), turn.clone(), Verdict::Tripped);
        check(cool(|policy| policy.breaker.no_exit = 2, &works()), turn, Verdict::Tripped);
    }
}

#[test]
fn without_progress_the_tree_has_to_change_and_no_check_get_worse() {
    check(stuck(), claims(), Verdict::Continue);
    check(stuck(), works().tests(Outcome::Pass), Verdict::Continue);
    check(stuck(), claims().still(), Verdict::Tripped);
    check(stuck(), claims().left(Left::Unseen), Verdict::Tripped);
    let green =
        cool(|policy| policy.breaker.no_progress = 2, &works().tests(Outcome::Pass).still());
    check(green, claims(), Verdict::Tripped);
    let unknown = cool(|policy| policy.breaker.no_progress = 2, &works().still());
    check(unknown, claims(), Verdict::Continue);
}

#[test]
fn what_checks_write_closes_nothing_however_often() {
    let mut lap = stuck();
    for _ in 0..3 {
        assert_eq!(lap.probe(claims().left(Left::Written)).verdict, Verdict::Tripped);
        lap.cool_down();
    }
    check(lap, claims(), Verdict::Continue);
}

#[test]
fn a_change_counts_also_for_the_probe_after_the_one_that_failed() {
    let green = works().tests(Outcome::Pass);
    let mut lap = cool(|policy| policy.breaker.no_progress = 2, &green.clone().still());
    assert_eq!(lap.probe(claims()).verdict, Verdict::Tripped, "a check got worse");
    lap.cool_down();
    check(lap, green.still(), Verdict::Continue);
}

#[test]
fn the_same_error_has_to_be_another_or_none() {
    check(erring(), claims().error("f"), Verdict::Continue);
    check(erring(), works().tests(Outcome::Pass), Verdict::Continue);
    check(erring(), claims().error("e"), Verdict::Tripped);
    let green = works().tests(Outcome::Pass).error("e");
    let green = cool(|policy| policy.breaker.same_error = 2, &green);
    check(green, claims().error("f"), Verdict::Tripped);
}

#[test]
fn what_was_denied_must_not_be_denied_again() {
    let denied = || cool(|policy| policy.breaker.permission_denied = 2, &works().still().denied());
    check(denied(), claims(), Verdict::Continue);
    check(denied(), claims().denied(), Verdict::Tripped);
}

#[test]
fn limits_and_unmeasured_checks_have_to_be_over() {
    let limited = || cool(|policy| policy.breaker.rate_limited = 2, &works().limited());
    check(limited(), claims(), Verdict::Continue);
    check(limited(), claims().limited(), Verdict::Tripped);
    let unmeasured = || cool(|policy| policy.breaker.inconclusive = 2, &unsure());
    check(unmeasured(), claims(), Verdict::Continue);
    check(unmeasured(), unsure(), Verdict::Tripped);
}

#[test]
fn a_probe_that_did_not_run_its_checks_or_was_cheated_is_none() {
    for turn in [works(), silent().tests(Outcome::Skipped), claims().tests(Outcome::Tamper)] {
        for lap in [
            stuck(),
            erring(),
            cool(|policy| policy.breaker.inconclusive = 2, &unsure()),
            cool(|policy| policy.breaker.permission_denied = 2, &works().still().denied()),
        ] {
            check(lap, turn.clone().error("f"), Verdict::Tripped);
        }
    }
    let mut left_out = works();
    left_out.input.checks_left_out = true;
    check(stuck(), left_out, Verdict::Tripped);
}

#[test]
fn a_failed_probe_says_what_had_tripped_and_keeps_the_measure() {
    let mut lap = stuck();
    let snapshot = lap.memory.breaker.snapshot.clone().expect("it is open");
    let decision = lap.probe(claims().still());
    let [reason] = tripped_by(&decision)[..] else { panic!("one reason") };
    assert!(reason.ends_with("2 iterations in a row changed no file"));
    let snapshot_after = lap.memory.breaker.snapshot.clone().expect("it is open");
    assert_eq!((snapshot_after.tree, snapshot_after.checks), (snapshot.tree, snapshot.checks));
    assert_eq!(snapshot_after.at, lap.at());
}

#[test]
fn one_probe_at_once() {
    let lap = stuck();
    let Admitted { admission, breaker: half_open, change } =
        lap.memory.breaker.admit(&lap.at(), &lap.policy, "mine");
    assert_eq!(admission, Admission::Probe);
    assert_eq!(change.expect("a step").event, Event::CooledDown);
    for other in ["other", ""] {
        let admitted = half_open.admit(&lap.at(), &lap.policy, other);
        let held =
            Admitted { admission: Admission::Held, breaker: half_open.clone(), change: None };
        assert_eq!(admitted, held);
    }
    assert_eq!(half_open.admit(&lap.at(), &lap.policy, "mine").admission, Admission::Probe);
}

#[test]
fn who_has_no_name_never_holds_the_probe() {
    let lap = stuck();
    let admitted = lap.memory.breaker.admit(&lap.at(), &lap.policy, "");
    let held =
        Admitted { admission: Admission::Held, breaker: lap.memory.breaker.clone(), change: None };
    assert_eq!(admitted, held);
}

#[test]
fn a_decision_without_the_probe_is_held_whatever_it_says() {
    let mut lap = stuck();
    lap.memory.breaker = lap.memory.breaker.admit(&lap.at(), &lap.policy, "mine").breaker;
    let before = lap.memory.clone();
    let decision = lap.feed(passes());
    assert_eq!(decision.verdict, Verdict::Tripped);
    assert_eq!(decision.reasons[0].code, ReasonCode::BreakerOpen);
    assert_eq!(lap.memory.breaker, before.breaker);
    assert_eq!(lap.memory.run.counters, before.run.counters);
    assert_eq!(lap.memory.run.iteration, before.run.iteration + 1);
}

#[test]
fn a_cool_breaker_lets_nothing_through_that_did_not_begin_as_its_probe() {
    let mut lap = stuck();
    assert_eq!(lap.judged(passes(), Some("mine")).verdict, Verdict::Tripped);
    assert_eq!(lap.state(), BreakerState::Open);
}

#[test]
fn a_probe_that_does_not_report_back_has_failed() {
    let lap = stuck();
    let half_open = lap.memory.breaker.admit(&lap.at(), &lap.policy, "mine").breaker;
    let limit = half_open.probe.as_ref().expect("a probe").limit_ms;
    // Twice the check's five minutes, and five for the rest.
    assert_eq!(limit, 15 * MINUTE);
    let at = |passed: u64| at_ms(lap.now + passed);
    assert_eq!(half_open.admit(&at(limit - 1), &lap.policy, "mine").admission, Admission::Probe);
    for id in ["mine", "other"] {
        let Admitted { admission, breaker: open, change } =
            half_open.admit(&at(limit), &lap.policy, id);
        assert_eq!((admission, open.state), (Admission::Held, BreakerState::Open));
        assert_eq!(change.expect("a step").event, Event::ProbeOverdue);
        assert_eq!((open.level, open.probe), (half_open.level + 1, None));
    }
}

#[test]
fn a_probe_that_reports_back_too_late_passes_nothing() {
    let mut lap = stuck();
    lap.memory.breaker = lap.memory.breaker.admit(&lap.at(), &lap.policy, "mine").breaker;
    lap.now += 15 * MINUTE;
    assert_eq!(lap.judged(passes(), Some("mine")).verdict, Verdict::Tripped);
    lap.memory.breaker = lap.memory.breaker.admit(&lap.at(), &lap.policy, "next").breaker;
    assert_eq!(lap.state(), BreakerState::Open);
    assert_eq!(lap.judged(passes(), Some("mine")).verdict, Verdict::Tripped);
}

#[test]
fn a_clock_that_goes_backwards_leaves_the_probe_to_its_holder() {
    let lap = stuck();
    let half_open = lap.memory.breaker.admit(&lap.at(), &lap.policy, "mine").breaker;
    let before = at_ms(lap.now - 1);
    assert_eq!(half_open.admit(&before, &lap.policy, "mine").admission, Admission::Probe);
    assert_eq!(half_open.admit(&before, &lap.policy, "other").admission, Admission::Held);
}

#[test]
fn a_half_open_breaker_that_lost_its_probe_opens() {
    let lap = stuck();
    let half_open = lap.memory.breaker.admit(&lap.at(), &lap.policy, "mine").breaker;
    let lost = Breaker { probe: None, ..half_open };
    let Admitted { admission, breaker: open, .. } = lost.admit(&lap.at(), &lap.policy, "mine");
    assert_eq!((admission, open.state), (Admission::Held, BreakerState::Open));
}

#[test]
fn a_breaker_that_lost_its_cause_is_closed_by_a_passing_gate_alone() {
    for (turn, verdict) in
        [(works().tests(Outcome::Pass), Verdict::Tripped), (passes(), Verdict::Exit)]
    {
        let mut lap = stuck();
        lap.memory.breaker.trip = None;
        check(lap, turn, verdict);
    }
}

/// A check's further record beside that of the tests.
fn beside(mut turn: Turn, check: &str, mode: Mode, outcome: Outcome) -> Turn {
    turn.input.evidence.push(Evidence::new(check, mode, outcome));
    turn
}

#[test]
fn of_several_records_of_a_check_the_worst_counts() {
    let both = |first, second| beside(works().tests(first), "tests", Mode::Require, second);
    let was_green =
        || cool(|policy| policy.breaker.no_progress = 2, &works().tests(Outcome::Pass).still());
    check(was_green(), both(Outcome::Fail, Outcome::Pass), Verdict::Tripped);
    check(was_green(), both(Outcome::Pass, Outcome::Fail), Verdict::Tripped);
    check(was_green(), both(Outcome::Pass, Outcome::Pass), Verdict::Continue);
}

#[test]
fn a_check_that_is_only_shown_decides_nothing() {
    let warned = |outcome| beside(claims(), "lint", Mode::Warn, outcome);
    let was_green = cool(|policy| policy.breaker.no_progress = 2, &warned(Outcome::Pass).still());
    check(was_green, warned(Outcome::Fail), Verdict::Continue);
    let mut lap = Loop::new(|policy| policy.breaker.inconclusive = 2);
    assert_eq!(lap.repeat(5, &warned(Outcome::Inconclusive)), [Verdict::Continue; 5]);
    let counted = beside(claims(), "lint", Mode::Count, Outcome::Inconclusive);
    assert_eq!(lap.repeat(2, &counted), [Verdict::Continue, Verdict::Tripped]);
}
