//! The one who finds facts, and where they go.

use std::path::PathBuf;

use gate_core::Failure;

use super::caller::Caller;
use super::project::Project;
use super::task::Task;
use crate::fact::Scope;
use crate::run::RunInfo;

/// The one who finds or promotes facts: the caller, with the project and the task in question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finder {
    /// The project.
    pub project: Project,
    /// The task, if one is known.
    pub task: Option<Task>,
    /// The run whose agent calls.
    pub caller: Caller,
    /// The record of the run that the caller claims to be.
    claimed: Option<RunInfo>,
}

impl Finder {
    /// The finder in a project. Without a task it is that of the caller's run.
    ///
    /// # Errors
    ///
    /// A task's id that names no folder (code 2), a folder that cannot be read.
    pub fn new(
        project: Project,
        caller: Caller,
        task: Option<&str>,
        claimed_run: Option<&str>,
    ) -> Result<Self, Failure> {
        let callers_task = caller.run.as_ref().map(|info| info.task_id.as_str());
        let task = task.or(callers_task).map(|id| project.task(id)).transpose()?;
        let claimed = claimed_run.map(|id| project.run(id)).transpose()?.flatten();
        let claimed = claimed.and_then(|run| run.info().ok());
        Ok(Self { project, task, caller, claimed })
    }

    /// The scope of a fact for which nobody names one.
    pub fn usual_scope(&self) -> Scope {
        if self.task.is_some() { Scope::Task } else { Scope::Project }
    }

    /// The folder of a scope's facts.
    ///
    /// # Errors
    ///
    /// No task is known for facts of a task; a caller that may not decide for others (code 2).
    pub fn folder(&self, scope: Scope) -> Result<PathBuf, Failure> {
        match (scope, &self.task) {
            (Scope::Task, Some(task)) => return Ok(task.folder()),
            (Scope::Task, None) => {
                return Err(Failure::usage("usage", "--scope task: --task has to say which"));
            }
            _ => self.may_promote()?,
        }
        let is_global = scope == Scope::Global;
        Ok(if is_global { self.project.runs().global() } else { self.project.folder() })
    }

    /// Fails unless the caller may make a fact the project's.
    ///
    /// # Errors
    ///
    /// As [`Caller::may_promote`].
    pub fn may_promote(&self) -> Result<(), Failure> {
        self.caller.may_promote(self.claimed.as_ref())
    }
}
