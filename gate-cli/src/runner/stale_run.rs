//! A run that is marked as running, although its agent may be gone.

use gate_fleet::bus::Message;
use gate_fleet::run::{RECONCILED, RunInfo};
use jiff::Timestamp;
use rustix::io::Errno;
use rustix::process::{Pid, test_kill_process_group};

use crate::failure::Failure;
use crate::governance::{RunFolder, Task, by_gate};

/// True if the run's process group exists, also as another user's.
pub(super) fn is_alive(info: &RunInfo) -> bool {
    // A negative number would ask for a process instead of a group.
    let group = i32::try_from(info.pgid).ok().filter(|pgid| *pgid > 0).and_then(Pid::from_raw);
    group.is_some_and(|group| !matches!(test_kill_process_group(group), Err(Errno::SRCH)))
}

/// Ends the record of a run, and posts that on the bus.
pub(super) fn end(task: &Task, run: &RunFolder, is_done: bool) -> Result<(), Failure> {
    run.release();
    run.settle_output()?;
    let info = run.update(|info| info.reconciled(Timestamp::now(), is_done))?;
    task.announce(run, &info)?;
    let body = format!("run {}: {RECONCILED}", info.run_id);
    let draft = Message { body, ..by_gate("WARNING", task) };
    task.bus()?.append(draft).map(drop)
}
