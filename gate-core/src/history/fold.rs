//! The fold over a ledger: each record is made again from those before it.

use std::collections::BTreeMap;
use std::mem;

use super::body::{Acted, Decided, Stepped};
use super::divergence::{Divergence, Mismatch, expect_same, recorded_name};
use super::{Owner, State, kind};
use crate::decide::breaker::{Breaker, BreakerState, Change, Event, TABLE, Transition};
use crate::decide::decision::{Decision, judge};
use crate::decide::policy::Policy;
use crate::decide::run_state::{LoopState, RunState};
use crate::ledger::Record;

/// The runs and breakers of a ledger, record after record.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct History {
    breakers: BTreeMap<BreakerKey, Breaker>,
    runs: BTreeMap<String, RunState>,
    /// Steps that decisions made, and whose own records have not come yet.
    owed_steps: BTreeMap<BreakerKey, Change>,
    undecided: Vec<u64>,
    /// Records are missing: an unknown breaker or run is taken from the next record that has it.
    has_gaps: bool,
}

/// The owner of a breaker, and the owner's name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct BreakerKey {
    owner: Owner,
    name: String,
}

impl History {
    /// The breaker of this owner; `None` before its first record.
    pub fn breaker(&self, owner: Owner, name: &str) -> Option<&Breaker> {
        self.breakers.get(&BreakerKey { owner, name: name.to_owned() })
    }

    /// The last run of a loop; `None` before its first decision.
    pub fn run(&self, name: &str) -> Option<&RunState> {
        self.runs.get(name)
    }

    /// The numbers of the decisions that could not be decided again, because their policy is
    /// unknown, or because a removed rule had a part in them.
    pub fn undecided(&self) -> &[u64] {
        &self.undecided
    }

    /// Makes the next record again: a decision from its own input and from the
    /// policy with its digest, a step and an act from the breaker before. A
    /// decision whose policy is unknown, or that rests on a removed rule,
    /// cannot be made again: it is taken as it stands, and
    /// [`undecided`](Self::undecided). Records of other types are not about
    /// runs and breakers.
    ///
    /// The chain of the records is not looked at: see
    /// [`Chain`](crate::ledger::Chain).
    ///
    /// # Errors
    ///
    /// The first thing in the record that does not follow from those before it.
    /// Nothing of the record is taken then.
    pub fn apply(
        &mut self,
        record: &Record,
        policies: &dyn Fn(&str) -> Option<Policy>,
    ) -> Result<(), Divergence> {
        let result = match record.kind.as_str() {
            kind if kind::is_decision(kind) => self.apply_decision(record, policies),
            kind::TRANSITION => self.apply_step(record),
            kind::ACT => self.apply_act(record),
            _ => Ok(()),
        };
        result.map_err(|mismatch| mismatch.in_record(record.seq))
    }

    /// Goes on behind missing records: all runs and breakers are unknown.
    pub fn skip(&mut self) {
        *self =
            Self { undecided: mem::take(&mut self.undecided), has_gaps: true, ..Self::default() };
    }

    fn apply_decision(
        &mut self,
        record: &Record,
        policies: &dyn Fn(&str) -> Option<Policy>,
    ) -> Result<(), Mismatch> {
        let decided = Decided::read(record)?;
        expect_kind(&record.kind, &decided.decision)?;
        let (name, run) = loop_run(&decided)?;
        let Decided { decision, policy_digest, state, .. } = &decided;
        let key = breaker_key(state);
        let task_key = BreakerKey { owner: Owner::Task, name: state.task.clone() };
        self.expect_no_owed_step(record, &key)?;
        self.expect_no_owed_step(record, &task_key)?;
        let memory = self.memory_of(decision, state, name)?;
        let is_removed = decision.rests_on_removed_rule();
        let policy = if is_removed { None } else { policies(policy_digest) };
        let step = match &policy {
            Some(policy) => decide_again(decision, state, policy)?,
            None => step_between(memory, state)?,
        };
        if policy.is_none() {
            self.undecided.push(record.seq);
        }
        // While an operator holds the task, the step is one of the hold.
        if memory.held_by_operator().is_some() {
            self.breakers.extend(state.hold.clone().map(|hold| (task_key.clone(), hold)));
            self.owed_steps.extend(step.map(|step| (task_key, step)));
        } else {
            self.owed_steps.extend(step.map(|step| (key.clone(), step)));
        }
        self.breakers.insert(key, state.breaker.clone());
        self.runs.insert(name.to_owned(), run.clone());
        Ok(())
    }

