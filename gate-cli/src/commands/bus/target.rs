//! The bus that a command is about.

use std::path::{Path, PathBuf};

use gate_fleet::run::layout;

use super::BusArgs;
use crate::context::Here;
use crate::failure::Failure;
use crate::governance::{Bus, Caller, Project, Runs};

/// A bus, with its project and task.
pub(super) struct Target {
    pub(super) bus: Bus,
    pub(super) project_id: String,
    /// Empty for a project's bus.
    pub(super) task_id: String,
}

/// The project with this id, or the one here.
pub(in crate::commands) fn project(
    here: &Here,
    root: Option<&Path>,
    id: Option<&str>,
) -> Result<Project, Failure> {
    let runs = root.map(|root| Runs::at(here.places.folder.join(root)));
    match (runs, id) {
        (None, None) => Runs::here(&here.places),
        (None, Some(id)) => Runs::here(&here.places)?.runs().project(id),
        (Some(runs), None) => runs.project(Runs::here(&here.places)?.id()),
        (Some(runs), Some(id)) => runs.project(id),
    }
}

/// The run whose agent calls, of the runs beside the bus.
pub(super) fn caller(here: &Here, place: &BusArgs) -> Result<Caller, Failure> {
    let by_path = place.bus.as_ref().and_then(|file| {
        let file = here.places.folder.join(file);
        let (project, task) = owners(&file);
        let above = if task.is_empty() { 2 } else { 3 };
        Runs::at(file.ancestors().nth(above)?).project(&project).ok()
    });
    match by_path.map_or_else(|| project(here, place.root.as_deref(), place.project.as_deref()), Ok)
    {
        Ok(project) => Caller::from_process(&project),
        // A bus that is named needs no settings.
        Err(_) if place.bus.is_some() => Ok(Caller::default()),
        Err(failure) => Err(failure),
    }
}

/// The bus that the arguments name, else that of the caller's run, else the nearest.
pub(super) fn resolve(here: &Here, place: &BusArgs, caller: &Caller) -> Result<Target, Failure> {
    if let Some(file) = &place.bus {
        return named(here, place, &here.places.folder.join(file));
    }
    if place.project.is_some() || place.task.is_some() || place.root.is_some() {
        return by_ids(here, place);
    }
    if let Some(info) = &caller.run {
        let project = project(here, None, Some(&info.project_id))?;
        return bus_in(&project, Some(&info.task_id));
    }
    match nearest(&here.places.folder) {
        Some(file) => named(here, place, &file),
        None => by_ids(here, place),
    }
}

/// The bus in a file. Its path names its project and task, unless the arguments do.
fn named(here: &Here, place: &BusArgs, file: &Path) -> Result<Target, Failure> {
    let (project_id, task_id) = owners(file);
    let project_id = match &place.project {
        Some(id) => id.clone(),
        None if project_id.is_empty() => Runs::here(&here.places)?.id().to_owned(),
        None => project_id,
    };
    let task_id = place.task.clone().unwrap_or(task_id);
    Ok(Target { bus: Bus::at(file), project_id, task_id })
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

fn by_ids(here: &Here, place: &BusArgs) -> Result<Target, Failure> {
    let project = project(here, place.root.as_deref(), place.project.as_deref())?;
    bus_in(&project, place.task.as_deref())
}

/// The bus of a task, or of the project itself.
fn bus_in(project: &Project, task: Option<&str>) -> Result<Target, Failure> {
    let bus = match task {
        Some(task) => project.task(task)?.bus()?,
        None => project.bus()?,
    };
    let task_id = task.unwrap_or_default().to_owned();
    Ok(Target { bus, project_id: project.id().to_owned(), task_id })
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
