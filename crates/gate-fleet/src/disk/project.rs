//! A project's folder: its tasks, its bus, its facts.

use std::path::PathBuf;

use gate_core::Failure;

use super::bus::Bus;
use super::facts::{self, FactFile, UnreadableFact};
use super::file;
use super::root::Runs;
use super::run_folder::RunFolder;
use super::task::Task;
use crate::fact::Scope;
use crate::run::{self, RunInfo, Status, layout};

/// A project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Project {
    runs: Runs,
    id: String,
}

impl Project {
    pub(super) fn new(runs: Runs, id: &str) -> Self {
        Self { runs, id: id.to_owned() }
    }

    /// Its id.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The folder of all projects.
    pub fn runs(&self) -> &Runs {
        &self.runs
    }

    /// Its folder, which need not be there.
    pub fn folder(&self) -> PathBuf {
        self.runs.folder().join(&self.id)
    }

    /// Its bus, in a folder that is there.
    ///
    /// # Errors
    ///
    /// A folder that cannot be made.
    pub fn bus(&self) -> Result<Bus, Failure> {
        file::folder(&self.folder())?;
        Ok(Bus::in_run_folder(self.folder().join(layout::PROJECT_BUS)))
    }

    /// A task, by its id.
    ///
    /// # Errors
    ///
    /// An id that names no folder (code 2).
    pub fn task(&self, id: &str) -> Result<Task, Failure> {
        run::folder_name(id).map_err(|error: run::BadId| {
            Failure::usage("task-invalid", format!("task id {error}"))
        })?;
        Ok(Task::new(self.clone(), id))
    }

    /// A new task in a folder of its own: if another task has the id, a number is added to it.
    ///
    /// # Errors
    ///
    /// A folder that cannot be made.
    pub fn new_task(&self, id: &str) -> Result<Task, Failure> {
        file::folder(&self.folder())?;
        let mut task = self.task(id)?;
        let mut number = 1;
        while !file::new_folder(&task.folder())? {
            number += 1;
            task = self.task(&run::numbered(id, number))?;
        }
        Ok(task)
    }

    /// All tasks that have a folder.
    ///
    /// # Errors
    ///
    /// A folder that cannot be read.
    pub fn tasks(&self) -> Result<Vec<Task>, Failure> {
        let names = file::names(&self.folder())?;
        let tasks = names.iter().filter_map(|name| self.task(name).ok());
        Ok(tasks.filter(|task| task.folder().is_dir()).collect())
    }

    /// Its facts, the oldest first, and what looks like one and is none.
    ///
    /// # Errors
    ///
    /// A folder that cannot be read.
    pub fn facts(&self) -> Result<(Vec<FactFile>, Vec<UnreadableFact>), Failure> {
        facts::all(&self.folder(), Scope::Project)
    }

    /// A run of any of its tasks, by its id.
    ///
    /// # Errors
    ///
    /// A folder that cannot be read.
    pub fn run(&self, id: &str) -> Result<Option<RunFolder>, Failure> {
        if run::folder_name(id).is_err() {
            return Ok(None);
        }
        let runs = self.tasks()?.into_iter().map(|task| task.run(id));
        Ok(runs.into_iter().find(|run| run.folder().is_dir()))
    }

    /// The records of all runs with the status `running`.
    ///
    /// # Errors
    ///
    /// A folder that cannot be read.
    pub fn running(&self) -> Result<Vec<RunInfo>, Failure> {
        let mut running = Vec::new();
        for task in self.tasks()? {
            let infos = task.runs()?.into_iter().filter_map(|run| run.info().ok());
            running.extend(infos.filter(|info| info.status == Status::Running));
        }
        Ok(running)
    }

    /// The depth of a run: 1 for a root agent's, one more for each run above it. A circle of
    /// parents ends where it closes.
    ///
    /// # Errors
    ///
    /// A folder that cannot be read.
    pub fn depth(&self, run_id: &str) -> Result<usize, Failure> {
        let mut ancestry = Vec::new();
        let mut id = run_id.to_owned();
        while !id.is_empty() && !ancestry.contains(&id) {
            let info = self.run(&id)?.and_then(|run| run.info().ok());
            ancestry.push(id);
            id = info.map(|info| info.parent_run_id).unwrap_or_default();
        }
        Ok(ancestry.len())
    }
}
