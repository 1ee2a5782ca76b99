//! The exhaustive walk: from a closed breaker over everything that can happen,
//! until no new state is found; the laws hold on each step.
//!
//! What makes no difference is brought to one form: time is counted from now
//! and up to the longest cool-down, counters up to their limits.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::*;
use crate::decide::breaker::{Act, Change, Counters, Event, TABLE, Transition, TripSnapshot};
use crate::decide::spent::Spent;

/// Now, whatever happens: what has been moves away from it.
const NOW: u64 = 1_000 * MINUTE;

/// One step of time: the cool-down, and the deadline of a probe.
const TICK: u64 = 15 * MINUTE;

/// What can happen.
#[derive(Clone, Debug)]
enum Step {
    Turn(Box<Turn>, Option<&'static str>),
    Forced,
    Lost,
    Stateless,
    Admit(&'static str),
    Act(Act),
    NewRun,
    Later,
    Earlier,
}

/// What the tree can be after it makes a difference for its own trip alone.
fn steps(policy: &Policy) -> Vec<Step> {
    let lefts = [Left::Moved, Left::Still, Left::Unseen];
    let lefts = if policy.breaker.no_progress > 0 { &lefts[..] } else { &lefts[..1] };
    let mut turns = vec![passes(), claims(), claims().error("e"), claims().error("f")];
    turns.extend([works(), works().error("e"), works().tests(Outcome::Pass), silent()]);
    turns.extend([unsure(), unsure().error("f"), claims().tests(Outcome::Tamper)]);
    turns.extend([turn(Status::Blocked, None), claims().denied(), works().limited()]);
    turns.extend([passes().limited(), passes().denied(), works().writes(9)]);
    if policy.breaker.no_progress > 0 {
        let plain = |it: &Turn| it.input.observed == IterationFacts::default();
        turns.retain(plain);
    }
    let mut steps = vec![Step::Forced, Step::Lost, Step::Stateless, Step::NewRun];
    steps.extend([Step::Later, Step::Earlier, Step::Admit("p"), Step::Admit("q"), Step::Admit("")]);
    steps.extend([Act::Reset, Act::Trip, Act::Isolate].map(Step::Act));
    for turn in turns {
        for &left in lefts {
            for holder in [None, Some("p"), Some("q")] {
                steps.push(Step::Turn(Box::new(turn.clone().left(left)), holder));
            }
        }
    }
    steps
}

impl Step {
    /// Who holds the probe makes a difference where there is one; that it makes
    /// none elsewhere, one kind of iteration shows.
    fn matters(&self, state: BreakerState) -> bool {
        match self {
            Self::Turn(turn, Some(_)) => {
                let done = turn.input.signal.status == Status::Complete;
                state == BreakerState::HalfOpen || done
            }
            _ => true,
        }
    }
}

/// What a step comes to.
struct Done {
    memory: LoopState,
    change: Option<Change>,
    judged: Option<Judged>,
    admission: Option<Admission>,
}

fn done(step: &Step, memory: &LoopState, policy: &Policy) -> Done {
    let breaker = |(breaker, change): (Breaker, Option<Change>), admission| Done {
        memory: LoopState { breaker, ..memory.clone() },
        change,
        judged: None,
        admission,
    };
    let same = |memory: LoopState| Done { memory, change: None, judged: None, admission: None };
    let now = at_ms(NOW);
    match step {
        Step::Turn(turn, holder) => decided(turn, *holder, None, memory, policy),
        Step::Forced => decided(&claims(), Some("p"), Some("stop"), memory, policy),
        Step::Lost | Step::Stateless => {
            let stateful = matches!(step, Step::Lost);
            let judged = judge(&Input { stateful, ..passes().input }, policy);
            Done { judged: Some(judged), ..same(memory.clone()) }
        }
        Step::Admit(id) => {
            let Admitted { admission, breaker: after, change } =
                memory.breaker.admit(&now, policy, id);
            breaker((after, change), Some(admission))
        }
        Step::Act(act) => {
            let (after, change) = memory.breaker.operated(*act, "by hand", &now);
            breaker((after, Some(change)), None)
        }
        Step::NewRun => {
            same(LoopState { run: RunState::begins(&now, memory.resets()), ..memory.clone() })
        }
        Step::Later => same(shifted(memory, |at| at.saturating_sub(TICK))),
        Step::Earlier => same(shifted(memory, |at| at + 2 * TICK)),
    }
}

fn decided(
    turn: &Turn,
    holder: Option<&str>,
    forced: Option<&str>,
    memory: &LoopState,
    policy: &Policy,
) -> Done {
    let now = at_ms(NOW);
    let mut memory = memory.clone();
    if memory.run.is_over(&now, memory.resets()) {
        memory.run = RunState::begins(&now, memory.resets());
    }
    let was = memory.run.tree.as_ref().map_or("a", |tree| tree.digest.as_str());
    let is = if (turn.left == Left::Moved) == (was == "a") { "b" } else { "a" };
    let tree = TreeState { digest: is.to_owned(), head: None, branches: None };
    let seen = TreeSeen {
        before: tree.clone(),
        after: tree,
        uncommitted: None,
        changed_files: None,
        since_beginning: None,
    };
    let observed = IterationFacts {
        at: now,
        iteration: memory.run.iteration + 1,
        tree: (turn.left != Left::Unseen).then_some(seen),
        probe: holder.map(str::to_owned),
        ..turn.input.observed.clone()
    };
    let force_reason = forced.map(str::to_owned);
    let input = Input {
        stateful: true,
        memory: Some(memory),
        observed,
        force_reason,
        ..turn.input.clone()
    };
    let judged = judge(&input, policy);
    let memory = judged.memory.clone().expect("state is kept");
    Done { memory, change: judged.change.clone(), judged: Some(judged), admission: None }
}

/// Everything that is remembered, at other times.
fn shifted(memory: &LoopState, by: impl Fn(u64) -> u64) -> LoopState {
    let mut memory = memory.clone();
    let bounded = |at: &Timestamp| at_ms(by(at.wall_ms).min(NOW + TICK));
    if let Some(snapshot) = &mut memory.breaker.snapshot {
        snapshot.at = bounded(&snapshot.at);
    }
    if let Some(probe) = &mut memory.breaker.probe {
        probe.since = bounded(&probe.since);
    }
    memory
}

/// The state in the one form of all that make no difference.
fn plain(memory: &LoopState, policy: &Policy) -> LoopState {
    let trees = policy.breaker.no_progress > 0;
    let errors = policy.breaker.same_error > 0;
    let longest = if trees || errors { TICK } else { 2 * TICK };
    let LoopState { mut breaker, hold, run } = shifted(memory, |at| at.max(NOW - longest));
    let ended = run.ended || run.resets != breaker.resets;
    breaker.trip.iter_mut().for_each(|trip| trip.message.clear());
    breaker.resets = 0;
    breaker.level = breaker.level.min(if trees || errors { 1 } else { 2 });
    breaker.calm = if breaker.level == 0 { 0 } else { breaker.calm };
    breaker.snapshot = breaker.snapshot.map(|snapshot| TripSnapshot {
        tree: snapshot.tree.filter(|_| trees),
        signature: snapshot.signature.filter(|_| errors),
        checks: if trees || errors { snapshot.checks } else { BTreeMap::new() },
        ..snapshot
    });
    let begins = RunState::begins(&at_ms(NOW), breaker.resets);
    let run = if ended {
        RunState { ended, ..begins }
    } else {
        RunState {
            iteration: run.iteration.min(u64::from(policy.budget.iterations)),
            passed_in_a_row: run.passed_in_a_row.min(policy.exit_gate.consecutive.get() - 1),
            tree: run.tree.clone().filter(|_| trees),
            spent: Spent {
                iterations: run.spent.iterations.min(u64::from(policy.budget.iterations)),
                ..Spent::default()
            },
            ..if breaker.is_closed() { counted(run, begins, policy) } else { begins }
        }
    };
    LoopState { breaker, hold, run }
}

/// What trips a closed breaker. An open one begins with nothing of it, once it
/// is closed: the counters at zero, and the checks as the probe saw them.
fn counted(run: RunState, begins: RunState, policy: &Policy) -> RunState {
    let (limits, counted) = (&policy.breaker, &run.counters);
    let counters = Counters {
        no_exit: counted.no_exit.min(limits.no_exit),
        refused: counted.refused.min(limits.refused),
        no_progress: counted.no_progress.min(limits.no_progress),
        same_error: counted.same_error.min(limits.same_error),
        inconclusive: counted.inconclusive.min(limits.inconclusive),
        permission_denied: counted.permission_denied.min(limits.permission_denied),
        rate_limited: counted.rate_limited.min(limits.rate_limited),
    };
    let measured = limits.no_progress + limits.same_error > 0;
    RunState {
        signature: run.signature.filter(|_| counters.same_error > 0),
        checks: if measured { run.checks } else { BTreeMap::new() },
        counters,
        ..begins
    }
}

fn walk(set: impl FnOnce(&mut Policy)) {
    let mut policy = policy(set);
    policy.breaker.cooldown_ms = TICK;
    let steps = steps(&policy);
    let breaker = Breaker::default();
    let start = LoopState { run: RunState::begins(&at_ms(NOW), 0), hold: None, breaker };
    let mut seen = BTreeSet::new();
    let mut open = VecDeque::from([plain(&start, &policy)]);
    let mut states = BTreeSet::new();
    while let Some(memory) = open.pop_front() {
        states.insert(memory.breaker.state);
        for step in steps.iter().filter(|step| step.matters(memory.breaker.state)) {
            let done = done(step, &memory, &policy);
            laws::hold(step, &memory, &done, &policy);
            let next = plain(&done.memory, &policy);
            assert!(seen.len() < 200_000, "what makes no difference is told apart: {next:#?}");
            if seen.insert(serde_json::to_string(&next).expect("plain data")) {
                open.push_back(next);
            }
        }
    }
    assert_eq!(states.len(), 4, "every state is reached");
    assert!(seen.len() > 50, "{} states", seen.len());
}

mod laws;

macro_rules! walks {
    ($($name:ident: $set:expr,)*) => {
        $(#[test] fn $name() { walk($set); })*
    };
}

walks! {
    without_exit: |policy| policy.breaker.no_exit = 2,
    refused: |policy| policy.breaker.refused = 2,
    without_progress: |policy| policy.breaker.no_progress = 2,
    with_the_same_error: |policy| policy.breaker.same_error = 2,
    inconclusive: |policy| policy.breaker.inconclusive = 2,
    denied: |policy| policy.breaker.permission_denied = 2,
    limited: |policy| policy.breaker.rate_limited = 2,
    over_budget: |policy| policy.budget.iterations = 3,
    passing_twice_in_a_row: |policy| {
        policy.breaker.refused = 2;
        policy.exit_gate.consecutive = std::num::NonZeroU32::new(2).expect("not zero");
    },
    refused_and_inconclusive_and_limited: |policy| {
        policy.breaker.refused = 2;
        policy.breaker.inconclusive = 2;
        policy.breaker.rate_limited = 2;
    },
}
