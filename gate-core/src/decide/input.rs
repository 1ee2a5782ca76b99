//! What a decision is made of.

use serde::{Deserialize, Serialize};

use super::breaker::{BreakerState, BreakerView};
use super::evidence::Evidence;
use super::indicator::Hit;
use super::reason::Warning;
use super::signal::Signal;

/// Everything that a decision depends on beside the policy.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Input {
    /// What the agent says about being done.
    pub signal: Signal,
    /// The patterns' hits.
    pub hits: Vec<Hit>,
    /// What gate itself looked at.
    pub evidence: Vec<Evidence>,
    /// Whether configured checks were left out because the caller asked so.
    pub checks_left_out: bool,
    /// Whether state is kept from one decision to the next. Where it is, a
    /// breaker that is not there is open.
    pub stateful: bool,
    /// The breaker before this decision.
    pub breaker: Option<BreakerView>,
    /// How many iterations before this one passed in a row.
    pub passed_in_a_row: u32,
    /// The exit code of the agent's program.
    pub agent_exit_code: Option<i32>,
    /// The operator's reason for `--force-complete`.
    pub forced: Option<String>,
    /// What reading the input and the settings found worth telling.
    pub warnings: Vec<Warning>,
}

impl Input {
    /// A signal and indicators, without evidence and without state.
    pub fn new(signal: Signal, hits: Vec<Hit>) -> Self {
        Self {
            signal,
            hits,
            evidence: Vec::new(),
            checks_left_out: false,
            stateful: false,
            breaker: None,
            passed_in_a_row: 0,
            agent_exit_code: None,
            forced: None,
            warnings: Vec::new(),
        }
    }

    /// The breaker that this decision has to respect: without state there is
    /// none, and state that was lost is an open breaker.
    pub(crate) fn breaker_in_force(&self) -> BreakerView {
        match (&self.breaker, self.stateful) {
            (Some(breaker), true) => breaker.clone(),
            (None, true) => BreakerView {
                state: BreakerState::Open,
                trip: Some("its state is missing".to_owned()),
                ..BreakerView::default()
            },
            (_, false) => BreakerView::default(),
        }
    }
}
