//! Ends the records of runs that are still marked as running, but whose agents are gone.

use std::thread;
use std::time::{Duration, Instant};

use gate_fleet::run::Status;

use super::delegated::{self, end_record, is_alive};
use super::end::DelegatedRuns;
use super::stop_conditions::StopConditions;
use super::watch::POLL_INTERVAL;
use crate::failure::Failure;
use crate::governance::{RunFolder, Task};

/// Ends the records of a task's runs whose agents are gone, and of the runs that these
/// agents had delegated. That happens if a runner is killed.
pub(super) fn runs(task: &Task) -> Result<(), Failure> {
    let is_done = task.is_done()?;
    let runs = task.runs()?;
    delegated::reconcile(task.project(), &runs.iter().map(RunFolder::id).collect::<Vec<_>>())?;
    for run in runs {
        if run.info().is_ok_and(|info| info.status == Status::Running && !is_alive(&info)) {
            end_record(task, &run, is_done)?;
        }
    }
    Ok(())
}

/// Waits for the runs that the task's agents have started. `earlier` is the outcome of a
/// wait before this one. Returns the type and the text of a message.
pub(super) fn wait_for_children(
    task: &Task,
    timeout: Duration,
    conditions: &StopConditions<'_>,
    earlier: DelegatedRuns,
) -> Result<(&'static str, String), Failure> {
    let until = Instant::now() + timeout;
    let mut had_children = earlier == DelegatedRuns::Ended;
    let own: Vec<_> = task.runs()?.iter().map(RunFolder::id).collect();
    loop {
        let running = task.project().running()?;
        let has_children = running.iter().any(|info| {
            info.is_delegated()
                && (info.task_id == task.id() || own.contains(&info.parent_run_id))
                && is_alive(info)
        });
        if !has_children {
            runs(task)?;
            return Ok((
                "INFO",
                match had_children {
                    true => "task completed (all children finished)".to_owned(),
                    false if task.is_done()? => {
                        "task completed (DONE marker present, no active children)".to_owned()
                    }
                    false => "task completed (no active children)".to_owned(),
                },
            ));
        }
        had_children = true;
        if conditions.urgent_stop().is_some() {
            return Ok(("WARNING", "stopped waiting for children".to_owned()));
        }
        if Instant::now() >= until {
            return Ok(("WARNING", timed_out(timeout)));
        }
        thread::sleep(POLL_INTERVAL);
    }
}

pub(super) fn timed_out(timeout: Duration) -> String {
    format!("timeout waiting for children after {}s", timeout.as_secs())
}
