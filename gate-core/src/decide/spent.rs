//! The use that a run has made of its budget.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::iteration_facts::IterationFacts;

/// The use that a run has made of its budget.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Spent {
    /// Iterations, whatever numbers the caller gave them.
    pub iterations: u64,
    /// Tokens.
    pub tokens: u64,
    /// Micro-dollars.
    pub cost_micro_usd: u64,
    /// Milliseconds. A clock that went backwards adds nothing.
    pub wall_ms: u64,
    /// The last session. Its transcript reports sums: if the session goes on, the next
    /// transcript repeats them.
    pub session: Option<String>,
    /// Tokens of that transcript.
    pub session_tokens: u64,
    /// Micro-dollars of that transcript.
    pub session_cost_micro_usd: u64,
}

impl Spent {
    /// The use with that of an iteration, its time apart.
    pub(crate) fn with(&self, observed: &IterationFacts) -> Self {
        self.after(observed, 0)
    }

    /// Adds a transcript's use. A session that goes on repeats its whole sum, unless its client
    /// reports each call alone; if a transcript reports none, the earlier sum stays.
    pub(super) fn after(&self, observed: &IterationFacts, elapsed_ms: u64) -> Self {
        let is_same_session = observed.session.is_some() && observed.session == self.session;
        let repeats_sum = is_same_session && !observed.is_of_call;
        let (old_tokens, old_cost) = match repeats_sum {
            true => (self.session_tokens, self.session_cost_micro_usd),
            false => (0, 0),
        };
        let session_tokens = observed.tokens.unwrap_or(old_tokens);
        let session_cost = observed.cost_micro_usd.unwrap_or(old_cost);
        Self {
            iterations: self.iterations.saturating_add(1),
            tokens: self.tokens.saturating_add(growth(session_tokens, old_tokens)),
            cost_micro_usd: self.cost_micro_usd.saturating_add(growth(session_cost, old_cost)),
            wall_ms: self.wall_ms.saturating_add(elapsed_ms),
            session: observed.session.clone(),
            session_tokens,
            session_cost_micro_usd: session_cost,
        }
    }
}

/// The growth of a sum. A sum that shrank began anew, and counts whole.
fn growth(sum: u64, old_sum: u64) -> u64 {
    sum.checked_sub(old_sum).unwrap_or(sum)
}
