//! A task's folder: its runs, its bus, its state.

use std::fs;
use std::io::ErrorKind;
use std::path::PathBuf;

use gate_core::Failure;
use gate_core::mask::Masker;
use jiff::Timestamp;

use super::bus::Bus;
use super::facts::{self, FactFile, UnreadableFact};
use super::file;
use super::project::Project;
use super::run_folder::{self, RunFolder};
use super::stamp;
use crate::bus::{self, Message};
use crate::fact::Scope;
use crate::run::{RunInfo, Status, layout};

/// Seconds for which a requested stop keeps a loop from starting.
const STOP_SECONDS: i64 = 60;

/// A task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Task {
    project: Project,
    id: String,
}

impl Task {
    pub(super) fn new(project: Project, id: &str) -> Self {
        Self { project, id: id.to_owned() }
    }

    /// Its id.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Its project.
    pub fn project(&self) -> &Project {
        &self.project
    }

    /// Its folder, which need not be there.
    pub fn folder(&self) -> PathBuf {
        self.project.folder().join(&self.id)
    }

    /// Its bus, in a folder that is there.
    ///
    /// # Errors
    ///
    /// A folder that cannot be made.
    pub fn bus(&self) -> Result<Bus, Failure> {
        file::folder(&self.folder())?;
        Ok(Bus::in_run_folder(self.folder().join(layout::TASK_BUS)))
    }

    /// Keeps room for the record of its loop's end: the disk may be full by then.
    ///
    /// # Errors
    ///
    /// A disk that has no room for it.
    pub fn reserve(&self) -> Result<(), Failure> {
        run_folder::reserve_in(&self.folder())
    }

    /// Gives that room back.
    pub fn release(&self) {
        run_folder::release_in(&self.folder());
    }

    /// Writes what its loop does at this moment.
    ///
    /// # Errors
    ///
    /// A folder that cannot be written.
    pub fn note_live(&self, text: &str) -> Result<(), Failure> {
        file::replace(&self.folder().join(layout::LIVE), text)
    }

    /// The last account of what its loop does; `None` if there never was a loop.
    ///
    /// # Errors
    ///
    /// A file that cannot be read.
    pub fn live(&self) -> Result<Option<String>, Failure> {
        file::read(&self.folder().join(layout::LIVE))
    }

    /// The text of `TASK_STATE.md`; empty if there is no such file.
    ///
    /// # Errors
    ///
    /// A file that cannot be read.
    pub fn state(&self) -> Result<String, Failure> {
        Ok(file::read(&self.folder().join(layout::TASK_STATE))?.unwrap_or_default())
    }

    /// Writes the text of the task (`TASK.md`), if there is a new one, and returns the text that
    /// counts.
    ///
    /// # Errors
    ///
    /// No text at all (code 2), a folder that cannot be written.
    pub fn describe(&self, text: Option<&str>) -> Result<String, Failure> {
        file::folder(&self.folder())?;
        let path = self.folder().join(layout::TASK);
        if let Some(text) = text {
            file::replace(&path, text)?;
        }
        file::read(&path)?.filter(|text| !text.trim().is_empty()).ok_or_else(|| {
            let message = format!("nobody says what the task {} is", self.id);
            Failure::usage("task-empty", message).hint("give its text: --prompt FILE")
        })
    }

    /// The record of one of its runs is not ended.
    ///
    /// # Errors
    ///
    /// A folder that cannot be read.
    pub fn is_running(&self) -> Result<bool, Failure> {
        let infos = self.runs()?.into_iter().filter_map(|run| run.info().ok());
        Ok(infos.into_iter().any(|info| info.status == Status::Running))
    }

    /// Asks its loop to stop: `STOP-REQUESTED`, with the time.
    ///
    /// # Errors
    ///
    /// A folder that cannot be written.
    pub fn request_stop(&self) -> Result<(), Failure> {
        file::folder(&self.folder())?;
        let now = Timestamp::now();
        file::replace(&self.folder().join(layout::STOP_REQUESTED), format!("{now}\n"))
    }

