//! The record of a loop's end.

use std::time::Duration;

use gate_core::decide::spent::Spent;
use gate_core::history::kind;
use schemars::JsonSchema;
use serde::Serialize;

use super::decision_transaction::GATE;
use super::{Memory, body};
use crate::failure::Failure;

/// The reason for the end of a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum StoppedBy {
    /// Gate says that the work is done.
    Completed,
    /// The circuit breaker opened or was open.
    Tripped,
    /// The agent says that it cannot go on, or a person has to approve changed settings.
    Blocked,
    /// The loop had as many iterations as the settings allow.
    MaxIterations,
    /// The agent could not be started.
    NotStarted,
    /// The agent's output is JSON of no known format, so that no signal would ever be found.
    UnknownFormat,
    /// A signal to gate, such as Ctrl-C.
    Cancelled,
    /// `gate stop`, or the file that it writes.
    StopRequested,
    /// The loop's time limit was reached.
    BudgetWall,
    /// The lease of the work item is over, or belongs to somebody else.
    LeaseLost,
    /// There is no work item to claim.
    NoWork,
    /// The exit signal was not accepted for the work item.
    Refused,
    /// A person did not agree with the tests that were written first.
    NotConfirmed,
}

impl StoppedBy {
    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::Completed => "the work is done",
            Self::Tripped => "the circuit breaker stopped it",
            Self::Blocked => "a person is needed",
            Self::MaxIterations => "stopped at the limit of iterations",
            Self::NotStarted => "the agent could not be started",
            Self::UnknownFormat => "the agent's output has no known format",
            Self::Cancelled => "cancelled",
            Self::StopRequested => "a stop was requested",
            Self::BudgetWall => "its time is over (budget.wall)",
            Self::LeaseLost => "the lease of the work item is over",
            Self::NoWork => "there is no work item to claim",
            Self::Refused => "the exit signal was refused",
            Self::NotConfirmed => "the tests were not confirmed",
        }
    }

    /// The way out of an end that no decision explains.
    pub(crate) fn remedy(self) -> Option<&'static str> {
        (self == Self::NotStarted)
            .then_some("install the agent's program, or give its command behind `--`")
    }

    /// The same loop can be resumed at once.
    pub(crate) fn can_resume(self) -> bool {
        matches!(
            self,
            Self::Cancelled
                | Self::StopRequested
                | Self::MaxIterations
                | Self::BudgetWall
                | Self::NotConfirmed
        )
    }

    /// The exit code of `gate check` that fits best.
    pub(crate) fn check_code(self) -> u8 {
        match self {
            Self::Completed => 0,
            Self::Tripped
            | Self::MaxIterations
            | Self::Cancelled
            | Self::StopRequested
            | Self::BudgetWall
            | Self::LeaseLost => 3,
            Self::Blocked | Self::NotConfirmed => 4,
            Self::NotStarted | Self::UnknownFormat => 2,
            Self::NoWork | Self::Refused => 1,
        }
    }
}

/// The end of a loop for its record.
pub(crate) struct LoopEnd<'e> {
    /// The loop's name.
    pub(crate) run: Option<&'e str>,
    /// The task's id.
    pub(crate) task: &'e str,
    /// The agent's name.
    pub(crate) agent: &'e str,
    pub(crate) stopped_by: StoppedBy,
    /// The reason as a sentence.
    pub(crate) message: String,
    /// Starts of the agent.
    pub(crate) iterations: usize,
    /// Tokens and money that the loop's run has used.
    pub(crate) spent: Spent,
    pub(crate) duration: Duration,
}

/// The body of the record. Money is in micro-dollars.
#[derive(Serialize)]
struct Body<'e> {
    task: &'e str,
    agent: &'e str,
    tree: &'e str,
    stopped_by: StoppedBy,
    message: &'e str,
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<&'static str>,
    iterations: usize,
    tokens: u64,
    cost_micro_usd: u64,
    duration_ms: u64,
}

impl Memory {
    /// Records the end of a loop, with the usage of its run.
    pub(crate) fn loop_ended(&mut self, end: &LoopEnd<'_>) -> Result<(), Failure> {
        let body = Body {
            task: end.task,
            agent: end.agent,
            tree: &self.tree,
            stopped_by: end.stopped_by,
            message: &end.message,
            next: end.stopped_by.remedy(),
            iterations: end.iterations,
            tokens: end.spent.tokens,
            cost_micro_usd: end.spent.cost_micro_usd,
            duration_ms: u64::try_from(end.duration.as_millis()).unwrap_or(u64::MAX),
        };
        self.append(&body::draft(kind::RUN_ENDED, end.run, GATE, &body)?).map(drop)
    }
}
