//! The table: every state, every event, and the way it goes.

use super::*;
use crate::decide::breaker::{Act, Event, Probe, TABLE, Trip, TripSnapshot, after};

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
    let snapshot = TripSnapshot { at: at_ms(7), ..Default::default() };
    Breaker { state, snapshot: Some(snapshot), level: 3, calm: 2, resets: 4, ..Breaker::default() }
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
            assert_eq!(after.snapshot.expect("a time").at, at_ms(9));
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

#[test]
fn a_task_keeps_what_its_operator_did_and_no_trip_of_a_loop() {
    let trip = |cause| Some(Trip { cause, message: "why".to_owned() });
    let held = Breaker { trip: trip(Cause::Operator), ..breaker(BreakerState::Open) };
    assert_eq!(held.as_hold(), Some(held));
    let tripped = Breaker { trip: trip(Cause::Refused), ..breaker(BreakerState::Open) };
    assert_eq!(tripped.as_hold(), Some(Breaker { resets: 4, ..Breaker::default() }));
    assert_eq!(Breaker { resets: 0, ..tripped }.as_hold(), None);
}

#[test]
fn a_probe_that_a_record_tells_of_half_opens_an_open_breaker_that_is_older() {
    let probe = |at| Probe { id: "p".to_owned(), since: at_ms(at), limit_ms: 5 };
    let open = breaker(BreakerState::Open);
    let (half_open, change) = open.cools(probe(9)).expect("it was opened before");
    assert_eq!((half_open.state, half_open.probe), (BreakerState::HalfOpen, Some(probe(9))));
    assert_eq!(change.event, Event::CooledDown);
    assert_eq!(open.cools(probe(6)), None, "the probe is older than the trip");
    assert_eq!(breaker(BreakerState::Closed).cools(probe(9)), None);
    assert_eq!(Breaker { snapshot: None, ..open }.cools(probe(9)), None);
}

#[test]
fn causes_and_acts_are_named_as_in_records() {
    for name in [
        "no_exit",
        "refused",
        "no_progress",
        "same_error",
        "inconclusive",
        "permission_denied",
        "output_decline",
        "rate_limited",
        "budget_iterations",
        "budget_tokens",
        "budget_cost",
        "budget_wall",
        "operator",
    ] {
        let cause: Cause = serde_json::from_value(name.into()).expect("a cause");
        assert_eq!((cause.name(), cause.to_string().as_str()), (name, name));
    }
    let names = Act::ALL.map(Act::name);
    assert_eq!(names, ["breaker_reset", "breaker_trip", "breaker_isolate"]);
}

#[test]
fn a_lost_state_is_shown_as_an_open_breaker() {
    let input = Input { stateful: true, ..passes().input };
    let view = judge(&input, &POLICY).decision.breaker;
    assert_eq!((view.state, view.trip.as_deref()), (BreakerState::Open, Some("state")));
    assert_eq!(view.counters, crate::decide::breaker::Counters::default());
}

#[test]
fn an_open_breaker_has_no_calm_and_no_probe_and_a_closed_one_keeps_its_resets() {
    let probe = Probe { id: "d1".to_owned(), since: Timestamp::default(), limit_ms: 1 };
    let half_open = Breaker {
        state: BreakerState::HalfOpen,
        calm: 3,
        probe: Some(probe),
        resets: 2,
        ..Breaker::default()
    };
    let trip = Trip { cause: Cause::NoProgress, message: "none".to_owned() };
    let (opened, _) = half_open.opened(Event::ProbeFailed, trip, TripSnapshot::default());
    let (tripped, _) = half_open.operated(Act::Trip, "wait", &Timestamp::default());
    for breaker in [opened, tripped] {
        assert_eq!((breaker.calm, &breaker.probe, breaker.resets), (0, &None, 2), "{breaker:?}");
    }
    let (closed, _) = half_open.closed();
    assert_eq!((closed.calm, &closed.probe, closed.resets), (0, &None, 2));
}
