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
    /// With what an iteration used.
    pub(crate) fn with(&self, observed: &IterationFacts) -> Self {
        self.after(observed, 0)
    }

    /// Adds a transcript's use. A session that goes on repeats its whole sum, unless its client
    /// reports each call alone; if a transcript reports none, the earlier sum stays.
    pub(super) fn after(&self, observed: &IterationFacts, passed: u64) -> Self {
        let is_same = observed.session.is_some() && observed.session == self.session;
        let goes_on = is_same && !observed.is_of_call;
        let (tokens, cost) = match goes_on {
            true => (self.session_tokens, self.session_cost_micro_usd),
            false => (0, 0),
        };
        let now = observed.tokens.unwrap_or(tokens);
        let now_cost = observed.cost_micro_usd.unwrap_or(cost);
        Self {
            iterations: self.iterations.saturating_add(1),
            tokens: self.tokens.saturating_add(added(now, tokens)),
            cost_micro_usd: self.cost_micro_usd.saturating_add(added(now_cost, cost)),
            wall_ms: self.wall_ms.saturating_add(passed),
            session: observed.session.clone(),
            session_tokens: now,
            session_cost_micro_usd: now_cost,
        }
    }
}

/// The growth of a sum. A sum that shrank began anew, and counts whole.
fn added(now: u64, before: u64) -> u64 {
    now.checked_sub(before).unwrap_or(now)
}
