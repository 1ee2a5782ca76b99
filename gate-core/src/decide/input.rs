//! The input of a decision.

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
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Input {
    /// The agent's own statement about being done.
    pub signal: Signal,
    /// The patterns' hits.
    pub hits: Vec<Hit>,
    /// The outcomes of the checks.
    pub evidence: Vec<Evidence>,
    /// True if the caller left configured checks out.
    pub checks_left_out: bool,
    /// True if state is kept from one decision to the next. Then a missing state was
    /// lost, and the breaker is open.
    pub stateful: bool,
    /// The state that earlier decisions left.
    pub memory: Option<LoopState>,
    /// Why the memory was lost.
    pub lost: Option<String>,
    /// Facts about the iteration beside signal, indicators and evidence.
    pub observed: IterationFacts,
    /// The exit code of the agent's program.
    pub agent_exit_code: Option<i32>,
    /// The operator's reason for `--force-complete`.
    pub forced: Option<String>,
    /// The token of the iteration after this one, if one is required.
    pub next_token: Option<TokenHalves>,
    /// The difference between the project's settings and those that a person approved,
    /// which decide; none if there is no difference.
    pub settings_changed: Option<String>,
    /// Warnings from reading the input and the settings.
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
        if self.stateful { self.memory.as_ref() } else { None }
    }

    /// True if the state was lost. Then the breaker's state is unknown.
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

    /// The earlier refusals of this stop; none unless a hook asks.
    pub(crate) fn refusals(&self) -> Refusals {
        let remembered = self.kept().map(|memory| &memory.run.refusals);
        let counted = self.observed.stop.as_ref().zip(remembered);
        counted.map(|(stop, refusals)| refusals.before(stop)).unwrap_or_default()
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
