//! What an operator does to the breaker, and what the breaker says.

use gate_core::Policy;
use gate_core::decide::breaker::{Act, Breaker, BreakerState, Counters};
use gate_core::history::{State, kind};
use gate_core::protocol::ledger::{Draft, Sealed};
use jiff::{SignedDuration, Timestamp};
use schemars::JsonSchema;
use serde::Serialize;

use super::body::{self, ActBody};
use super::{Memory, now};
use crate::failure::Failure;
use crate::operator::Operator;
use crate::record::Ledger;
use crate::secrets;

/// `gate.breaker.v1`: the breaker of a task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct BreakerStatus {
    /// Always `gate.breaker.v1`.
    pub schema: &'static str,
    /// What the project is known by.
    pub project: String,
    /// The task; empty where none is named.
    pub task: String,
    /// Its state.
    pub state: BreakerState,
    /// What opened it, by the name of the setting that limits it; `operator`,
    /// or `state` where the state was lost.
    pub trip: Option<String>,
    /// What opened it, in words.
    pub message: Option<String>,
    /// The counters of the last run, where its decision is the latest.
    pub counters: Option<Counters>,
    /// When a probe may be tried (RFC 3339, UTC); none where only an operator
    /// can close it, and where it is not open.
    pub probe_at: Option<String>,
    /// The record that an operator's act has left.
    pub ledger: Option<Ledger>,
}

impl BreakerStatus {
    /// Whether it lets nobody through at this moment.
    pub(crate) fn is_shut(&self, now: Timestamp) -> bool {
        let probe_at = || self.probe_at.as_deref().and_then(|at| at.parse::<Timestamp>().ok());
        match self.state {
            BreakerState::Isolated => true,
            BreakerState::Open => probe_at().is_none_or(|at| at > now),
            BreakerState::Closed | BreakerState::HalfOpen => false,
        }
    }
}

/// What an operator does.
#[derive(Clone, Copy, Debug)]
pub struct Operation<'a> {
    /// To the breaker of this task; empty where none is named.
    pub task: &'a str,
    /// What.
    pub act: Act,
    /// Why.
    pub reason: &'a str,
}

impl Memory {
    /// What the breaker of a task says.
    ///
    /// # Errors
    ///
    /// A store that cannot be read.
    pub fn breaker(&mut self, task: &str, policy: &Policy) -> Result<BreakerStatus, Failure> {
        match self.read(|reading| latest(reading.latest_of_task(task)?.as_ref())) {
            Ok(left) => Ok(BreakerStatus {
                counters: left.run.map(|run| run.counters),
                ..self.status(task, &left.breaker, policy)
            }),
            Err(failure) => match failure.lost_state() {
                Some(why) => Ok(self.lost(task, why)),
                None => Err(failure),
            },
        }
    }

    /// Does it, and records who did it and why. A reset where the state cannot
    /// be trusted begins a new ledger, whose first record says what was lost.
    ///
    /// # Errors
    ///
    /// A store that cannot be written.
    pub fn operate(
        &mut self,
        operation: Operation<'_>,
        policy: &Policy,
    ) -> Result<BreakerStatus, Failure> {
        let operated = match self.operated(operation, None) {
            Err(failure) if operation.act == Act::Reset => match failure.lost_state() {
                Some(lost) => {
                    self.store.renew(&self.project)?;
                    self.operated(operation, Some(lost))
                }
                None => Err(failure),
            },
            operated => operated,
        };
        let (breaker, place) = operated?;
        let status = self.status(operation.task, &breaker, policy);
        Ok(BreakerStatus { ledger: Some(place), ..status })
    }

    /// Records what an operator did that changes nothing in the ledger's own state.
    ///
    /// # Errors
    ///
    /// A store that cannot be written.
    pub(crate) fn acted(&mut self, act: &str, value: Option<&str>) -> Result<Ledger, Failure> {
        let operator = Operator::of_process();
        self.write(|writing| {
            let body = ActBody {
                act,
                reason: None,
                value,
                task: None,
                operator: &operator,
                lost: None,
                state: None,
            };
            let sealed = writing.append(Draft {
                time: Timestamp::now().to_string(),
                kind: kind::ACT.to_owned(),
                run: None,
                actor: operator.actor(),
                body: body::body(&body)?,
            })?;
            Ok(body::place(&sealed))
        })
    }

    fn operated(
        &mut self,
        operation: Operation<'_>,
        lost: Option<&str>,
    ) -> Result<(Breaker, Ledger), Failure> {
        let Operation { task, act, reason } = operation;
        let reason = &secrets::masked(reason);
        let operator = Operator::of_process();
        self.write(|writing| {
            let before = latest(writing.latest_of_task(task)?.as_ref())?.breaker;
            let (breaker, _) = before.operated(act, reason, &now());
            let state = State::of_task(task, breaker.clone());
            let act = ActBody {
                act: act.name(),
                reason: Some(reason),
                value: None,
                task: None,
                operator: &operator,
                lost,
                state: Some(state),
            };
            let sealed = writing.append(Draft {
                time: Timestamp::now().to_string(),
                kind: kind::ACT.to_owned(),
                run: None,
                actor: operator.actor(),
                body: body::body(&act)?,
            })?;
            Ok((breaker, body::place(&sealed)))
        })
    }

    fn status(&self, task: &str, breaker: &Breaker, policy: &Policy) -> BreakerStatus {
        let trip = breaker.trip.as_ref();
        BreakerStatus {
            schema: "gate.breaker.v1",
            project: self.project.clone(),
            task: task.to_owned(),
            state: breaker.state,
            trip: trip.map(|trip| trip.cause.name().to_owned()),
            message: trip.map(|trip| trip.message.clone()),
            counters: None,
            probe_at: breaker.cools_in(&now(), policy).and_then(later),
            ledger: None,
        }
    }

    fn lost(&self, task: &str, why: &str) -> BreakerStatus {
        BreakerStatus {
            schema: "gate.breaker.v1",
            project: self.project.clone(),
            task: task.to_owned(),
            state: BreakerState::Open,
            trip: Some("state".to_owned()),
            message: Some(why.to_owned()),
            counters: None,
            probe_at: None,
            ledger: None,
        }
    }
}

/// What the latest record of a task left.
fn latest(sealed: Option<&Sealed>) -> Result<State, Failure> {
    let state = sealed.map(body::state_of).transpose()?;
    Ok(state.unwrap_or_else(|| State::of_task("", Breaker::default())))
}

/// The time so many milliseconds from now.
fn later(millis: u64) -> Option<String> {
    let wait = SignedDuration::from_millis(i64::try_from(millis).ok()?);
    Some(Timestamp::now().checked_add(wait).ok()?.to_string())
}
