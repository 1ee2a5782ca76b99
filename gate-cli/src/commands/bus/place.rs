//! Which bus is meant.

use std::path::{Path, PathBuf};

use gate_core::protocol::run::{RunInfo, layout};

use crate::args::Place;
use crate::context::Here;
use crate::failure::Failure;
use crate::governance::{Bus, Caller, Project, Runs};

/// A bus, and to whom it belongs.
pub(super) struct Meant {
    pub(super) bus: Bus,
    pub(super) project_id: String,
    /// Empty for a project's bus.
    pub(super) task_id: String,
}

/// The project that is meant by its id, or the one here.
pub(in crate::commands) fn project(
    here: &Here,
    root: Option<&Path>,
    id: Option<&str>,
) -> Result<Project, Failure> {
    let own = match (root, id) {
        (Some(root), Some(id)) => return Runs::at(here.places.folder.join(root)).project(id),
        _ => Runs::here(&here.places)?,
    };
    let runs = root.map(|root| Runs::at(here.places.folder.join(root)));
    match id {
        None if runs.is_none() => Ok(own),
        id => runs.unwrap_or_else(|| own.runs().clone()).project(id.unwrap_or(own.id())),
    }
}

/// Whose agent calls, of the runs where the bus is.
pub(super) fn caller(here: &Here, place: &Place) -> Result<Caller, Failure> {
    let by_path = place.bus.as_ref().and_then(|file| {
        let file = here.places.folder.join(file);
        let (project, task) = owners(&file);
        let above = if task.is_empty() { 2 } else { 3 };
        Runs::at(file.ancestors().nth(above)?).project(&project).ok()
    });
    match by_path.map_or_else(|| project(here, place.root.as_deref(), place.project.as_deref()), Ok)
    {
        Ok(project) => Caller::of_process(&project),
        // A bus that is named needs no settings.
        Err(_) if place.bus.is_some() => Ok(Caller::default()),
        Err(failure) => Err(failure),
    }
}

/// The bus that is meant.
pub(super) fn meant(here: &Here, place: &Place, caller: &Caller) -> Result<Meant, Failure> {
    if let Some(file) = &place.bus {
        return named(here, place, &here.places.folder.join(file));
    }
    if place.project.is_some() || place.task.is_some() || place.root.is_some() {
        return by_ids(here, place);
    }
    if let Some(info) = &caller.run {
        return of_run(here, info);
    }
    match nearest(&here.places.folder) {
        Some(file) => named(here, place, &file),
        None => by_ids(here, place),
    }
}

/// The bus in a file. Whose it is stands in its path, where nobody says.
fn named(here: &Here, place: &Place, file: &Path) -> Result<Meant, Failure> {
    let (project_id, task_id) = owners(file);
    let project_id = match &place.project {
        Some(id) => id.clone(),
        None if project_id.is_empty() => Runs::here(&here.places)?.id().to_owned(),
        None => project_id,
    };
    let task_id = place.task.clone().unwrap_or(task_id);
    Ok(Meant { bus: Bus::at(file), project_id, task_id })
}

/// The project and the task of a bus, by its path; empty where it does not say.
fn owners(file: &Path) -> (String, String) {
    let above = |steps: usize| {
        let folder = file.ancestors().nth(steps).and_then(Path::file_name);
        folder.map(|it| it.to_string_lossy().into_owned()).unwrap_or_default()
    };
    match file.file_name().and_then(|it| it.to_str()) {
        Some(layout::TASK_BUS) => (above(2), above(1)),
        Some(layout::PROJECT_BUS) => (above(1), String::new()),
        _ => (String::new(), String::new()),
    }
}

fn by_ids(here: &Here, place: &Place) -> Result<Meant, Failure> {
    let project = project(here, place.root.as_deref(), place.project.as_deref())?;
    let project_id = project.id().to_owned();
    match &place.task {
        None => Ok(Meant { bus: project.bus()?, project_id, task_id: String::new() }),
        Some(task) => {
            let bus = project.task(task)?.bus()?;
            Ok(Meant { bus, project_id, task_id: task.clone() })
        }
    }
}

fn of_run(here: &Here, info: &RunInfo) -> Result<Meant, Failure> {
    let project = project(here, None, Some(&info.project_id))?;
    let bus = project.task(&info.task_id)?.bus()?;
    let (project_id, task_id) = (info.project_id.clone(), info.task_id.clone());
    Ok(Meant { bus, project_id, task_id })
}

/// The nearest bus from a folder upwards: beside it, or of the task whose run
/// folder it is.
fn nearest(from: &Path) -> Option<PathBuf> {
    if let Some(bus) = of_run_folder(from) {
        return Some(bus);
    }
    let names = [layout::TASK_BUS, layout::PROJECT_BUS, layout::PLAIN_BUS];
    let mut all = from.ancestors().flat_map(|folder| names.map(|name| folder.join(name)));
    all.find(|file| file.symlink_metadata().is_ok_and(|it| it.is_file()))
}

/// The bus of the task whose run folder this is.
fn of_run_folder(folder: &Path) -> Option<PathBuf> {
    let runs = folder.parent().filter(|runs| runs.ends_with(layout::RUNS))?;
    let task = runs.parent().filter(|_| folder.join(layout::RUN_INFO).is_file())?;
    Some(task.join(layout::TASK_BUS))
}
