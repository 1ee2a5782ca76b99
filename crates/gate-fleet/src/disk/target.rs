//! The bus that a command is about.

use std::path::{Path, PathBuf};

use gate_core::Failure;

use super::bus::Bus;
use super::caller::Caller;
use super::project::Project;
use super::root::Runs;
use crate::run::layout;

/// A bus, with its project and task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BusTarget {
    /// The bus.
    pub bus: Bus,
    /// The project's id.
    pub project_id: String,
    /// The task's id; empty for a project's bus.
    pub task_id: String,
}

/// The name of a bus. All of it may be left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BusName {
    /// The bus's file.
    pub bus: Option<PathBuf>,
    /// The project's id.
    pub project: Option<String>,
    /// The task's id; without one it is the project's bus, if the project is named.
    pub task: Option<String>,
    /// The folder of all projects.
    pub root: Option<PathBuf>,
}

/// Finds the project of a folder, if nobody names one. It reads settings, so it is called only
/// where that project is needed: a bus that is named needs none.
pub type ProjectHere<'p> = &'p dyn Fn() -> Result<Project, Failure>;

/// The project with this id in the folder of all projects, or the one here.
///
/// # Errors
///
/// An id that is none (code 2); the project here is needed and cannot be found.
pub fn named_project(
    root: Option<&Path>,
    id: Option<&str>,
    project_here: ProjectHere<'_>,
) -> Result<Project, Failure> {
    match (root.map(Runs::at), id) {
        (None, None) => project_here(),
        (None, Some(id)) => project_here()?.runs().project(id),
        (Some(runs), None) => runs.project(project_here()?.id()),
        (Some(runs), Some(id)) => runs.project(id),
    }
}

/// A search for the bus that a command is about.
#[derive(Clone, Copy)]
pub struct BusSearch<'a> {
    /// The name of the bus, with paths from the root.
    pub name: &'a BusName,
    /// The folder that the nearest bus is looked for in, and above.
    pub folder: &'a Path,
    /// The project of that folder.
    pub project_here: ProjectHere<'a>,
}

impl BusSearch<'_> {
    /// The project with the run whose agent may call: the one beside the bus, by its path. `None`
    /// if there is no project here, and none is needed because the bus is named.
    ///
    /// # Errors
    ///
    /// No bus is named, and the project cannot be found.
    pub fn project_of_caller(&self) -> Result<Option<Project>, Failure> {
        let by_path = self.name.bus.as_ref().and_then(|file| {
            let (project, task) = owners(file);
            let levels = if task.is_empty() { 2 } else { 3 };
            Runs::at(file.ancestors().nth(levels)?).project(&project).ok()
        });
        match by_path.map_or_else(|| self.project(), Ok) {
            Ok(project) => Ok(Some(project)),
            Err(_) if self.name.bus.is_some() => Ok(None),
            Err(failure) => Err(failure),
        }
    }

    /// The named bus, else that of the caller's run, else the nearest.
    ///
    /// # Errors
    ///
    /// An id that is none (code 2), a project that cannot be found, a folder that cannot be made.
    pub fn target(&self, caller: &Caller) -> Result<BusTarget, Failure> {
        let BusName { bus, project, task, root } = self.name;
        if let Some(file) = bus {
            return self.in_file(file);
        }
        let is_named = project.is_some() || task.is_some() || root.is_some();
        if !is_named && let Some(info) = &caller.run {
            let project = named_project(None, Some(&info.project_id), self.project_here)?;
            return bus_in(&project, Some(&info.task_id));
        }
        let nearest = if is_named { None } else { nearest(self.folder) };
        match nearest {
            Some(file) => self.in_file(&file),
            None => bus_in(&self.project()?, task.as_deref()),
        }
    }

    fn project(&self) -> Result<Project, Failure> {
        let BusName { root, project, .. } = self.name;
        named_project(root.as_deref(), project.as_deref(), self.project_here)
    }

    /// The bus in a file. Its path names its project and task, unless the caller does.
    fn in_file(&self, file: &Path) -> Result<BusTarget, Failure> {
        let (project_id, task_id) = owners(file);
        let project_id = match &self.name.project {
            Some(id) => id.clone(),
            None if project_id.is_empty() => (self.project_here)()?.id().to_owned(),
            None => project_id,
        };
        let task_id = self.name.task.clone().unwrap_or(task_id);
        Ok(BusTarget { bus: Bus::at(file), project_id, task_id })
    }
}

/// The project and the task of a bus, by its path; empty if the path names none.
fn owners(file: &Path) -> (String, String) {
    match file.file_name().and_then(|name| name.to_str()) {
        Some(layout::TASK_BUS) => (folder_name(file, 2), folder_name(file, 1)),
        Some(layout::PROJECT_BUS) => (folder_name(file, 1), String::new()),
        _ => (String::new(), String::new()),
    }
}

/// The name of the folder so many levels above a file; empty if there is none.
fn folder_name(file: &Path, levels: usize) -> String {
    let name = file.ancestors().nth(levels).and_then(Path::file_name);
    name.map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// The bus of a task, or of the project itself.
fn bus_in(project: &Project, task: Option<&str>) -> Result<BusTarget, Failure> {
    let bus = match task {
        Some(task) => project.task(task)?.bus()?,
        None => project.bus()?,
    };
    let task_id = task.unwrap_or_default().to_owned();
    Ok(BusTarget { bus, project_id: project.id().to_owned(), task_id })
}

/// The nearest bus from a folder upwards: beside it, or of the task whose run
/// folder it is.
fn nearest(from: &Path) -> Option<PathBuf> {
    if let Some(bus) = task_bus(from) {
        return Some(bus);
    }
    let names = [layout::TASK_BUS, layout::PROJECT_BUS, layout::PLAIN_BUS];
    let mut files = from.ancestors().flat_map(|folder| names.map(|name| folder.join(name)));
    files.find(|file| file.symlink_metadata().is_ok_and(|metadata| metadata.is_file()))
}

/// The bus of the task whose run folder this is.
fn task_bus(folder: &Path) -> Option<PathBuf> {
    let runs = folder.parent().filter(|runs| runs.ends_with(layout::RUNS))?;
    if !folder.join(layout::RUN_INFO).is_file() {
        return None;
    }
    Some(runs.parent()?.join(layout::TASK_BUS))
}

#[cfg(test)]
mod tests;
