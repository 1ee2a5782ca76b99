//! The breaker as a decision shows it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::counters::Counters;
use super::table::BreakerState;

/// The breaker after a decision.
#[non_exhaustive]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BreakerView {
    /// Its state.
    pub state: BreakerState,
    /// The cause of the trip, by the name of the setting that limits it; `operator`, or
    /// `state` if the state was lost.
    pub trip: Option<String>,
    /// The counters of the run.
    pub counters: Counters,
}

impl BreakerView {
    /// The breaker whose state was lost: open.
    pub fn lost() -> Self {
        Self {
            state: BreakerState::Open,
            trip: Some("state".to_owned()),
            counters: Counters::default(),
        }
    }
}
