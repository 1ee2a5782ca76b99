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
pub(super) fn end_orphaned_records(task: &Task) -> Result<(), Failure> {
    let is_done = task.is_done()?;
    let runs = task.runs()?;
    let ids: Vec<_> = runs.iter().map(RunFolder::id).collect();
    delegated::end_orphaned_records(task.project(), &ids)?;
    for run in runs {
        if run.info().is_ok_and(|info| info.status == Status::Running && !is_alive(&info)) {
            end_record(task, &run, is_done)?;
        }
    }
    Ok(())
}

/// A message for a task's bus.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct BusNotice {
    /// The message's type on the bus.
    pub(super) kind: &'static str,
    pub(super) text: String,
}

impl BusNotice {
    fn new(kind: &'static str, text: &str) -> Self {
        Self { kind, text: text.to_owned() }
    }
}

/// Waits for the runs that the task's agents have started. `earlier` is the outcome of a
/// wait before this one.
pub(super) fn wait_for_children(
    task: &Task,
    timeout: Duration,
    conditions: &StopConditions<'_>,
    earlier: DelegatedRuns,
) -> Result<BusNotice, Failure> {
    let until = Instant::now() + timeout;
    let mut had_children = earlier == DelegatedRuns::Ended;
    let task_runs: Vec<_> = task.runs()?.iter().map(RunFolder::id).collect();
    loop {
        let running = task.project().running()?;
        let has_children = running.iter().any(|info| {
            info.is_delegated()
                && (info.task_id == task.id() || task_runs.contains(&info.parent_run_id))
                && is_alive(info)
        });
        if !has_children {
            end_orphaned_records(task)?;
            let text = match had_children {
                true => "task completed (all children finished)",
                false if task.is_done()? => {
                    "task completed (DONE marker present, no active children)"
                }
                false => "task completed (no active children)",
            };
            return Ok(BusNotice::new("INFO", text));
        }
        had_children = true;
        if conditions.urgent_stop().is_some() {
            return Ok(BusNotice::new("WARNING", "stopped waiting for children"));
        }
        if Instant::now() >= until {
            return Ok(BusNotice::new("WARNING", &timeout_message(timeout)));
        }
        thread::sleep(POLL_INTERVAL);
    }
}

pub(super) fn timeout_message(timeout: Duration) -> String {
    format!("timeout waiting for children after {}s", timeout.as_secs())
}
