//! The breaker's view of an iteration.

use std::collections::BTreeMap;

use crate::decide::evidence::Outcome;
use crate::decide::iteration_facts::TreeState;
use crate::decide::timestamp::Timestamp;

/// The breaker's view of an iteration. The agent's own report of its progress is not part
/// of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Iteration {
    /// The time of its decision.
    pub at: Timestamp,
    /// The loop may end.
    pub exits: bool,
    /// Every condition holds, even if several such iterations in a row are
    /// required.
    pub passed: bool,
    /// The agent claimed completion, and was not only asked to wait.
    pub claimed: bool,
    /// The iteration ended in a rate or usage limit.
    pub limited: bool,
    /// The work tree changed; `None` if nobody looked.
    pub progress: Option<bool>,
    /// Evidence passes and only the signal or phrases are missing, or if the
    /// agent was asked to wait.
    pub excused: bool,
    /// The signature of its error.
    pub signature: Option<String>,
    /// A check was inconclusive.
    pub inconclusive: bool,
    /// A check was worked around.
    pub tampered: bool,
    /// A tool was denied.
    pub denied: bool,
    /// The length of the agent's text, in characters.
    pub output: u64,
    /// The work tree as the agent left it, before the checks.
    pub found: Option<TreeState>,
    /// The work tree after the checks.
    pub tree: Option<TreeState>,
    /// The outcomes of the checks that ran.
    pub checks: BTreeMap<String, Outcome>,
    /// Every required check ran and was conclusive.
    pub measured: bool,
}

impl Iteration {
    /// A tool was denied and nothing changed. An agent that found another way is
    /// not stuck.
    pub(super) fn is_stuck_at_a_denial(&self) -> bool {
        self.denied && self.progress != Some(true)
    }
}
