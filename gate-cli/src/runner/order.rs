//! The parameters of a loop.

use std::path::PathBuf;
use std::time::Duration;

use super::lost_lease::LostLease;

use gate_fleet::run::RunInfo;

/// The parameters of a loop.
#[derive(Clone, Debug)]
pub(crate) struct Order {
    /// The agent's program and its arguments; `{prompt}` stands for the prompt.
    pub(crate) argv: Vec<String>,
    /// The agent's name, such as `codex`, or that of its program.
    pub(crate) agent: String,
    /// The agent's working folder.
    pub(crate) cwd: PathBuf,
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
    pub(crate) lost: LostLease,
    /// The agent's whole environment.
    pub(crate) environment: Vec<(String, String)>,
    /// The agent's command line for display, and a note on its permissions.
    pub(crate) shown: (String, Option<&'static str>),
    /// The agent gets only the prompt and the feedback.
    pub(crate) plain_prompt: bool,
    /// The waits while the agent cannot work.
    pub(crate) backoff: gate_core::config::Backoff,
    /// True if the loop only writes tests.
    pub(crate) writes_tests: bool,
    /// The command that resumes this loop.
    pub(crate) resume: Option<String>,
}
