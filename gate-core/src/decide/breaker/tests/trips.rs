//! Each trip: at its limit, one below it, switched off, and by what it is
//! broken.

use super::*;

type Set = fn(&mut BreakerPolicy, u32);

/// A trip, what feeds it, and what does not.
struct Case {
    cause: Cause,
    set: Set,
    feeds: Turn,
    breaks: Turn,
}

fn cases() -> Vec<Case> {
    let case = |cause, set: Set, feeds, breaks| Case { cause, set, feeds, breaks };
    let pass = passes;
    vec![
        case(Cause::NoExit, |it, n| it.no_exit = n, works(), pass()),
        case(Cause::Refused, |it, n| it.refused = n, claims(), works()),
        case(Cause::NoProgress, |it, n| it.no_progress = n, works().still(), works()),
        case(Cause::SameError, |it, n| it.same_error = n, works().error("e"), works()),
        case(Cause::SameError, |it, n| it.same_error = n, works().error("e"), works().error("f")),
        case(Cause::Inconclusive, |it, n| it.inconclusive = n, unsure(), claims()),
        case(
            Cause::PermissionDenied,
            |it, n| it.permission_denied = n,
            works().still().denied(),
            works(),
        ),
        case(Cause::RateLimited, |it, n| it.rate_limited = n, works().limited(), works()),
    ]
}

fn begun(case: &Case, limit: u32) -> Loop {
    let mut lap = Loop::new(|policy| {
        (case.set)(&mut policy.breaker, limit);
        policy.exit_gate.consecutive = std::num::NonZeroU32::new(9).expect("not zero");
    });
    // A tree to compare the next one with.
    lap.feed(passes());
    lap
}

#[test]
fn each_trips_at_its_limit_and_not_before() {
    for case in cases() {
        let mut lap = begun(&case, 4);
        assert_eq!(lap.repeat(3, &case.feeds), [Verdict::Continue; 3], "{}", case.cause);
        let decision = lap.feed(case.feeds);
        assert_eq!(decision.verdict, Verdict::Tripped, "{}", case.cause);
        assert_eq!((decision.exit_code, decision.success, decision.stop), (3, false, true));
        assert_eq!((lap.state(), lap.cause()), (BreakerState::Open, Some(case.cause)));
        assert_eq!(tripped_by(&decision).len(), 1);
        assert_eq!(decision.breaker.trip.as_deref(), Some(case.cause.name()));
    }
}

#[test]
fn zero_switches_each_off() {
    for case in cases() {
        let mut lap = begun(&case, 0);
        assert_eq!(lap.repeat(60, &case.feeds), [Verdict::Continue; 60], "{}", case.cause);
    }
}

#[test]
fn each_counts_in_a_row() {
    for case in cases() {
        let mut lap = begun(&case, 3);
        for _ in 0..6 {
            assert_eq!(lap.repeat(2, &case.feeds), [Verdict::Continue; 2], "{}", case.cause);
            assert_eq!(lap.feed(case.breaks.clone()).verdict, Verdict::Continue, "{}", case.cause);
        }
    }
}

#[test]
fn a_limit_between_breaks_no_row() {
    for case in cases().into_iter().filter(|case| case.cause != Cause::RateLimited) {
        let mut lap = begun(&case, 3);
        lap.repeat(2, &case.feeds);
        assert_eq!(
            lap.repeat(9, &works().limited().still()),
            [Verdict::Continue; 9],
            "{}",
            case.cause
        );
        assert_eq!(lap.feed(case.feeds).verdict, Verdict::Tripped, "{}", case.cause);
    }
}

#[test]
fn an_iteration_that_passes_is_exit_where_it_would_have_tripped() {
    for case in cases() {
        let mut lap = begun(&case, 3);
        lap.repeat(2, &case.feeds);
        lap.policy.exit_gate.consecutive = std::num::NonZeroU32::MIN;
        let last = Turn { input: passes().input, ..case.feeds.clone() };
        let mut last = last.still().error("e");
        last.input.observed.limited.clone_from(&case.feeds.input.observed.limited);
        last.input.observed.denied.clone_from(&case.feeds.input.observed.denied);
        assert_eq!(lap.feed(last).verdict, Verdict::Exit, "{}", case.cause);
        assert!(lap.memory.breaker.is_closed());
        assert!(lap.memory.run.is_over(&lap.at(), lap.memory.resets()));
    }
}