    /// The memory that a decision rested on: this history's, or that of a run that
    /// begins.
    fn memory_of<'d>(
        &self,
        decision: &'d Decision,
        state: &State,
        name: &str,
    ) -> Result<&'d LoopState, Mismatch> {
        let Some(memory) = &decision.input.memory else {
            return Err(absent("/decision/memory", "what was remembered before"));
        };
        let key = breaker_key(state);
        if !self.is_behind_gap(&key) {
            let breaker = self.breaker_or_closed(&key);
            expect_same("/decision/memory/breaker", &memory.breaker, &breaker)?;
        }
        let task_key = BreakerKey { owner: Owner::Task, name: state.task.clone() };
        if state.owner == Owner::Loop && !self.is_behind_gap(&task_key) {
            let hold = self.breakers.get(&task_key).and_then(Breaker::as_hold);
            expect_same("/decision/memory/hold", &memory.hold, &hold)?;
        }
        let new_run = RunState::begins(&memory.run.started, memory.resets());
        if memory.run == new_run {
            return Ok(memory);
        }
        let last_run = match self.runs.get(name) {
            None if self.has_gaps => return Ok(memory),
            run => run.unwrap_or(&new_run),
        };
        expect_same("/decision/memory/run", &memory.run, last_run)?;
        if last_run.has_ended(memory.resets()) {
            return Err(Mismatch::new("/decision/memory/run", "one that has ended", "a new one"));
        }
        Ok(memory)
    }

    fn apply_step(&mut self, record: &Record) -> Result<(), Mismatch> {
        let Stepped { change, state } = Stepped::read(record)?;
        expect_transition(&change)?;
        let key = breaker_key(&state);
        if self.is_behind_gap(&key) {
            self.breakers.insert(key, state.breaker);
            return Ok(());
        }
        let last_breaker = self.breaker_or_closed(&key);
        // A step that a decision made has to have the record that the decision called for. Any other
        // step is the breaker's own, before the next decision.
        let (breaker, expected) = match self.owed_steps.get(&key) {
            Some(owed_step) => (last_breaker, owed_step.clone()),
            None => step_before_decision(&last_breaker, &change, &state.breaker)?,
        };
        expect_same("", &change, &expected)?;
        expect_same("/state/breaker", &state.breaker, &breaker)?;
        self.owed_steps.remove(&key);
        self.breakers.insert(key, breaker);
        Ok(())
    }

    fn apply_act(&mut self, record: &Record) -> Result<(), Mismatch> {
        let Some(Acted { act, reason, state }) = Acted::read(record)? else { return Ok(()) };
        let key = breaker_key(&state);
        self.expect_no_owed_step(record, &key)?;
        if self.is_behind_gap(&key) {
            self.breakers.insert(key, state.breaker);
            return Ok(());
        }
        let time = state.breaker.snapshot.clone().unwrap_or_default().at;
        let (breaker, _) = self.breaker_or_closed(&key).operated(act, &reason, &time);
        expect_same("/state/breaker", &state.breaker, &breaker)?;
        self.breakers.insert(key, breaker);
        Ok(())
    }

    /// A breaker; closed before its first record.
    fn breaker_or_closed(&self, key: &BreakerKey) -> Breaker {
        self.breakers.get(key).cloned().unwrap_or_default()
    }

    /// A missing record may have changed this breaker.
    fn is_behind_gap(&self, key: &BreakerKey) -> bool {
        self.has_gaps && !self.breakers.contains_key(key)
    }

    /// Checks that every step of the breaker has its record by now.
    fn expect_no_owed_step(&self, record: &Record, key: &BreakerKey) -> Result<(), Mismatch> {
        let Some(step) = self.owed_steps.get(key) else { return Ok(()) };
        let expected = format!(
            "the breaker's step {}, which the decision before made",
            recorded_name(&step.event)
        );
        Err(Mismatch::new("type", &*record.kind, expected))
    }
}

fn breaker_key(state: &State) -> BreakerKey {
    let (owner, name) = state.key();
    BreakerKey { owner, name: name.to_owned() }
}

