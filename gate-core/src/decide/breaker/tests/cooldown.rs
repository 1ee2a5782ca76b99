//! The cool-down: its length, its clocks, and what it takes to forget a trip.

use super::*;
use crate::decide::breaker::{Act, Event};

const DAY: u64 = 24 * 60 * MINUTE;

/// A loop whose breaker opened a moment ago.
fn opened() -> Loop {
    let mut lap = Loop::new(|policy| policy.breaker.refused = 2);
    lap.repeat(2, &claims());
    assert_eq!(lap.state(), BreakerState::Open);
    lap
}

fn cools_in(lap: &Loop) -> Option<u64> {
    lap.memory.breaker.cools_in(&lap.at(), &lap.policy)
}

fn admits(lap: &Loop) -> Admission {
    lap.memory.breaker.admit(&lap.at(), &lap.policy, "mine").admission
}

#[test]
fn half_an_hour_and_not_a_millisecond_less() {
    let mut lap = opened();
    assert_eq!(cools_in(&lap), Some(30 * MINUTE));
    lap.now += 30 * MINUTE - 1;
    assert_eq!((cools_in(&lap), admits(&lap)), (Some(1), Admission::Held));
    lap.now += 1;
    assert_eq!((cools_in(&lap), admits(&lap)), (Some(0), Admission::Probe));
}

#[test]
fn each_trip_again_doubles_it_up_to_a_day() {
    let mut lap = opened();
    let mut lengths = Vec::new();
    for _ in 0..9 {
        lengths.push(cools_in(&lap).expect("it is open") / MINUTE);
        lap.cool_down();
        assert_eq!(lap.probe(claims()).verdict, Verdict::Tripped);
    }
    assert_eq!(lengths, [30, 60, 120, 240, 480, 960, 1440, 1440, 1440]);
}

#[test]
fn a_longer_one_by_settings_is_not_cut() {
    let mut lap = opened();
    lap.policy.breaker.cooldown_ms = 3 * DAY;
    assert_eq!(cools_in(&lap), Some(3 * DAY));
    lap.memory.breaker.level = u32::MAX;
    assert_eq!(cools_in(&lap), Some(3 * DAY));
}

#[test]
fn a_probe_that_passes_does_not_shorten_the_next_one_but_calm_does() {
    for (calm, next) in [(0, 60), (4, 60), (5, 30)] {
        let mut lap = opened();
        lap.policy.breaker.inconclusive = 1;
        lap.memory.breaker.trip.as_mut().expect("a trip").cause = Cause::Inconclusive;
        lap.cool_down();
        assert_eq!(lap.probe(claims()).verdict, Verdict::Continue);
        assert_eq!(lap.repeat(calm, &works()), vec![Verdict::Continue; calm]);
        assert_eq!(lap.feed(unsure()).verdict, Verdict::Tripped);
        assert_eq!(cools_in(&lap), Some(next * MINUTE), "{calm} calm iterations");
    }
}

#[test]
fn what_could_not_be_measured_is_no_calm() {
    for turn in [unsure(), works().limited(), works().tests(Outcome::Tamper)] {
        let mut lap = Loop::new(|_| ());
        lap.memory.breaker.level = 3;
        lap.repeat(20, &turn);
        assert_eq!((lap.memory.breaker.level, lap.memory.breaker.calm), (3, 0));
    }
}

#[test]
fn passing_once_is_calm_enough() {
    let mut lap = Loop::new(|_| ());
    lap.memory.breaker.level = 3;
    assert_eq!(lap.feed(passes()).verdict, Verdict::Exit);
    assert_eq!(lap.memory.breaker.level, 0);
}

#[test]
fn a_clock_that_goes_backwards_stays_open() {
    let mut lap = opened();
    lap.now -= 1;
    assert_eq!((cools_in(&lap), admits(&lap)), (None, Admission::Held));
    lap.now -= 500 * MINUTE;
    assert_eq!(lap.feed(passes()).verdict, Verdict::Tripped);
    lap.policy.breaker.cooldown_ms = 0;
    assert_eq!(admits(&lap), Admission::Held, "also where there is no cool-down");
}

#[test]
fn across_a_restart_the_wall_clock_counts() {
    let lap = opened();
    let restarted = |wall: u64| Timestamp { boot: "next".to_owned(), uptime_ms: 5, wall_ms: wall };
    let says = |at: &Timestamp| lap.memory.breaker.admit(at, &lap.policy, "mine").admission;
    assert_eq!(says(&restarted(lap.now + 30 * MINUTE - 1)), Admission::Held);
    assert_eq!(says(&restarted(lap.now + 30 * MINUTE)), Admission::Probe);
    assert_eq!(says(&restarted(lap.now - 1)), Admission::Held);
    let same_start = Timestamp { wall_ms: lap.now + DAY, ..at_ms(lap.now) };
    assert_eq!(says(&same_start), Admission::Held, "a wall clock that was set says nothing");
}

#[test]
fn a_restart_and_a_new_run_reset_nothing() {
    let mut lap = opened();
    lap.memory.run = RunState::begins(&lap.at(), lap.memory.resets());
    assert_eq!(lap.feed(passes()).verdict, Verdict::Tripped);
    let json = serde_json::to_string(&lap.memory).expect("plain data");
    lap.memory = serde_json::from_str(&json).expect("its own JSON");
    assert_eq!(lap.feed(passes()).verdict, Verdict::Tripped);
}

#[test]
fn a_reset_ends_the_run_and_begins_anew() {
    let mut lap = opened();
    let (breaker, change) = lap.memory.breaker.operated(Act::Reset, "mended", &lap.at());
    assert_eq!((change.event, change.to), (Event::Reset, BreakerState::Closed));
    assert!(lap.memory.run.is_over(&lap.at(), breaker.resets));
    let run = RunState::begins(&lap.at(), breaker.resets);
    assert!(!run.is_over(&lap.at(), breaker.resets));
    lap.memory = LoopState { breaker, hold: None, run };
    assert_eq!(lap.repeat(2, &claims()), [Verdict::Continue, Verdict::Tripped]);
    assert_eq!(cools_in(&lap), Some(30 * MINUTE));
}

#[test]
fn twelve_hours_of_silence_end_a_run_and_do_not_close_the_breaker() {
    let mut lap = opened();
    lap.now += 12 * 60 * MINUTE - 1;
    assert!(!lap.memory.run.is_over(&lap.at(), lap.memory.resets()));
    lap.now += 1;
    assert!(lap.memory.run.is_over(&lap.at(), lap.memory.resets()));
    lap.now -= DAY;
    assert!(!lap.memory.run.is_over(&lap.at(), lap.memory.resets()), "nobody knows");
    assert!(!lap.memory.breaker.is_closed());
}

#[test]
fn an_isolated_breaker_never_cools() {
    let mut lap = opened();
    lap.memory.breaker = lap.memory.breaker.operated(Act::Isolate, "hold", &lap.at()).0;
    lap.now += 400 * DAY;
    assert_eq!((cools_in(&lap), admits(&lap)), (None, Admission::Held));
    let decision = lap.feed(passes());
    assert_eq!(decision.verdict, Verdict::Tripped);
    assert_eq!(decision.reasons[0].code, ReasonCode::BreakerIsolated);
}
