//! What an iteration means to the breaker.

use std::collections::BTreeMap;

use crate::decide::evidence::Outcome;
use crate::decide::iteration_facts::TreeState;
use crate::decide::timestamp::Timestamp;

/// What an iteration means to the breaker. What the agent says of its progress
/// is not in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Iteration {
    /// When it was decided.
    pub at: Timestamp,
    /// Whether the loop may end.
    pub exits: bool,
    /// Whether every condition holds, also where several such iterations in a
    /// row are asked for.
    pub passed: bool,
    /// Whether the agent claimed completion, and was not only asked to wait.
    pub claimed: bool,
    /// Whether it ended in a rate or usage limit.
    pub limited: bool,
    /// Whether the work tree moved on; none where nobody looked.
    pub progress: Option<bool>,
    /// Whether evidence passes and only the signal or phrases are missing, or
    /// the agent was asked to wait.
    pub excused: bool,
    /// The signature of its error.
    pub signature: Option<String>,
    /// Whether a check could not find out.
    pub inconclusive: bool,
    /// Whether a check was worked around.
    pub tampered: bool,
    /// Whether a tool was denied.
    pub denied: bool,
    /// How many characters the agent wrote.
    pub output: u64,
    /// The work tree as the agent left it, before the checks.
    pub found: Option<TreeState>,
    /// The work tree after the checks.
    pub tree: Option<TreeState>,
    /// The outcomes of the checks that ran.
    pub checks: BTreeMap<String, Outcome>,
    /// Whether every required check ran and could find out.
    pub measured: bool,
}

impl Iteration {
    /// Whether a tool was denied and nothing came of it. An agent that found
    /// another way is not stuck.
    pub(super) fn is_stuck_at_a_denial(&self) -> bool {
        self.denied && self.progress != Some(true)
    }
}
