//! Processes of checks and agents: bounded in time and output, and ended with all their
//! descendants.
//!
//! How that is done depends on the system: see `platform`.
//!
//! On Unix a job is ended with SIGTERM, [`GRACE`], and SIGKILL until no process is left; after
//! a deadline there is no grace. Windows has no request to end, and ends a job at once. Processes
//! that a job leaves running are ended and reported too.

mod capture;
mod confine;
mod environment;
mod job;
mod order;
mod platform;
mod session;
mod system;

use std::time::Duration;

use serde::{Deserialize, Serialize};

pub(crate) use capture::{Capture, LineReader};
pub(crate) use confine::Confinement;
pub(crate) use environment::{absolute_folders, absolute_path, environment, is_usual};
pub use gate_report::Stream;
pub(crate) use job::{Job, JobEnd, JobResult};
pub use platform::{MARK, PausedSession, Session, supervise};
pub use session::{Fate, Launch, SessionEnd};
pub use system::{
    Ancestor, ProcessStat, ancestors, command_line, group_members, is_signal_ignored, output_files,
    program, program_link, started_environment, working_folder,
};

/// Time between SIGTERM and SIGKILL.
pub const GRACE: Duration = Duration::from_secs(5);

/// Time that processes may outlive the job that started them.
const AFTERLIFE: Duration = Duration::from_millis(100);

/// Time to wait for the end of output once no process of the job is left: a process
/// outside of the job has the pipe open.
const OPEN_PIPE_PATIENCE: Duration = Duration::from_secs(1);

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
