//! The state of runs and breakers, as the ledger's records have it.
//!
//! Each record of a decision, of a step of the breaker or of an operator's act
//! holds the [`State`] that it left. The last record of a loop holds its breaker
//! and its run, the last record of a task that is no loop's the hold of an
//! operator: no other place could contradict them.
//!
//! Older records name no [`Owner`]: the breaker in them was the task's.
//!
//! [`History`] goes through a ledger and makes each record again from those
//! before it. A forger who can write a ledger can seal any chain of records; to be
//! believed, the records also have to follow from each other.

mod body;
mod difference;
mod divergence;
mod fold;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use divergence::Divergence;
pub use fold::History;

use crate::decide::breaker::Breaker;
use crate::decide::run_state::RunState;

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
    /// An act of an operator.
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

    /// A loop of `gate run` began.
    pub const RUN_STARTED: &str = "run_started";
    /// A loop of `gate run` ended.
    pub const RUN_ENDED: &str = "run_ended";
    /// Tests that were written before the work were locked into the decisions on it.
    pub const TESTS_LOCKED: &str = "tests_locked";
    /// An agent listed what its task leaves open, before any work.
    pub const DECISIONS_LISTED: &str = "decisions_listed";
    /// A person confirmed or made these decisions, or there were none to make.
    pub const DECISIONS_CONFIRMED: &str = "decisions_confirmed";

    /// A machine knows of later records than the ledger has.
    pub const LOSS_NOTICED: &str = "loss_noticed";
    /// An operator goes on without the lost end of the ledger.
    pub const LOSS_ACCEPTED: &str = "loss_accepted";
    /// Old decisions were moved out of the ledger's store to an archive.
    pub const ARCHIVED: &str = "ledger_archived";

    /// Settings were approved by an operator, or no longer are.
    pub const TRUST: &str = "settings_trust";
    /// A decision was marked as wrong by an operator.
    pub const WRONG: &str = "decision_wrong";
    /// Changes of tests were approved by an operator.
    pub const APPROVED: &str = "tests_approved";
    /// A goal was given or dropped by an operator, or reached.
    pub const GOAL: &str = "goal";

    /// The type of a decision's record.
    pub fn for_decision(decision: &crate::Decision) -> &'static str {
        match (decision.verdict, decision.released) {
            (_, Some(_)) => RELEASED,
            (crate::Verdict::Exit, None) => PASSED,
            _ => BLOCKED,
        }
    }

    /// A record of this type holds a decision.
    pub fn is_decision(kind: &str) -> bool {
        matches!(kind, PASSED | BLOCKED | RELEASED)
    }
}

/// The state after a record: the member `state` of its body.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct State {
    /// The task; empty where there is none.
    pub task: String,
    /// The loop's name: runs of one loop follow each other. `None` if the
    /// record is about a task's breaker alone.
    #[serde(rename = "loop", default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The owner of the breaker.
    #[serde(default, skip_serializing_if = "Owner::is_task")]
    pub owner: Owner,
    /// The iteration's number within the run. Decisions only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub iteration: Option<u64>,
    /// The owner's breaker.
    pub breaker: Breaker,
    /// The breaker by which an operator holds the task, if anybody ever did. Decisions
    /// only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hold: Option<Breaker>,
    /// The run. Decisions only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<RunState>,
}

/// Whose a breaker is.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Owner {
    /// The task's: what an operator holds. In older records also what its loops
    /// tripped.
    #[default]
    Task,
    /// The loop's.
    Loop,
}

impl Owner {
    fn is_task(&self) -> bool {
        *self == Self::Task
    }
}

impl State {
    /// The state after a record that is no decision: a task's breaker alone.
    pub fn for_task(task: &str, breaker: Breaker) -> Self {
        Self {
            task: task.to_owned(),
            name: None,
            owner: Owner::Task,
            iteration: None,
            breaker,
            hold: None,
            run: None,
        }
    }

    /// The state after a record that is no decision: a loop's breaker alone.
    pub fn for_loop(name: &str, task: &str, breaker: Breaker) -> Self {
        Self { name: Some(name.to_owned()), owner: Owner::Loop, ..Self::for_task(task, breaker) }
    }

    /// The owner of its breaker, and the owner's name.
    pub fn key(&self) -> (Owner, &str) {
        match (self.owner, &self.name) {
            (Owner::Loop, Some(name)) => (Owner::Loop, name),
            _ => (Owner::Task, &self.task),
        }
    }
}
