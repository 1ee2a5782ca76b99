//! The breaker's view of an iteration.

use std::collections::BTreeMap;

use crate::decide::evidence::Outcome;
use crate::decide::iteration_facts::TreeState;
use crate::decide::timestamp::Timestamp;

/// The breaker's view of an iteration. The agent's own report of its progress is not part
/// of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Iteration {
    /// When it was decided.
    pub at: Timestamp,
    /// True if the loop may end.
    pub exits: bool,
    /// True if every condition holds, even if several such iterations in a row are
    /// required.
    pub passed: bool,
    /// True if the agent claimed completion, and was not only asked to wait.
    pub claimed: bool,
    /// True if the iteration ended in a rate or usage limit.
    pub limited: bool,
    /// True if the work tree changed; none if nobody looked.
    pub progress: Option<bool>,
    /// True if evidence passes and only the signal or phrases are missing, or if the
    /// agent was asked to wait.
    pub excused: bool,
    /// The signature of its error.
    pub signature: Option<String>,
    /// True if a check was inconclusive.
    pub inconclusive: bool,
    /// True if a check was worked around.
    pub tampered: bool,
    /// True if a tool was denied.
    pub denied: bool,
    /// The length of the agent's text, in characters.
    pub output: u64,
    /// The work tree as the agent left it, before the checks.
    pub found: Option<TreeState>,
    /// The work tree after the checks.
    pub tree: Option<TreeState>,
    /// The outcomes of the checks that ran.
    pub checks: BTreeMap<String, Outcome>,
    /// True if every required check ran and was conclusive.
    pub measured: bool,
}

impl Iteration {
    /// True if a tool was denied and nothing changed. An agent that found another way is
    /// not stuck.
    pub(super) fn is_stuck_at_a_denial(&self) -> bool {
        self.denied && self.progress != Some(true)
    }
}
