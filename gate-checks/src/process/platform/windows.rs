//! A job runs below a *holder*, a small process of its own that waits for a byte and then starts the
//! program. Meanwhile gate puts the holder into a job object, so that the program and all that it
//! starts belong to it. The system ends them once gate's handle of the object is closed, also if
//! gate is killed.

mod holder;
mod job_object;
mod program;
mod running;
mod session;

pub use holder::supervise;
pub(in crate::process) use running::RunningJob;
pub use session::{PausedSession, Session};

/// Variable with the mark of a job: its processes inherit it, unless they clear it.
pub const MARK: &str = "_GATE_JOB";
