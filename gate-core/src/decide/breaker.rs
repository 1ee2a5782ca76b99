//! What the breaker says to a decision.
//!
//! A decision takes the breaker's state as given: whoever keeps state passes
//! it, and without state it is closed.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The breaker as a decision sees it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BreakerView {
    /// Its state.
    pub state: BreakerState,
    /// What tripped it.
    pub trip: Option<String>,
    /// Its counters.
    pub counters: Counters,
}

/// The breaker's states.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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

/// How often in a row something has happened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Counters {
    /// Iterations without a passing gate.
    pub no_exit: u32,
    /// Refused claims of completion.
    pub refused: u32,
    /// Iterations without a change to the tree.
    pub no_progress: u32,
    /// Iterations with the same error.
    pub same_error: u32,
}

impl BreakerView {
    /// Whether the loop must stop.
    pub fn stops(&self) -> bool {
        matches!(self.state, BreakerState::Open | BreakerState::Isolated)
    }
}
