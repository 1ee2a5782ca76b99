//! A job runs under a *supervisor*, a small process of its own: a subreaper, so that a
//! process that left its group and its parent is still found, and with a socket to gate,
//! so that the job ends if gate is killed. Without a supervisor, only the process group
//! is ended.

mod confine;
mod descendants;
mod link;
mod orphaned;
mod paused;
mod running;
mod session;
mod supervise;

use std::io;
use std::process::Command;
use std::time::Duration;

pub use orphaned::MARK;
pub(in crate::process) use running::RunningJob;
pub use session::{PausedSession, Session};
pub use supervise::supervise;

use crate::process::order::Order;

/// Time between SIGTERM and SIGKILL for processes that an ended job left running.
const LEFT_BEHIND_GRACE: Duration = Duration::from_millis(500);

/// The command of a job.
///
/// # Errors
///
/// A standard input that cannot be opened.
fn command(order: &Order) -> io::Result<Command> {
    let mut command = Command::new(&order.argv[0]);
    command.args(&order.argv[1..]).stdin(order.stdin()?);
    Ok(command)
}
