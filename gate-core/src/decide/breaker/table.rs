//! The breaker's states, and the only ways between them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The breaker's states.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum BreakerState {
    /// The loop runs.
    #[default]
    Closed,
    /// One probe is allowed.
    HalfOpen,
    /// The loop is stopped, and not done.
    Open,
    /// An operator holds it open.
    Isolated,
}

/// An event that moves the breaker.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Event {
    /// A loop reached one of the limits.
    Trip,
    /// The cool-down is over.
    CooledDown,
    /// The cause of the trip is gone.
    ProbePassed,
    /// The cause of the trip is still there.
    ProbeFailed,
    /// The probe did not report back in time.
    ProbeOverdue,
    /// The operator closes it.
    Reset,
    /// The operator opens it.
    OperatorTrip,
    /// The operator holds it open.
    Isolate,
}

/// One way from a state to a state.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transition {
    /// Before.
    pub from: BreakerState,
    /// The event.
    pub event: Event,
    /// After.
    pub to: BreakerState,
}

/// All transitions. An event that is not in the table changes nothing.
pub const TABLE: [Transition; 15] = {
    use BreakerState::{Closed, HalfOpen, Isolated, Open};
    const fn way(from: BreakerState, event: Event, to: BreakerState) -> Transition {
        Transition { from, event, to }
    }
    [
        way(Closed, Event::Trip, Open),
        way(Closed, Event::OperatorTrip, Open),
        way(Closed, Event::Isolate, Isolated),
        way(Closed, Event::Reset, Closed),
        way(Open, Event::CooledDown, HalfOpen),
        way(Open, Event::OperatorTrip, Open),
        way(Open, Event::Isolate, Isolated),
        way(Open, Event::Reset, Closed),
        way(HalfOpen, Event::ProbePassed, Closed),
        way(HalfOpen, Event::ProbeFailed, Open),
        way(HalfOpen, Event::ProbeOverdue, Open),
        way(HalfOpen, Event::OperatorTrip, Open),
        way(HalfOpen, Event::Isolate, Isolated),
        way(HalfOpen, Event::Reset, Closed),
        way(Isolated, Event::Reset, Closed),
    ]
};

/// The state after an event.
pub fn after(from: BreakerState, event: Event) -> BreakerState {
    target(from, event).unwrap_or(from)
}

/// The state that the table leads to; `None` if the table has no such way.
pub(super) fn target(from: BreakerState, event: Event) -> Option<BreakerState> {
    TABLE.iter().find(|way| way.from == from && way.event == event).map(|way| way.to)
}
