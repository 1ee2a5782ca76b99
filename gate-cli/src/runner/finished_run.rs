//! The result of a run whose agent has ended.

use std::path::PathBuf;

use crate::memory::StoppedBy;

/// The result of a run whose agent has ended.
#[derive(Clone, Debug)]
pub(crate) struct FinishedRun {
    /// The file with the agent's stdout, or its `output.md` if it printed nothing.
    pub(crate) transcript: PathBuf,
    /// The agent's exit code as a shell has it: 128 and the number of a signal. None if
    /// it is not known.
    pub(crate) exit_code: Option<i32>,
    /// The reason of a failure, or empty.
    pub(crate) error: String,
    /// The agent could not be started.
    pub(crate) not_started: bool,
    /// The runner ended the agent, because of a limit or of a stop from outside.
    pub(crate) was_ended: bool,
    /// The end of the agent's stderr.
    pub(crate) stderr_end: String,
    /// The stop from outside that ended the agent, and with it the loop.
    pub(crate) interrupted: Option<StoppedBy>,
    pub(crate) delegated: DelegatedRuns,
}

/// The outcome of the runs that an agent had delegated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum DelegatedRuns {
    /// There were none when the agent ended.
    #[default]
    None,
    /// They ended during the wait.
    Ended,
    /// They took too long, and gate ended them.
    TimedOut,
}
