//! Runs whose record says that they go on: whether that is so.

use std::thread;
use std::time::{Duration, Instant};

use gate_core::protocol::bus::Draft;
use gate_core::protocol::run::{RECONCILED, RunInfo, Status};
use jiff::Timestamp;
use rustix::io::Errno;
use rustix::process::{Pid, test_kill_process_group};

use super::delegated;
use super::watch::{Delegated, TICK};
use crate::failure::Failure;
use crate::governance::{RunFolder, Task, by_gate};
use crate::interrupt::Interrupt;

/// Ends the records of runs whose agent is gone, and of those that these agents had
/// delegated: their runner was killed.
///
/// # Errors
///
/// A folder that cannot be read or written.
pub(super) fn runs(task: &Task) -> Result<(), Failure> {
    let is_done = task.is_done()?;
    let runs = task.runs()?;
    delegated::reconcile(task.project(), &runs.iter().map(RunFolder::id).collect::<Vec<_>>())?;
    for run in runs {
        if run.info().is_ok_and(|info| info.status == Status::Running && !lives(&info)) {
            end(task, &run, is_done)?;
        }
    }
    Ok(())
}

/// Ends the record of a run that nobody else ends.
///
/// # Errors
///
/// A folder that cannot be read or written.
pub(super) fn end(task: &Task, run: &RunFolder, is_done: bool) -> Result<(), Failure> {
    run.release();
    run.settle_output()?;
    let info = run.update(|info| info.reconciled(Timestamp::now(), is_done))?;
    task.announce(run, &info)?;
    let body = format!("run {}: {RECONCILED}", info.run_id);
    let draft = Draft { body, ..by_gate("WARNING", task) };
    task.bus()?.append(draft).map(drop)
}

/// Waits for the runs that the task's agents have started, of which some `were` already
/// waited for. Says what came of it: a message's type and its text.
///
/// # Errors
///
/// A folder that cannot be read or written.
pub(super) fn children(
    task: &Task,
    patience: Duration,
    interrupt: &Interrupt,
    were: Delegated,
) -> Result<(&'static str, String), Failure> {
    let until = Instant::now() + patience;
    let mut were_any = were == Delegated::Ended;
    let own: Vec<_> = task.runs()?.iter().map(RunFolder::id).collect();
    loop {
        let running = task.project().running()?;
        let of_task = |info: &&RunInfo| {
            info.is_delegated() && (info.task_id == task.id() || own.contains(&info.parent_run_id))
        };
        let living = running.iter().filter(of_task).any(lives);
        if !living {
            runs(task)?;
            return Ok((
                "INFO",
                match were_any {
                    true => "task completed (all children finished)".to_owned(),
                    false if task.is_done()? => {
                        "task completed (DONE marker present, no active children)".to_owned()
                    }
                    false => "task completed (no active children)".to_owned(),
                },
            ));
        }
        were_any = true;
        if Instant::now() >= until || interrupt.code().is_some() {
            return Ok(("WARNING", timed_out(patience)));
        }
        thread::sleep(TICK);
    }
}

/// That runs which an agent has started were not waited for any longer.
pub(super) fn timed_out(patience: Duration) -> String {
    format!("timeout waiting for children after {}s", patience.as_secs())
}

/// Whether the run's processes are there: those of another user are.
pub(super) fn lives(info: &RunInfo) -> bool {
    let group = i32::try_from(info.pgid).ok().and_then(Pid::from_raw);
    group.is_some_and(|group| !matches!(test_kill_process_group(group), Err(Errno::SRCH)))
}
