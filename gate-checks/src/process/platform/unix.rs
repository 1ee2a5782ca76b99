//! A job runs under a *supervisor*, a small process of its own: a subreaper, so that a
//! process that left its group and its parent is still found, and with a socket to gate,
//! so that the job ends if gate is killed. Without a supervisor, only the process group
//! is ended.

mod link;
mod orphaned;
mod paused;
mod running;
mod session;
mod supervise;

pub use orphaned::MARK;
pub(in crate::process) use running::RunningJob;
pub use session::{PausedSession, Session};
pub use supervise::supervise;
