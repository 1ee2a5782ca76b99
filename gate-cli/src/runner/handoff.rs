//! The handoff of a loop whose work is not done: a draft for the next agent or person.

use std::path::PathBuf;

use gate_checks::worktree::WorkTree;
use gate_fleet::handoff::{Judged, draft_of_decision};
use gate_fleet::notice::Notice;
use gate_fleet::run::layout;

use super::agent_loop::Loop;
use crate::failure::Failure;
use crate::governance::RunFolder;
use crate::handoff::changed;
use crate::memory::StoppedBy;
use crate::render;
use crate::secrets;

impl Loop<'_> {
    /// The commit that is checked out; `None` if git does not know it.
    pub(super) fn commit(&self) -> Option<String> {
        WorkTree::open(self.gate.place()).and_then(|tree| tree.commit("HEAD")).ok().flatten()
    }

    /// Writes a handoff to the folder of the task's last run, if somebody else has to go
    /// on. A failure only becomes a warning on the bus. `start_commit` is the one that the loop
    /// began with.
    pub(super) fn hand_over(
        &self,
        stopped_by: StoppedBy,
        start_commit: Option<&str>,
    ) -> Option<PathBuf> {
        let is_unfinished = match stopped_by {
            // Nothing was done that somebody could go on with.
            _ if self.order.listing.is_some() => false,
            StoppedBy::Blocked
            | StoppedBy::Tripped
            | StoppedBy::MaxIterations
            | StoppedBy::BudgetWall
            | StoppedBy::Cancelled
            | StoppedBy::StopRequested
            | StoppedBy::LeaseLost => true,
            StoppedBy::Completed
            | StoppedBy::NotStarted
            | StoppedBy::UnknownFormat
            | StoppedBy::NoWork
            | StoppedBy::Refused
            | StoppedBy::NotConfirmed
            | StoppedBy::NotListed
            | StoppedBy::NothingOpen
            | StoppedBy::Failed => false,
        };
        if !is_unfinished {
            return None;
        }
        match self.write_handoff(start_commit) {
            Ok(path) => Some(path),
            Err(failure) => {
                // Even if the bus fails too, the loop still reports its end.
                let _ = self.post("WARNING", &format!("no handoff was left: {}", failure.message));
                None
            }
        }
    }

    fn write_handoff(&self, start_commit: Option<&str>) -> Result<PathBuf, Failure> {
        let site = self.gate.place();
        // If the commit is gone, the uncommitted changes can still be listed.
        let files = changed(site, start_commit).or_else(|_| changed(site, None))?;
        let judged = self
            .end
            .last_record
            .as_ref()
            .map(|record| Judged { decision: &record.decision, policy: self.gate.policy() });
        let handoff = draft_of_decision(objective(&self.order.prompt), judged, files);
        self.last_run()?.hand_over(&secrets::masked(&handoff.to_markdown()))
    }

    /// Leaves the handoff in the folder of this loop's last run, gate's or the agent's own, to the
    /// machines that share this project. As any record of a loop, it waits for a database that does
    /// not answer. A failure only becomes a warning: the loop has ended as it has.
    pub(super) fn share_handoff(&self) {
        let Some(run) = self.end.runs.last().map(|run| self.task.run(run)) else { return };
        if let Err(failure) = self.share_handoff_of(&run) {
            let file = run.file(layout::HANDOFF);
            let warning = format!(
                "the other machines did not get the handoff {}: {}",
                file.display(),
                failure.message
            );
            let _ = self.post("WARNING", &warning);
            render::notes(&[warning]);
        }
    }

    fn share_handoff_of(&self, run: &RunFolder) -> Result<(), Failure> {
        let Some(mut memory) = self.gate.memory() else { return Ok(()) };
        let project = self.task.project();
        if !memory.shares(project) {
            return Ok(());
        }
        let Some(text) = run.handoff()? else { return Ok(()) };
        memory.leave_handoff(
            project,
            &Notice {
                task: self.task.id().to_owned(),
                name: run.id(),
                text: secrets::masked(&text),
                work: self.order.work.clone(),
            },
        )
    }

    /// The last run of this loop, or of an earlier one: an open breaker starts none. The
    /// task's own folder if there is no run at all.
    fn last_run(&self) -> Result<RunFolder, Failure> {
        if let Some(run) = self.end.runs.last() {
            return Ok(self.task.run(run));
        }
        let last_run = self.task.runs()?.pop();
        Ok(last_run.unwrap_or_else(|| RunFolder::at(self.task.folder())))
    }
}

/// The first line of the prompt that is not empty.
fn objective(prompt: &str) -> Option<&str> {
    let lines = prompt.lines().map(|line| line.trim_start_matches(['#', '-', '*', ' ']).trim());
    lines.into_iter().find(|line| !line.is_empty())
}
