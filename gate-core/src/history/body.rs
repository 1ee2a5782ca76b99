//! The bodies of records.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::divergence::{Mismatch, expect_same};
use super::{Owner, State};
use crate::decide::breaker::{Act, BreakerState, Change, Event, Trip};
use crate::decide::decision::Decision;
use crate::ledger::Record;

/// The body of a decision's record.
pub(super) struct Decided {
    pub(super) decision: Decision,
    /// The task that the decision itself names; empty if it names none.
    pub(super) task: String,
    pub(super) policy_digest: String,
    pub(super) state: State,
}

/// The members that a record adds to a decision.
#[derive(Deserialize)]
struct AddedMembers {
    #[serde(default)]
    task: Option<String>,
    policy_digest: String,
}

impl Decided {
    pub(super) fn read(record: &Record) -> Result<Self, Mismatch> {
        let AddedMembers { task, policy_digest } = member(record, "decision")?;
        Ok(Self {
            decision: member(record, "decision")?,
            task: task.unwrap_or_default(),
            policy_digest,
            state: member(record, "state")?,
        })
    }
}

/// The body of a step's record.
pub(super) struct Stepped {
    pub(super) change: Change,
    pub(super) state: State,
}

impl Stepped {
    pub(super) fn read(record: &Record) -> Result<Self, Mismatch> {
        let from: BreakerState = member(record, "from")?;
        let to: BreakerState = member(record, "to")?;
        let event: Event = member(record, "event")?;
        let trip: Option<Trip> = member(record, "trip")?;
        let state = breaker_state(record)?;
        Ok(Self { change: Change { from, event, to, trip }, state })
    }
}

/// The body of the record of an act that concerns a breaker.
pub(super) struct Acted {
    pub(super) act: Act,
    pub(super) reason: String,
    pub(super) state: State,
}

impl Acted {
    /// `None` for the other acts, which leave runs and breakers as they are.
    pub(super) fn read(record: &Record) -> Result<Option<Self>, Mismatch> {
        let name: String = member(record, "act")?;
        let Some(act) = breaker_act(&name) else {
            return match record.body.get("state") {
                None => Ok(None),
                Some(_) => Err(Mismatch::new("/state", "there", format!("none after {name}"))),
            };
        };
        let reason: Option<String> = member(record, "reason")?;
        let state = breaker_state(record)?;
        Ok(Some(Self { act, reason: reason.unwrap_or_default(), state }))
    }
}

/// The acts that concern a breaker.
fn breaker_act(name: &str) -> Option<Act> {
    Act::ALL.into_iter().find(|act| act.name() == name)
}

/// The state that a step or an act left: it concerns no run.
fn breaker_state(record: &Record) -> Result<State, Mismatch> {
    let state: State = member(record, "state")?;
    let breaker = state.breaker.clone();
    let breaker_alone = match state.key() {
        (Owner::Loop, name) => State::for_loop(name, &state.task, breaker),
        (Owner::Task, task) => State::for_task(task, breaker),
    };
    expect_same("/state", &state, &breaker_alone)?;
    Ok(state)
}

/// A member of the body; one that is absent is read as null.
fn member<T: DeserializeOwned>(record: &Record, key: &str) -> Result<T, Mismatch> {
    let value = record.body.get(key).unwrap_or(&Value::Null);
    T::deserialize(value).map_err(|error| {
        Mismatch::unreadable(&format!("/{key}"), &error, "what a record of this type says there")
    })
}