#[test]
fn several_trips_are_all_named_the_most_telling_first() {
    let mut lap = Loop::new(|policy| {
        policy.breaker.refused = 5;
        policy.breaker.same_error = 5;
        policy.breaker.no_exit = 5;
        policy.budget.iterations = 5;
    });
    lap.repeat(4, &claims().error("auth::expired_token"));
    let decision = lap.feed(claims().error("auth::expired_token"));
    assert_eq!(lap.cause(), Some(Cause::Refused));
    let expected = [
        "5 claims of completion in a row were refused",
        "5 iterations in a row ended with the same error",
        "5 iterations without a passing gate: Exit gate not passing",
    ];
    assert_eq!(tripped_by(&decision), expected);
    assert_eq!(decision.reasons[3].message, "budget spent: 5 of 5 iterations");
    let red = |reason: &crate::decide::reason::Reason| reason.check.as_deref() == Some("tests");
    assert!(decision.reasons.iter().any(red), "why the last one did not pass stays");
}

#[test]
fn a_blocked_iteration_is_fed_and_trips_as_any_other() {
    let mut lap = Loop::new(|policy| policy.breaker.no_exit = 2);
    assert_eq!(lap.feed(turn(Status::Blocked, None)).verdict, Verdict::Blocked);
    assert_eq!(lap.feed(turn(Status::Blocked, None)).verdict, Verdict::Tripped);
}

#[test]
fn outputs_that_shrink_trip_below_the_share() {
    let long = [900, 1000, 1100];
    for (last, verdict) in [(299, Verdict::Tripped), (300, Verdict::Continue)] {
        let mut lap = Loop::new(|policy| policy.breaker.output_decline = 30);
        for output in long {
            assert_eq!(lap.feed(works().writes(output)).verdict, Verdict::Continue);
        }
        assert_eq!(lap.repeat(2, &works().writes(last)), [Verdict::Continue; 2]);
        assert_eq!(lap.feed(works().writes(last)).verdict, verdict);
    }
}

#[test]
fn short_outputs_that_pass_are_no_decline() {
    let mut lap = Loop::new(|policy| {
        policy.breaker.output_decline = 50;
        policy.exit_gate.consecutive = std::num::NonZeroU32::new(9).expect("not zero");
    });
    lap.repeat(6, &works().writes(1000));
    assert_eq!(lap.repeat(6, &passes().writes(5)), [Verdict::Continue; 6]);
}

#[test]
fn one_long_output_among_short_ones_is_no_decline() {
    let mut lap = Loop::new(|policy| policy.breaker.output_decline = 50);
    for output in [100, 9000, 100, 90, 90, 90, 8000, 90] {
        assert_eq!(lap.feed(works().writes(output)).verdict, Verdict::Continue);
    }
}

#[test]
fn an_agent_that_found_another_way_around_a_denial_is_not_stuck() {
    let mut lap = Loop::new(|policy| policy.breaker.permission_denied = 2);
    lap.repeat(6, &works().denied());
    assert!(lap.memory.breaker.is_closed());
    assert_eq!(lap.memory.run.counters.permission_denied, 0);
}

#[test]
fn denied_tools_are_named_where_a_denial_tripped_and_nowhere_else() {
    let mut lap = Loop::new(|policy| policy.breaker.permission_denied = 1);
    lap.feed(works());
    let decision = lap.feed(works().still().denied());
    let message = tripped_by(&decision)[0].to_owned();
    assert!(message.ends_with(": Bash"), "{message}");
    lap.cool_down();
    let decision = lap.probe(works().still());
    let again = tripped_by(&decision)[0].to_owned();
    assert!(again.starts_with("the one try failed") && !again.ends_with(": "), "{again}");
    let mut lap = Loop::new(|policy| policy.breaker.refused = 1);
    let decision = lap.feed(claims().denied());
    assert!(!tripped_by(&decision)[0].contains("Bash"), "{:?}", decision.reasons);
}
