//! The table: every state, every event, and the way it goes.

use super::*;
use crate::decide::breaker::{Act, Event, TABLE, after};

const STATES: [BreakerState; 4] =
    [BreakerState::Closed, BreakerState::HalfOpen, BreakerState::Open, BreakerState::Isolated];

const EVENTS: [Event; 8] = [
    Event::Trip,
    Event::CooledDown,
    Event::ProbePassed,
    Event::ProbeFailed,
    Event::ProbeOverdue,
    Event::Reset,
    Event::OperatorTrip,
    Event::Isolate,
];

#[test]
fn every_state_and_every_event() {
    use BreakerState::{Closed as C, HalfOpen as H, Isolated as I, Open as O};
    //        closed half-open open isolated
    let expected = [
        (Event::Trip, [O, H, O, I]),
        (Event::CooledDown, [C, H, H, I]),
        (Event::ProbePassed, [C, C, O, I]),
        (Event::ProbeFailed, [C, O, O, I]),
        (Event::ProbeOverdue, [C, O, O, I]),
        (Event::Reset, [C, C, C, C]),
        (Event::OperatorTrip, [O, O, O, I]),
        (Event::Isolate, [I, I, I, I]),
    ];
    assert_eq!(expected.map(|(event, _)| event), EVENTS);
    for (event, ways) in expected {
        for (from, to) in STATES.into_iter().zip(ways) {
            assert_eq!(after(from, event), to, "{from:?} {event:?}");
        }
    }
}

#[test]
fn no_way_stands_twice() {
    for (index, way) in TABLE.iter().enumerate() {
        let same = |other: &&_| {
            let other: &crate::decide::breaker::Transition = other;
            other.from == way.from && other.event == way.event
        };
        assert_eq!(TABLE.iter().skip(index).filter(same).count(), 1, "{way:?}");
    }
}

fn breaker(state: BreakerState) -> Breaker {
    let stood = crate::decide::breaker::TripSnapshot { at: at_ms(7), ..Default::default() };
    Breaker { state, stood: Some(stood), level: 3, calm: 2, resets: 4, ..Breaker::default() }
}

#[test]
fn a_reset_forgets_everything_but_that_it_was() {
    for state in STATES {
        let (reset, change) = breaker(state).operated(Act::Reset, "done", &at_ms(9));
        assert_eq!(reset, Breaker { resets: 5, ..Breaker::default() });
        assert_eq!((change.from, change.event, change.to), (state, Event::Reset, reset.state));
    }
}

#[test]
fn an_operator_trips_and_isolates_with_the_reason_that_was_given() {
    for (act, to) in [(Act::Trip, BreakerState::Open), (Act::Isolate, BreakerState::Isolated)] {
        for state in [BreakerState::Closed, BreakerState::HalfOpen, BreakerState::Open] {
            let (after, change) = breaker(state).operated(act, "look at it", &at_ms(9));
            assert_eq!((after.state, change.to), (to, to));
            let trip = after.trip.expect("a reason");
            assert_eq!((trip.cause, trip.message.as_str()), (Cause::Operator, "look at it"));
            assert_eq!(after.stood.expect("a time").at, at_ms(9));
            assert_eq!((after.level, after.resets), (3, 4));
        }
    }
}

#[test]
fn what_is_isolated_is_not_even_renamed_but_by_a_reset() {
    let isolated = breaker(BreakerState::Closed).operated(Act::Isolate, "first", &at_ms(8)).0;
    for act in [Act::Trip, Act::Isolate] {
        let (after, change) = isolated.operated(act, "second", &at_ms(9));
        assert_eq!(after, isolated);
        assert_eq!((change.from, change.to), (BreakerState::Isolated, BreakerState::Isolated));
    }
}
