//! The fold over a ledger: each record is made again from those before it.

use std::collections::BTreeMap;
use std::mem;

use super::body::{Acted, Decided, Stepped};
use super::divergence::{Divergence, Wrong, same, word};
use super::{Owner, State, kind};
use crate::decide::breaker::{Breaker, BreakerState, Change, Event, TABLE, Transition};
use crate::decide::decision::{Decision, judge};
use crate::decide::policy::Policy;
use crate::decide::run_state::{LoopState, RunState};
use crate::ledger::Record;

/// The runs and breakers of a ledger, record after record.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct History {
    breakers: BTreeMap<Key, Breaker>,
    runs: BTreeMap<String, RunState>,
    /// Steps that decisions made, and whose own records have not come yet.
    owed: BTreeMap<Key, Change>,
    undecided: Vec<u64>,
    /// True if records are missing: a breaker or a run that is not known is taken from the next
    /// record that has it.
    has_gaps: bool,
}

/// The owner of a breaker, and the owner's name.
type Key = (Owner, String);

impl History {
    /// The breaker of this owner; none before its first record.
    pub fn breaker(&self, (owner, name): (Owner, &str)) -> Option<&Breaker> {
        self.breakers.get(&(owner, name.to_owned()))
    }

    /// The last run of a loop; none before its first decision.
    pub fn run(&self, name: &str) -> Option<&RunState> {
        self.runs.get(name)
    }

    /// The numbers of the decisions that could not be decided again, because their policy is not
    /// known, or because a rule that is gone had a part in them.
    pub fn undecided(&self) -> &[u64] {
        &self.undecided
    }

    /// Makes the next record again: a decision from its own input and from the
    /// policy with its digest, a step and an act from the breaker before. A
    /// decision whose policy is not known, or that rests on a rule that is gone,
    /// cannot be made again: it is taken as it stands, and
    /// [`undecided`](Self::undecided). Records of other types say nothing of
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
        let applied = match record.kind.as_str() {
            kind if kind::is_decision(kind) => self.decided(record, policies),
            kind::TRANSITION => self.stepped(record),
            kind::ACT => self.acted(record),
            _ => Ok(()),
        };
        applied.map_err(|wrong| wrong.in_record(record.seq))
    }

    /// Goes on behind records that are not there: nothing is known of runs and breakers.
    pub fn skip(&mut self) {
        *self =
            Self { undecided: mem::take(&mut self.undecided), has_gaps: true, ..Self::default() };
    }

    fn decided(
        &mut self,
        record: &Record,
        policies: &dyn Fn(&str) -> Option<Policy>,
    ) -> Result<(), Wrong> {
        let decided = Decided::read(record)?;
        is_of_its_kind(&record.kind, &decided.decision)?;
        let (name, run) = named(&decided)?;
        let Decided { decision, policy_digest, state, .. } = &decided;
        let own = key(state);
        let of_task = (Owner::Task, state.task.clone());
        self.owes_nothing(record, &own)?;
        self.owes_nothing(record, &of_task)?;
        let before = self.rested_on(decision, state, name)?;
        let is_removed = decision.rests_on_removed_rule();
        let policy = if is_removed { None } else { policies(policy_digest) };
        let step = match &policy {
            Some(policy) => again(decision, state, policy)?,
            None => taken(before, state)?,
        };
        if policy.is_none() {
            self.undecided.push(record.seq);
        }
        if before.held_by_operator().is_some() {
            self.breakers.extend(state.hold.clone().map(|hold| (of_task.clone(), hold)));
            self.owed.extend(step.map(|step| (of_task, step)));
        } else {
            self.owed.extend(step.map(|step| (own.clone(), step)));
        }
        self.breakers.insert(own, state.breaker.clone());
        self.runs.insert(name.to_owned(), run.clone());
        Ok(())
    }

    /// The memory that a decision rested on: this history's, or that of a run that
    /// begins.
    fn rested_on<'d>(
        &self,
        decision: &'d Decision,
        state: &State,
        name: &str,
    ) -> Result<&'d LoopState, Wrong> {
        let Some(memory) = &decision.input.memory else {
            return Err(absent("/decision/memory", "what was remembered before"));
        };
        if !self.is_behind_gap(&key(state)) {
            same("/decision/memory/breaker", &memory.breaker, &self.standing(&key(state)))?;
        }
        let of_task = (Owner::Task, state.task.clone());
        if state.owner == Owner::Loop && !self.is_behind_gap(&of_task) {
            let hold = self.breakers.get(&of_task).and_then(Breaker::as_hold);
            same("/decision/memory/hold", &memory.hold, &hold)?;
        }
        let begins = RunState::begins(&memory.run.started, memory.resets());
        if memory.run == begins {
            return Ok(memory);
        }
        let last = match self.runs.get(name) {
            None if self.has_gaps => return Ok(memory),
            last => last.unwrap_or(&begins),
        };
        same("/decision/memory/run", &memory.run, last)?;
        if last.has_ended(memory.resets()) {
            return Err(Wrong::new("/decision/memory/run", "one that has ended", "a new one"));
        }
        Ok(memory)
    }

    fn stepped(&mut self, record: &Record) -> Result<(), Wrong> {
        let Stepped { change, state } = Stepped::read(record)?;
        is_in_the_table(&change)?;
        let key = key(&state);
        if self.is_behind_gap(&key) {
            self.breakers.insert(key, state.breaker);
            return Ok(());
        }
        let before = self.standing(&key);
        let (breaker, expected) = match self.owed.get(&key) {
            Some(owed) => (before, owed.clone()),
            None => admitted(&before, &change, &state.breaker)?,
        };
        same("", &change, &expected)?;
        same("/state/breaker", &state.breaker, &breaker)?;
        self.owed.remove(&key);
        self.breakers.insert(key, breaker);
        Ok(())
    }

    fn acted(&mut self, record: &Record) -> Result<(), Wrong> {
        let Some(Acted { act, reason, state }) = Acted::read(record)? else { return Ok(()) };
        let key = key(&state);
        self.owes_nothing(record, &key)?;
        if self.is_behind_gap(&key) {
            self.breakers.insert(key, state.breaker);
            return Ok(());
        }
        let at = state.breaker.stood.clone().unwrap_or_default().at;
        let (breaker, _) = self.standing(&key).operated(act, &reason, &at);
        same("/state/breaker", &state.breaker, &breaker)?;
        self.breakers.insert(key, breaker);
        Ok(())
    }

    /// A breaker; closed before its first record.
    fn standing(&self, key: &Key) -> Breaker {
        self.breakers.get(key).cloned().unwrap_or_default()
    }

    /// True if a record that is not there may have changed this breaker.
    fn is_behind_gap(&self, key: &Key) -> bool {
        self.has_gaps && !self.breakers.contains_key(key)
    }

    /// Checks that every step of the breaker has its record by now.
    fn owes_nothing(&self, record: &Record, key: &Key) -> Result<(), Wrong> {
        let Some(step) = self.owed.get(key) else { return Ok(()) };
        let expected =
            format!("the breaker's step {}, which the decision before made", word(&step.event));
        Err(Wrong::new("type", &*record.kind, expected))
    }
}

