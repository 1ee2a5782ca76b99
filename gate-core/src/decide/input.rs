//! The input of a decision.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::breaker::Admission;
use super::evidence::Evidence;
use super::indicator::Hit;
use super::iteration_facts::IterationFacts;
use super::policy::Policy;
use super::reason::Warning;
use super::run_state::LoopState;
use super::score::Indicators;
use super::signal::{Signal, TokenHalves};
use super::stop::Refusals;

/// Everything that a decision depends on beside the policy. A decision holds the input that it was
/// made from, with the indicators added up and its own warnings: the same input, decided again.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Input {
    /// The operator's reason, if forced.
    #[serde(default)]
    pub force_reason: Option<String>,
    /// The agent's own statement about being done.
    pub signal: Signal,
    /// The completion indicators.
    pub indicators: Indicators,
    /// The outcomes of the checks.
    pub evidence: Vec<Evidence>,
    /// Remarks that do not change the verdict.
    pub warnings: Vec<Warning>,
    /// State is kept. Without state there is no breaker.
    pub stateful: bool,
    /// The exit code of the agent's program, if the caller knows it.
    #[serde(default)]
    pub agent_exit_code: Option<i32>,
    /// The caller left configured checks out.
    #[serde(default)]
    pub checks_left_out: bool,
    /// Facts about the iteration beside signal, indicators and evidence.
    #[serde(default)]
    pub observed: IterationFacts,
    /// The state before this decision.
    #[serde(default)]
    pub memory: Option<LoopState>,
    /// The reason why the state was lost.
    #[serde(default)]
    pub lost: Option<String>,
    /// The difference between the project's settings and those that a person approved,
    /// which decided; absent if there is no difference.
    #[serde(default)]
    pub settings_changed: Option<String>,
    /// The token of the iteration after this one, in its halves, if one is
    /// required and the loop goes on.
    #[serde(default)]
    pub next_token: Option<TokenHalves>,
}

impl Input {
    /// A signal and indicators, without evidence and without state.
    pub fn new(signal: Signal, hits: Vec<Hit>) -> Self {
        Self {
            force_reason: None,
            signal,
            indicators: Indicators { hits, ..Indicators::default() },
            evidence: Vec::new(),
            warnings: Vec::new(),
            stateful: false,
            agent_exit_code: None,
            checks_left_out: false,
            observed: IterationFacts::default(),
            memory: None,
            lost: None,
            settings_changed: None,
            next_token: None,
        }
    }

    /// The input with the indicators under this policy, and without the additions of an earlier
    /// decision on it.
    pub(super) fn under(&self, policy: &Policy) -> Self {
        let mut input = self.clone();
        input.indicators = Indicators::count(self, policy);
        input.warnings.retain(|warning| warning.code.row().comes_with_input);
        if !input.stateful {
            input.memory = None;
        }
        if !input.is_lost() {
            input.lost = None;
        }
        input
    }

    /// The memory that this decision rests on; `None` without state.
    pub(crate) fn kept(&self) -> Option<&LoopState> {
        if self.stateful { self.memory.as_ref() } else { None }
    }

    /// The state was lost. Then the breaker's state is unknown.
    pub(crate) fn is_lost(&self) -> bool {
        self.stateful && self.memory.is_none()
    }

    /// The breaker's answer to this decision. Without state there is no breaker; a lost
    /// state is an open breaker.
    pub(crate) fn admission(&self, policy: &Policy) -> Admission {
        match self.kept() {
            Some(memory) => memory.admission(&self.observed, policy),
            None if self.is_lost() => Admission::Held,
            None => Admission::Free,
        }
    }

    /// The earlier refusals of this stop; no refusals unless a hook asks.
    pub(crate) fn refusals(&self) -> Refusals {
        match (&self.observed.stop, self.kept()) {
            (Some(stop), Some(memory)) => memory.run.refusals.before(stop),
            _ => Refusals::default(),
        }
    }

    /// The number of pauses in a row before this stop.
    pub(crate) fn waits(&self) -> u32 {
        self.refusals().waits
    }

    /// The number of iterations that passed in a row before this one.
    pub(crate) fn passed_in_a_row(&self) -> u32 {
        self.kept().map_or(0, |memory| memory.run.passed_under(&self.observed))
    }
}