/// Checks that the type of a decision's record is its verdict's.
fn expect_kind(recorded: &str, decision: &Decision) -> Result<(), Mismatch> {
    expect_same("type", &recorded, &kind::for_decision(decision))
}

/// The loop's name and its run. Checks that the state has the task and the iteration of the
/// decision.
fn loop_run(decided: &Decided) -> Result<(&str, &RunState), Mismatch> {
    let Decided { decision, task, state, .. } = decided;
    expect_same("/state/task", &state.task, task)?;
    expect_same("/state/iteration", &state.iteration, &Some(decision.input.observed.iteration))?;
    let name = state.name.as_deref().ok_or_else(|| absent("/state/loop", "the loop's name"))?;
    let run = state.run.as_ref().ok_or_else(|| absent("/state/run", "the run that was left"))?;
    Ok((name, run))
}

fn absent(at: &str, expected: &str) -> Mismatch {
    Mismatch::new(at, "absent", expected)
}

/// Decides again, and gives the breaker's step.
fn decide_again(
    decision: &Decision,
    state: &State,
    policy: &Policy,
) -> Result<Option<Change>, Mismatch> {
    let judged = judge(&decision.input, policy);
    expect_same("/decision", decision, &judged.decision)?;
    let Some(memory) = judged.memory else {
        return Err(Mismatch::new("/state", "there", "none: the decision leaves nothing"));
    };
    expect_same("/state/breaker", &state.breaker, &memory.breaker)?;
    expect_same("/state/hold", &state.hold, &memory.hold)?;
    expect_same("/state/run", &state.run, &Some(memory.run))?;
    Ok(judged.change)
}

/// Takes the state as it stands, and gives the step that leads to it: whatever
/// the policy, a decision makes no step but its own.
fn step_between(memory: &LoopState, state: &State) -> Result<Option<Change>, Mismatch> {
    let (last_breaker, breaker) = match (memory.held_by_operator(), &state.hold) {
        (Some(last_hold), Some(hold)) => (last_hold, hold),
        (Some(_), None) => return Err(absent("/state/hold", "what the operator holds")),
        (None, _) => (&memory.breaker, &state.breaker),
    };
    let (from, to) = (last_breaker.state, breaker.state);
    if from == to {
        return Ok(None);
    }
    let events = [Event::Trip, Event::ProbePassed, Event::ProbeFailed];
    let event =
        events.into_iter().find(|event| is_in_table(from, *event, to)).ok_or_else(|| {
            Mismatch::new(
                "/state/breaker/state",
                recorded_name(&to),
                format!("a step from {}", recorded_name(&from)),
            )
        })?;
    let trip = breaker.trip.clone().or_else(|| last_breaker.trip.clone());
    Ok(Some(Change { from, event, to, trip }))
}

fn expect_transition(change: &Change) -> Result<(), Mismatch> {
    if is_in_table(change.from, change.event, change.to) {
        return Ok(());
    }
    let Change { from, event, to, .. } = change;
    Err(Mismatch::new(
        "/event",
        format!("{} from {} to {}", recorded_name(event), recorded_name(from), recorded_name(to)),
        "a step of the table",
    ))
}

fn is_in_table(from: BreakerState, event: Event, to: BreakerState) -> bool {
    TABLE.contains(&Transition { from, event, to })
}

/// The step that the breaker made before a decision. The time for it depends on the policy of
/// that moment, which the record does not name, so it is not checked.
fn step_before_decision(
    last_breaker: &Breaker,
    change: &Change,
    breaker: &Breaker,
) -> Result<(Breaker, Change), Mismatch> {
    let step = match change.event {
        Event::CooledDown => breaker.probe.clone().and_then(|probe| last_breaker.cools(probe)),
        Event::ProbeOverdue => {
            breaker.snapshot.as_ref().and_then(|snapshot| last_breaker.gives_up(&snapshot.at))
        }
        _ => {
            let event = recorded_name(&change.event);
            return Err(Mismatch::new("/event", event, "a step that no decision makes"));
        }
    };
    step.ok_or_else(|| {
        let event = recorded_name(&change.event);
        Mismatch::new(
            "/event",
            event,
            format!("no such step of a breaker that is {}", recorded_name(&last_breaker.state)),
        )
    })
}
