//! What a decision is made of.

use serde::{Deserialize, Serialize};

use super::breaker::Admission;
use super::evidence::Evidence;
use super::indicator::Hit;
use super::iteration_facts::IterationFacts;
use super::policy::Policy;
use super::reason::Warning;
use super::run_state::LoopState;
use super::signal::{Signal, TokenHalves};
use super::stop::Refusals;

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
    /// Whether state is kept from one decision to the next. Where it is, memory
    /// that is not there was lost, and the breaker is open.
    pub stateful: bool,
    /// What is remembered of the decisions before this one.
    pub memory: Option<LoopState>,
    /// Why the memory was lost.
    pub lost: Option<String>,
    /// What was observed of the iteration.
    pub observed: IterationFacts,
    /// The exit code of the agent's program.
    pub agent_exit_code: Option<i32>,
    /// The operator's reason for `--force-complete`.
    pub forced: Option<String>,
    /// The token of the iteration after this one, where one is required.
    pub next_token: Option<TokenHalves>,
    /// How the project's settings differ from those that a person approved, which
    /// decide; none where they do not.
    pub settings_changed: Option<String>,
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
            memory: None,
            lost: None,
            observed: IterationFacts::default(),
            agent_exit_code: None,
            forced: None,
            next_token: None,
            settings_changed: None,
            warnings: Vec::new(),
        }
    }

    /// The memory that this decision rests on; none without state.
    pub(crate) fn kept(&self) -> Option<&LoopState> {
        self.memory.as_ref().filter(|_| self.stateful)
    }

    /// Whether the memory was lost: then nobody knows what the breaker said.
    pub(crate) fn is_lost(&self) -> bool {
        self.stateful && self.memory.is_none()
    }

    /// What the breaker says to this decision: without state there is none, and
    /// state that was lost is an open breaker.
    pub(crate) fn admission(&self, policy: &Policy) -> Admission {
        match self.kept() {
            Some(memory) => memory.admission(&self.observed, policy),
            None if self.is_lost() => Admission::Held,
            None => Admission::Free,
        }
    }

    /// How often this stop was refused before; never where no hook asks.
    pub(crate) fn refusals(&self) -> Refusals {
        let remembered = self.kept().map(|memory| &memory.run.refusals);
        let counted = self.observed.stop.as_ref().zip(remembered);
        counted.map(|(stop, refusals)| refusals.before(stop)).unwrap_or_default()
    }

    /// How many iterations before this one passed in a row.
    pub(crate) fn passed_in_a_row(&self) -> u32 {
        self.kept().map_or(0, |memory| memory.run.passed_under(&self.observed))
    }
}
