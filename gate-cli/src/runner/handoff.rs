//! The handoff that a loop leaves whose work is not done: a draft for whoever goes
//! on.

use std::path::PathBuf;

use gate_checks::worktree::{WorkTree, WorktreeError};

use super::Loop;
use crate::failure::Failure;
use crate::governance::RunFolder;
use crate::handoff::{changed, draft};
use crate::memory::StoppedBy;
use crate::secrets;

impl Loop<'_> {
    /// The commit that is checked out; none where nobody can tell.
    pub(super) fn commit(&self) -> Option<String> {
        WorkTree::open(self.gate.place()).and_then(|tree| tree.commit("HEAD")).ok().flatten()
    }

    /// Leaves a handoff in the folder of the task's last run, where somebody else has
    /// to go on. An end is told whatever becomes of it.
    pub(super) fn hand_over(&self, by: StoppedBy, start: Option<&str>) -> Option<PathBuf> {
        let is_wanted = match by {
            StoppedBy::Blocked
            | StoppedBy::Tripped
            | StoppedBy::MaxIterations
            | StoppedBy::BudgetWall
            | StoppedBy::Cancelled
            | StoppedBy::StopRequested
            | StoppedBy::LeaseLost => true,
            StoppedBy::Completed
            | StoppedBy::NotStarted
            | StoppedBy::NoWork
            | StoppedBy::Refused => false,
        };
        if !is_wanted {
            return None;
        }
        match self.leave(start) {
            Ok(path) => Some(path),
            Err(failure) => {
                // Where the bus fails too, the end itself is still told.
                let _ = self.say("WARNING", &format!("no handoff was left: {}", failure.message));
                None
            }
        }
    }

    fn leave(&self, start: Option<&str>) -> Result<PathBuf, Failure> {
        let site = self.gate.place();
        // A commit that is gone says nothing; what is not committed is known all the same.
        let files = changed(site, start).or_else(|_| changed(site, None));
        let files = files.map_err(|error: WorktreeError| {
            Failure::internal("tree-unreadable", format!("the work tree cannot be read: {error}"))
        })?;
        let known = self.last.as_ref().map(|last| (last, self.gate.policy()));
        let drafted = draft(objective(&self.order.prompt), known, files);
        self.last_run()?.hand_over(&secrets::masked(&drafted.to_markdown()))
    }

    /// The run that ended last, be it an earlier loop's: behind an open breaker none
    /// is begun. Where there is none at all, the task's own folder takes its place.
    fn last_run(&self) -> Result<RunFolder, Failure> {
        if let Some(run) = self.runs.last() {
            return Ok(self.task.run(run));
        }
        let last = self.task.runs()?.pop();
        Ok(last.unwrap_or_else(|| RunFolder::at(self.task.folder())))
    }
}

/// What the task is, in a line: the first one that says something.
fn objective(prompt: &str) -> Option<&str> {
    let lines = prompt.lines().map(|line| line.trim_start_matches(['#', '-', '*', ' ']).trim());
    lines.into_iter().find(|line| !line.is_empty())
}