fn key(state: &State) -> Key {
    let (owner, name) = state.key();
    (owner, name.to_owned())
}

/// Checks that the type of a decision's record is its verdict's.
fn is_of_its_kind(recorded: &str, decision: &Decision) -> Result<(), Wrong> {
    same("type", &recorded, &kind::for_decision(decision))
}

/// The loop's name and its run. Checks that the state has the task and the iteration of the
/// decision.
fn named(decided: &Decided) -> Result<(&str, &RunState), Wrong> {
    let Decided { decision, task, state, .. } = decided;
    same("/state/task", &state.task, task)?;
    same("/state/iteration", &state.iteration, &Some(decision.input.observed.iteration))?;
    let name = state.name.as_deref().ok_or_else(|| absent("/state/loop", "the loop's name"))?;
    let run = state.run.as_ref().ok_or_else(|| absent("/state/run", "the run that was left"))?;
    Ok((name, run))
}

fn absent(at: &str, expected: &str) -> Wrong {
    Wrong::new(at, "absent", expected)
}

/// Decides again, and gives the breaker's step.
fn again(decision: &Decision, state: &State, policy: &Policy) -> Result<Option<Change>, Wrong> {
    let judged = judge(&decision.input, policy);
    same("/decision", decision, &judged.decision)?;
    let Some(memory) = judged.memory else {
        return Err(Wrong::new("/state", "there", "none: the decision leaves nothing"));
    };
    same("/state/breaker", &state.breaker, &memory.breaker)?;
    same("/state/hold", &state.hold, &memory.hold)?;
    same("/state/run", &state.run, &Some(memory.run))?;
    Ok(judged.change)
}

/// Takes the state as it stands, and gives the step that leads to it: whatever
/// the policy, a decision makes no step but its own.
fn taken(before: &LoopState, state: &State) -> Result<Option<Change>, Wrong> {
    let (before, after) = match (before.held_by_operator(), &state.hold) {
        (Some(hold), Some(after)) => (hold, after),
        (Some(_), None) => return Err(absent("/state/hold", "what the operator holds")),
        (None, _) => (&before.breaker, &state.breaker),
    };
    let (from, to) = (before.state, after.state);
    if from == to {
        return Ok(None);
    }
    let events = [Event::Trip, Event::ProbePassed, Event::ProbeFailed];
    let event = events.into_iter().find(|event| is_a_way(from, *event, to)).ok_or_else(|| {
        Wrong::new("/state/breaker/state", word(&to), format!("a step from {}", word(&from)))
    })?;
    let trip = after.trip.clone().or_else(|| before.trip.clone());
    Ok(Some(Change { from, event, to, trip }))
}

fn is_in_the_table(change: &Change) -> Result<(), Wrong> {
    if is_a_way(change.from, change.event, change.to) {
        return Ok(());
    }
    let Change { from, event, to, .. } = change;
    Err(Wrong::new(
        "/event",
        format!("{} from {} to {}", word(event), word(from), word(to)),
        "a step of the table",
    ))
}

fn is_a_way(from: BreakerState, event: Event, to: BreakerState) -> bool {
    TABLE.contains(&Transition { from, event, to })
}

/// The step that the breaker made before a decision: whether it was time is for
/// the policy of that moment to say, which the record does not name.
fn admitted(
    before: &Breaker,
    change: &Change,
    after: &Breaker,
) -> Result<(Breaker, Change), Wrong> {
    let stepped = match change.event {
        Event::CooledDown => after.probe.clone().and_then(|probe| before.cools(probe)),
        Event::ProbeOverdue => after.stood.as_ref().and_then(|stood| before.gives_up(&stood.at)),
        _ => {
            let event = word(&change.event);
            return Err(Wrong::new("/event", event, "a step that no decision makes"));
        }
    };
    stepped.ok_or_else(|| {
        let event = word(&change.event);
        Wrong::new(
            "/event",
            event,
            format!("no such step of a breaker that is {}", word(&before.state)),
        )
    })
}
