//! What holds on each step of the walk.

use super::*;

/// All laws, on one step.
pub(super) fn hold(step: &Step, memory_before: &LoopState, done: &Done, policy: &Policy) {
    let from = memory_before.breaker.state;
    let to = done.memory.breaker.state;
    let failure_message = || format!("{step:?}\n{memory_before:#?}\n{:#?}", done.memory);
    ways(step, (from, to), done, &failure_message);
    closing(step, memory_before, done, &failure_message);
    probes(step, memory_before, done, policy, &failure_message);
    verdicts(step, memory_before, done, (policy, &failure_message));
    if let Step::Turn(turn, _) = step {
        unmeasured(turn, memory_before, done, &failure_message);
    }
}

/// Every move is one of the table's, and is told.
fn ways(
    step: &Step,
    (from, to): (BreakerState, BreakerState),
    done: &Done,
    failure_message: &dyn Fn() -> String,
) {
    let Some(change) = &done.change else {
        assert_eq!(from, to, "a move that nobody tells: {}", failure_message());
        return;
    };
    assert_eq!((change.from, change.to), (from, to), "{}", failure_message());
    let way = Transition { from, event: change.event, to };
    let stays = matches!(step, Step::Act(_)) && from == BreakerState::Isolated && from == to;
    assert!(TABLE.contains(&way) || stays, "{way:?} {}", failure_message());
}

/// It is closed by a passed probe whose cause is gone, or by a reset.
fn closing(
    step: &Step,
    memory_before: &LoopState,
    done: &Done,
    failure_message: &dyn Fn() -> String,
) {
    let opened = !memory_before.breaker.is_closed();
    if !opened || !done.memory.breaker.is_closed() {
        return;
    }
    if matches!(step, Step::Act(Act::Reset)) {
        return;
    }
    assert_eq!(memory_before.breaker.state, BreakerState::HalfOpen, "{}", failure_message());
    let event = done.change.as_ref().map(|change| change.event);
    assert_eq!(event, Some(Event::ProbePassed), "{}", failure_message());
    let Step::Turn(turn, Some(_)) = step else { panic!("{}", failure_message()) };
    assert!(is_gone(turn, memory_before, done), "{}", failure_message());
}

/// Whether what had tripped is gone, in other words than the breaker's.
fn is_gone(turn: &Turn, memory_before: &LoopState, done: &Done) -> bool {
    let observed = &turn.input.observed;
    let outcome = turn.input.evidence.first().map(|evidence| evidence.outcome);
    if outcome == Some(Outcome::Pass) && turn.input.signal.status == Status::Complete {
        return true;
    }
    let measured = matches!(outcome, Some(Outcome::Pass | Outcome::Fail));
    if !measured || observed.limited.is_some() {
        return false;
    }
    let trip = memory_before.breaker.trip.as_ref().expect("a cause");
    let snapshot = memory_before.breaker.snapshot.as_ref().expect("a measure");
    match trip.cause {
        Cause::SameError => observed.signature != snapshot.signature,
        Cause::NoProgress => match (&done.memory.run.tree, &snapshot.tree) {
            (Some(now), Some(then)) => turn.left != Left::Unseen && now != then,
            _ => turn.left == Left::Moved,
        },
        Cause::PermissionDenied => observed.denied.is_empty(),
        Cause::Inconclusive | Cause::RateLimited | Cause::BudgetIterations => true,
        _ => false,
    }
}

/// One probe at most, and everybody else is held.
fn probes(
    step: &Step,
    memory_before: &LoopState,
    done: &Done,
    policy: &Policy,
    failure_message: &dyn Fn() -> String,
) {
    let after = &done.memory.breaker;
    let half_open = after.state == BreakerState::HalfOpen;
    assert_eq!(after.probe.is_some(), half_open, "{}", failure_message());
    let says = |id: &str| after.admit(&at_ms(NOW), policy, id).admission;
    let let_in = ["p", "q", "r", ""].into_iter().filter(|id| says(id) == Admission::Probe);
    if half_open {
        assert!(let_in.count() <= 1, "{}", failure_message());
    }
    if let (Step::Admit(id), Some(admission)) = (step, done.admission) {
        let expected = match after.state {
            BreakerState::Closed => Admission::Free,
            BreakerState::HalfOpen if after.probe.as_ref().is_some_and(|probe| probe.id == *id) => {
                Admission::Probe
            }
            _ => Admission::Held,
        };
        assert_eq!(admission, expected, "{}", failure_message());
        assert!(!(id.is_empty() && admission == Admission::Probe), "{}", failure_message());
        assert_eq!(memory_before.run, done.memory.run);
    }
}

/// What the verdict may be, by what the breaker was.
fn verdicts(
    step: &Step,
    memory_before: &LoopState,
    done: &Done,
    (policy, failure_message): (&Policy, &dyn Fn() -> String),
) {
    let Some(Judged { decision, .. }) = &done.judged else { return };
    let exit = decision.verdict == Verdict::Exit;
    assert_eq!((decision.success, decision.exit_code == 0), (exit, exit), "{}", failure_message());
    assert_eq!(decision.exit_code, decision.verdict.exit_code());
    let held = match step {
        Step::Forced => {
            assert!(exit, "{}", failure_message());
            return;
        }
        Step::Stateless => {
            assert_ne!(decision.verdict, Verdict::Tripped, "{}", failure_message());
            return;
        }
        Step::Lost => true,
        Step::Turn(..) if memory_before.is_spent(policy) && !memory_before.run.ended => true,
        Step::Turn(_, holder) => match memory_before.breaker.state {
            BreakerState::Closed => false,
            BreakerState::Open | BreakerState::Isolated => true,
            BreakerState::HalfOpen => {
                memory_before.breaker.probe.as_ref().map(|probe| probe.id.as_str()) != *holder
            }
        },
        _ => return,
    };
    if held {
        assert_eq!(decision.verdict, Verdict::Tripped, "{}", failure_message());
        assert_eq!(done.memory.breaker, memory_before.breaker, "{}", failure_message());
    }
    let opened = !matches!(step, Step::Lost) && !done.memory.breaker.is_closed();
    if opened {
        assert_eq!(
            decision.verdict,
            Verdict::Tripped,
            "an open breaker stops: {}",
            failure_message()
        );
    }
    if decision.verdict == Verdict::Tripped {
        let spent = done.memory.is_spent(policy);
        assert!(opened || spent || matches!(step, Step::Lost), "{}", failure_message());
    }
}

/// What could not be measured lowers no counter, and calms nothing.
fn unmeasured(
    turn: &Turn,
    memory_before: &LoopState,
    done: &Done,
    failure_message: &dyn Fn() -> String,
) {
    let inconclusive =
        turn.input.evidence.iter().any(|evidence| evidence.outcome == Outcome::Inconclusive);
    if !inconclusive || memory_before.run.ended {
        return;
    }
    let (was, is) = (memory_before.run.counters, done.memory.run.counters);
    let kept = is.no_exit >= was.no_exit
        && is.refused >= was.refused
        && is.same_error >= was.same_error
        && is.inconclusive >= was.inconclusive
        && is.permission_denied >= was.permission_denied
        && is.rate_limited >= was.rate_limited
        && (turn.left == Left::Moved || is.no_progress >= was.no_progress);
    assert!(kept, "{}", failure_message());
    assert!(done.memory.breaker.level >= memory_before.breaker.level, "{}", failure_message());
}
