//! Processes that a check starts: bounded in time and output, and ended with
//! all their descendants.
//!
//! A job runs under a *supervisor*, a small process of its own: it is a
//! subreaper, so that a process that left its group and its parent is still
//! found, and it holds one end of a socket to gate, so that it ends everything
//! when gate is killed. Without a supervisor the process group alone is ended.
//!
//! Ending means SIGTERM, [`GRACE`], SIGKILL, until nothing is left; where a
//! deadline has come there is no grace. What a job
//! leaves running when it ends by itself is ended too, and named.

mod capture;
mod environment;
mod forsaken;
mod held;
mod job;
mod link;
mod session;
mod supervise;
mod system;

use std::time::Duration;

use serde::{Deserialize, Serialize};

pub use capture::Stream;
pub(crate) use capture::{Capture, LineReader};
pub(crate) use environment::{absolute, absolute_of, environment, is_usual};
pub use forsaken::MARK;
pub(crate) use job::{Ended, How, Job};
pub use session::{Fate, Launch, Over, Session, Waiting};
pub use supervise::supervise;
pub use system::{
    Ancestor, ProcessStat, ancestors, command_line, is_signal_ignored, program, program_link,
    started_environment, working_folder,
};

/// How long a process that was asked to end (SIGTERM) has before it is killed.
pub const GRACE: Duration = Duration::from_secs(5);

/// How long processes may outlive the job that started them.
const AFTERLIFE: Duration = Duration::from_millis(100);

/// How long a process that a finished job left behind has to end by itself
/// after SIGTERM.
const LEFT_BEHIND_GRACE: Duration = Duration::from_millis(500);

/// How long output is waited for once no process of the job is left: somebody
/// else holds the pipe.
const HELD_PIPE: Duration = Duration::from_secs(1);

/// The program that supervises a job: gate itself, or the library user's own
/// that calls [`supervise`] with its arguments.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Supervisor {
    /// The program.
    #[serde(with = "crate::path_text")]
    pub program: std::path::PathBuf,
    /// Its arguments, before those that [`supervise`] reads.
    pub args: Vec<String>,
}