    /// No loop may start: a stop was requested less than a minute ago, or for good
    /// (`permanent`). Removes an older request.
    ///
    /// # Errors
    ///
    /// A folder that cannot be read or written.
    pub fn is_held(&self) -> Result<bool, Failure> {
        let path = self.folder().join(layout::STOP_REQUESTED);
        let Some(text) = file::read(&path)? else { return Ok(false) };
        let requested_at = text.trim().parse::<Timestamp>();
        let age = requested_at.map(|time| Timestamp::now().duration_since(time));
        if text.trim() == "permanent" || age.is_ok_and(|age| age.as_secs() < STOP_SECONDS) {
            return Ok(true);
        }
        let removed = fs::remove_file(&path);
        removed.map(|()| false).map_err(|error| file::unwritable("remove", &path, &error))
    }

    /// An agent claims that the task is done.
    ///
    /// # Errors
    ///
    /// `DONE` is a folder (code 2).
    pub fn is_done(&self) -> Result<bool, Failure> {
        let path = self.folder().join(layout::DONE);
        match fs::symlink_metadata(&path) {
            Ok(metadata) if metadata.is_dir() => {
                let message = format!("DONE is a directory: {}", path.display());
                Err(Failure::usage("done-invalid", message).hint("remove it, or make it a file"))
            }
            Ok(_) => Ok(true),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
            Err(error) => Err(file::unreadable(&path, &error)),
        }
    }

    /// Its facts, the oldest first, and what looks like one and is none.
    ///
    /// # Errors
    ///
    /// A folder that cannot be read.
    pub fn facts(&self) -> Result<(Vec<FactFile>, Vec<UnreadableFact>), Failure> {
        facts::all(&self.folder(), Scope::Task)
    }

    /// Makes the folder of a new run, with a name that no other has.
    ///
    /// # Errors
    ///
    /// A folder that cannot be made.
    pub fn begin(&self) -> Result<RunFolder, Failure> {
        let runs = self.folder().join(layout::RUNS);
        file::folder(&runs)?;
        loop {
            let run = self.run(&stamp().to_string());
            match fs::create_dir(run.folder()) {
                Ok(()) => return Ok(run),
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => {
                    return Err(file::unwritable("make the folder", run.folder(), &error));
                }
            }
        }
    }

    /// Posts on the bus that a run started, stopped or crashed, by its record; of a crash also the
    /// end of the agent's standard error, which the agent can change while it runs. `masker` covers
    /// the secrets in it. For the runner alone.
    ///
    /// # Errors
    ///
    /// As [`Bus::append`], and the standard error of a crash that cannot be read.
    pub fn announce(
        &self,
        run: &RunFolder,
        info: &RunInfo,
        masker: &Masker,
    ) -> Result<Message, Failure> {
        let stderr = match info.status {
            Status::Running | Status::Completed => String::new(),
            Status::Failed | Status::Unknown => file::end(&run.file(layout::STDERR))?,
        };
        let folder = run.folder().display().to_string();
        self.bus()?.append(bus::event(info, &folder, &masker.text(&stderr)))
    }

    /// A run, by an id that names a folder.
    pub fn run(&self, id: &str) -> RunFolder {
        RunFolder::at(self.folder().join(layout::RUNS).join(id))
    }

    /// Its runs, in the order in which they began.
    ///
    /// # Errors
    ///
    /// A folder that cannot be read.
    pub fn runs(&self) -> Result<Vec<RunFolder>, Failure> {
        let folder = self.folder().join(layout::RUNS);
        let runs = file::names(&folder)?.into_iter().map(|name| RunFolder::at(folder.join(name)));
        let mut runs: Vec<_> = runs.filter(|run| run.folder().is_dir()).collect();
        runs.sort_by_cached_key(|run| run.info().map(|info| info.start_time).ok());
        Ok(runs)
    }
}
