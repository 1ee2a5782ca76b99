//! A loop: its parameters, and the state that lasts from run to run.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use gate_checks::process::Supervisor;
use gate_core::config;
use gate_fleet::bus::Message;
use gate_fleet::run::RunInfo;

use super::backoff::Backoff;
use super::end::{DelegatedRuns, End};
use super::listing::ListingOrder;
use super::live::Live;
use super::stop_conditions::{LostLease, StopConditions};
use crate::failure::Failure;
use crate::gate::Gate;
use crate::governance::{Heads, Task, by_gate};
use crate::interrupt::Interrupt;
use crate::memory::StoppedBy;
use crate::request::Request;
use crate::secrets;

/// The parameters of a loop.
#[derive(Clone, Debug)]
pub(crate) struct Order {
    /// The agent's program and its arguments; `{prompt}` stands for the prompt.
    pub(crate) argv: Vec<String>,
    /// The agent's name, such as `codex`, or that of its program.
    pub(crate) agent: String,
    /// The agent's working folder.
    pub(crate) cwd: PathBuf,
    /// The topmost folder of its work tree.
    pub(crate) root: PathBuf,
    /// The task, without the context that gate adds.
    pub(crate) prompt: String,
    /// The maximum of iterations.
    pub(crate) iterations: u64,
    /// Limit for one run.
    pub(crate) timeout: Option<Duration>,
    /// Limit for the whole loop.
    pub(crate) wall: Option<Duration>,
    /// Limit for the time in which an agent prints nothing.
    pub(crate) idle: Option<Duration>,
    /// Wait at the end for runs that the agent has started.
    pub(crate) children: Duration,
    /// Time between SIGTERM and SIGKILL.
    pub(crate) grace: Duration,
    /// The run of the agent that started this loop.
    pub(crate) parent: Option<RunInfo>,
    /// Ends the loop: its work item belongs to somebody else.
    pub(crate) lost_lease: LostLease,
    /// The agent's whole environment.
    pub(crate) environment: Vec<(String, String)>,
    /// The agent's command line for display.
    pub(crate) shown_command: String,
    /// A note for the person on the agent's permissions.
    pub(crate) permission_note: Option<&'static str>,
    /// The id of the work item.
    pub(crate) work: Option<String>,
    /// The agent gets only the prompt and the feedback.
    pub(crate) plain_prompt: bool,
    /// The waits while the agent cannot work.
    pub(crate) backoff: config::Backoff,
    /// The loop only writes tests.
    pub(crate) writes_tests: bool,
    /// The loop only lists the open decisions of its task.
    pub(crate) listing: Option<ListingOrder>,
    /// The command that resumes this loop.
    pub(crate) resume: Option<String>,
}

/// A loop that runs, or is about to.
pub(crate) struct Loop<'l> {
    pub(crate) order: &'l Order,
    pub(crate) task: &'l Task,
    pub(crate) gate: &'l Gate,
    pub(crate) request: Request,
    pub(crate) supervisor: Supervisor,
    pub(crate) live: &'l dyn Live,
    pub(super) conditions: StopConditions<'l>,
    /// The loop's end, as far as it is known.
    pub(super) end: End,
    /// The last messages of the buses that an agent got with its prompt.
    pub(super) seen_messages: Heads,
    /// The outcome of the runs that the last agent had delegated.
    pub(super) delegated: DelegatedRuns,
    pub(super) backoff: Backoff,
    pub(super) began: Instant,
}

impl<'l> Loop<'l> {
    pub(crate) fn new(
        order: &'l Order,
        task: &'l Task,
        gate: &'l Gate,
        request: Request,
        supervisor: Supervisor,
        interrupt: &'l Interrupt,
        live: &'l dyn Live,
    ) -> Self {
        Self {
            order,
            task,
            gate,
            request,
            supervisor,
            live,
            conditions: StopConditions::new(task, interrupt, order),
            end: End {
                max_iterations: order.iterations,
                writes_tests: order.writes_tests,
                ..End::without_work(StoppedBy::NotStarted, &task.folder())
            },
            seen_messages: Heads::default(),
            delegated: DelegatedRuns::None,
            backoff: Backoff::new(order.backoff),
            began: Instant::now(),
        }
    }

    /// Posts a message on the task's bus.
    pub(super) fn post(&self, kind: &str, body: &str) -> Result<Message, Failure> {
        self.task.bus()?.append(Message { body: secrets::masked(body), ..by_gate(kind, self.task) })
    }
}
