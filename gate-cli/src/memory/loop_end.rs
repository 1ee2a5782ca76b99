//! The records of a loop's start and of its end.

use std::path::Path;
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
    /// The agent did not list the open decisions of its task, or did more than that.
    NotListed,
    /// The task leaves nothing open, and its work comes next.
    NothingOpen,
    /// gate itself could not go on: a full disk, a folder or a store that fails.
    Failed,
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
            Self::NotListed => "the open decisions were not listed",
            Self::NothingOpen => "the task leaves nothing open",
            Self::Failed => "gate could not go on",
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
                | Self::NotListed
                | Self::NothingOpen
                | Self::Failed
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
            Self::Failed => 5,
            Self::Blocked | Self::NotConfirmed | Self::NotListed => 4,
            Self::NotStarted | Self::UnknownFormat => 2,
            Self::NoWork | Self::Refused | Self::NothingOpen => 1,
        }
    }
}

/// The start of a loop for its record.
pub(crate) struct LoopStart<'s> {
    /// The loop's name.
    pub(crate) run: Option<&'s str>,
    /// The task's id.
    pub(crate) task: &'s str,
    /// The agent's name.
    pub(crate) agent: &'s str,
    /// The topmost folder of its work tree.
    pub(crate) root: &'s Path,
    /// The task's folder, in which a running loop holds a lock.
    pub(crate) folder: &'s str,
    /// The mark that it left in that lock.
    pub(crate) lock: Option<&'s str>,
    /// The command that goes on with the loop.
    pub(crate) resume: Option<&'s str>,
}

/// The body of the record of a start. Only on its machine the lock says if the loop runs.
#[derive(Serialize)]
struct StartBody<'s> {
    task: &'s str,
    agent: &'s str,
    tree: &'s str,
    root: String,
    folder: &'s str,
    machine: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    lock: Option<&'s str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    resume: Option<&'s str>,
}

/// The name of this machine.
pub(crate) fn machine() -> String {
    gate_platform::host_name()
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
    /// The one thing to do next, if the last decision does not name it.
    pub(crate) next: Option<String>,
    /// The topmost folder of its work tree.
    pub(crate) root: &'e Path,
    /// The task's folder.
    pub(crate) folder: &'e str,
    /// The path of the handoff.
    pub(crate) handoff: Option<&'e str>,
    /// The command that goes on with the loop.
    pub(crate) resume: Option<&'e str>,
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
    next: Option<&'e str>,
    root: String,
    folder: &'e str,
    machine: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    handoff: Option<&'e str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    resume: Option<&'e str>,
    iterations: usize,
    tokens: u64,
    cost_micro_usd: u64,
    duration_ms: u64,
}

impl Memory {
    /// Records the start of a loop, so that one which dies is known.
    pub(crate) fn loop_started(&mut self, start: &LoopStart<'_>) -> Result<(), Failure> {
        let body = StartBody {
            task: start.task,
            agent: start.agent,
            tree: &self.tree,
            root: start.root.display().to_string(),
            folder: start.folder,
            machine: machine(),
            lock: start.lock,
            resume: start.resume,
        };
        self.append(&body::draft(kind::RUN_STARTED, start.run, GATE, &body)?).map(drop)
    }

    /// Records the end of a loop, with the usage of its run.
    pub(crate) fn loop_ended(&mut self, end: &LoopEnd<'_>) -> Result<(), Failure> {
        let body = Body {
            task: end.task,
            agent: end.agent,
            tree: &self.tree,
            stopped_by: end.stopped_by,
            message: &end.message,
            next: end.next.as_deref(),
            root: end.root.display().to_string(),
            folder: end.folder,
            machine: machine(),
            handoff: end.handoff,
            resume: end.resume,
            iterations: end.iterations,
            tokens: end.spent.tokens,
            cost_micro_usd: end.spent.cost_micro_usd,
            duration_ms: u64::try_from(end.duration.as_millis()).unwrap_or(u64::MAX),
        };
        self.append(&body::draft(kind::RUN_ENDED, end.run, GATE, &body)?).map(drop)
    }
}
