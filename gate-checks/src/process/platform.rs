//! The start of jobs and sessions, and their end with all their descendants.
//!
//! * Unix: under a supervisor, with process groups, sessions and signals.
//! * Windows: in a job object, which the system ends when its last handle is closed.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
pub(super) use unix::RunningJob;
#[cfg(unix)]
pub use unix::{MARK, PausedSession, Session, supervise};
#[cfg(windows)]
pub(super) use windows::RunningJob;
#[cfg(windows)]
pub use windows::{MARK, PausedSession, Session, supervise};
