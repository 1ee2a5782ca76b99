//! The circuit breaker: it ends a loop that gets nowhere, and never calls that
//! success.
//!
//! Each loop has its own: a session, a prompt in a work tree, a loop of `gate
//! run`, a run. An operator can hold a task beside that, whichever loop works on
//! it; that hold is a breaker too, which no loop can trip.
//!
//! Its states and the ways between them are [`TABLE`]; `trip` has the causes that trip it, and `probe`
//! closes it again. It is pure: a step takes a breaker and the time, and returns the breaker after
//! the step with the change.

mod counters;
mod iteration;
mod probe;
mod table;
mod trip;
mod view;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use counters::Counters;
pub use iteration::Iteration;
pub use probe::{Admission, Admitted, Probe};
pub use table::{BreakerState, Event, TABLE, Transition, after};
pub use trip::{Cause, LimitedCounter, Trip};
pub use view::BreakerView;

pub(crate) use trip::due;

use table::target;

use super::evidence::Outcome;
use super::iteration_facts::TreeState;
use super::timestamp::Timestamp;

/// After so many iterations without a trip, earlier trips no longer lengthen
/// the cool-down.
const CALM_ITERATIONS: u32 = 5;

/// The breaker of a loop, or an operator's hold.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Breaker {
    /// Its state.
    pub state: BreakerState,
    /// The cause that opened it, until it is closed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trip: Option<Trip>,
    /// The state of the run when it was opened: a probe is compared with it.
    #[serde(default, rename = "stood", skip_serializing_if = "Option::is_none")]
    pub snapshot: Option<TripSnapshot>,
    /// The number of times that it was opened without calm between: each time lengthens
    /// the cool-down.
    #[serde(default)]
    pub level: u32,
    /// Iterations that could be measured since it was closed.
    #[serde(default)]
    pub calm: u32,
    /// The decision that may try whether the trip's cause is gone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub probe: Option<Probe>,
    /// The number of times that the operator has reset it. A run ends with a reset.
    #[serde(default)]
    pub resets: u64,
}

/// The state of a run when its breaker was opened.
#[non_exhaustive]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Stood")]
pub struct TripSnapshot {
    /// When that was.
    pub at: Timestamp,
    /// The work tree.
    #[serde(default)]
    pub tree: Option<TreeState>,
    /// The error's signature.
    #[serde(default)]
    pub signature: Option<String>,
    /// The checks, as they were last seen.
    #[serde(default)]
    pub checks: BTreeMap<String, Outcome>,
}

/// One step of the breaker.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Change {
    /// Before.
    pub from: BreakerState,
    /// The event.
    pub event: Event,
    /// After.
    pub to: BreakerState,
    /// The cause that opens it, or had opened it.
    #[serde(default)]
    pub trip: Option<Trip>,
}

/// An operator's act on the breaker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    /// Closes it, with all counters at zero.
    Reset,
    /// Opens it.
    Trip,
    /// Holds it open until it is reset.
    Isolate,
}

impl Act {
    /// All acts.
    pub const ALL: [Self; 3] = [Self::Reset, Self::Trip, Self::Isolate];

    /// Its name in records.
    pub fn name(self) -> &'static str {
        match self {
            Self::Reset => "breaker_reset",
            Self::Trip => "breaker_trip",
            Self::Isolate => "breaker_isolate",
        }
    }
}

impl Breaker {
    /// Decisions pass as if there were no breaker.
    pub fn is_closed(&self) -> bool {
        self.state == BreakerState::Closed
    }

    /// The part of a task's breaker that an operator set; `None` if the operator set nothing.
    /// Older gates kept the trips of loops there, which stop no other loop any more.
    pub fn as_hold(&self) -> Option<Self> {
        let is_operators = self.trip.as_ref().is_some_and(|trip| trip.cause == Cause::Operator);
        let hold = match is_operators {
            true => self.clone(),
            false => Self { resets: self.resets, ..Self::default() },
        };
        (hold != Self::default()).then_some(hold)
    }

    /// The breaker after an operator's act, with the reason that was given.
    #[must_use]
    pub fn operated(&self, act: Act, reason: &str, now: &Timestamp) -> (Self, Change) {
        let event = match act {
            Act::Reset => Event::Reset,
            Act::Trip => Event::OperatorTrip,
            Act::Isolate => Event::Isolate,
        };
        let trip = Trip { cause: Cause::Operator, message: reason.to_owned() };
        let snapshot =
            TripSnapshot { at: now.clone(), ..self.snapshot.clone().unwrap_or_default() };
        match act {
            Act::Reset => {
                let resets = self.resets.saturating_add(1);
                self.moved(event, |_| Self { resets, ..Self::default() })
            }
            Act::Trip | Act::Isolate => self.moved(event, |breaker| Self {
                trip: Some(trip),
                snapshot: Some(snapshot),
                probe: None,
                calm: 0,
                ..breaker
            }),
        }
    }

    /// The breaker that this trip opens.
    pub(crate) fn opened(
        &self,
        event: Event,
        trip: Trip,
        snapshot: TripSnapshot,
    ) -> (Self, Change) {
        self.moved(event, |breaker| Self {
            level: breaker.level.saturating_add(1),
            trip: Some(trip),
            snapshot: Some(snapshot),
            probe: None,
            calm: 0,
            ..breaker
        })
    }

    /// The breaker that a passed probe closes. Only calm shortens the next
    /// cool-down.
    pub(crate) fn closed(&self) -> (Self, Change) {
        self.moved(Event::ProbePassed, |breaker| Self {
            level: breaker.level,
            resets: breaker.resets,
            ..Self::default()
        })
    }

    /// A closed breaker after an iteration that did not trip it. What could not
    /// be measured is no calm.
    pub(crate) fn calmed(&self, iteration: &Iteration) -> Self {
        if !iteration.passed && (iteration.limited || iteration.inconclusive || iteration.tampered)
        {
            return self.clone();
        }
        let calm = self.calm.saturating_add(1);
        let level = if iteration.passed || calm >= CALM_ITERATIONS { 0 } else { self.level };
        Self { calm, level, ..self.clone() }
    }

    /// Makes a transition of the table, with its other changes. Without a transition
    /// nothing changes.
    fn moved(&self, event: Event, change: impl FnOnce(Self) -> Self) -> (Self, Change) {
        let Some(to) = target(self.state, event) else {
            let (state, trip) = (self.state, self.trip.clone());
            return (self.clone(), Change { from: state, event, to: state, trip });
        };
        let breaker = Self { state: to, ..change(self.clone()) };
        let trip = breaker.trip.clone().or_else(|| self.trip.clone());
        (breaker, Change { from: self.state, event, to, trip })
    }
}
