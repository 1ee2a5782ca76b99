//! What the ledger's records say of runs and breakers, and what they come to.
//!
//! Each record of a decision, of a step of the breaker or of an operator's act
//! holds the [`State`] that it left. The last record of a task holds its
//! breaker, the last record of a loop its run: there is no other place that
//! could say something else.
//!
//! [`History`] goes through a ledger and makes each record again from those
//! before it. Whoever can write a ledger can seal any chain of records; to be
//! believed, they also have to follow from each other.

mod difference;
mod divergence;
mod fold;
mod said;

use serde::{Deserialize, Serialize};

pub use divergence::Divergence;
pub use fold::History;

use crate::decide::breaker::Breaker;
use crate::decide::memory::RunState;

/// The types of records (the first two are the exit gate's own).
pub mod kind {
    /// A decision with the verdict `exit`.
    pub const PASSED: &str = "exit_gate_passed";
    /// Any other decision.
    pub const BLOCKED: &str = "exit_gate_blocked";
    /// A decision of a stop hook that let the agent go without a verdict that ends the
    /// work.
    pub const RELEASED: &str = "released";
    /// A step of the breaker.
    pub const TRANSITION: &str = "breaker_transition";
    /// What an operator did.
    pub const ACT: &str = "operator_act";

    /// A stop that a hook let go without judging it.
    pub const NOT_JUDGED: &str = "hook_not_judged";
    /// A stop that a hook let go because gate could not decide.
    pub const UNDECIDED: &str = "hook_undecided";
    /// A session has begun, and this is its baseline.
    pub const BASELINE: &str = "hook_baseline";
    /// A session has begun, and has no baseline of its own.
    pub const NO_BASELINE: &str = "hook_no_baseline";
    /// Hooks were switched off or on by an operator.
    pub const SWITCH: &str = "hook_switch";

    /// Settings were approved by an operator, or no longer are.
    pub const TRUST: &str = "settings_trust";
    /// A run was locked to a policy by an operator, or the lock was ended.
    pub const LOCK: &str = "policy_lock";

    /// The type of a decision's record.
    pub fn of(decision: &crate::Decision) -> &'static str {
        match (decision.verdict, decision.released) {
            (_, Some(_)) => RELEASED,
            (crate::Verdict::Exit, None) => PASSED,
            _ => BLOCKED,
        }
    }

    /// Whether a record of this type holds a decision.
    pub fn is_decision(kind: &str) -> bool {
        matches!(kind, PASSED | BLOCKED | RELEASED)
    }
}

/// What a record left: the member `state` of its body.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct State {
    /// The task that the breaker belongs to; empty where there is none.
    pub task: String,
    /// The loop's name: runs of one loop follow each other. Decisions only.
    #[serde(rename = "loop", default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The iteration's number within the run. Decisions only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub iteration: Option<u64>,
    /// The breaker of the task.
    pub breaker: Breaker,
    /// The run. Decisions only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<RunState>,
}

impl State {
    /// What is left of a task where no decision was made.
    pub fn of_task(task: &str, breaker: Breaker) -> Self {
        Self { task: task.to_owned(), name: None, iteration: None, breaker, run: None }
    }
}
