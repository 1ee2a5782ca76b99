//! Folders of runs that ended before the time to keep.

use std::path::PathBuf;
use std::time::Duration;

use gate_fleet::run::project_slug;
use gate_fleet::work::WorkItem;

use super::super::common::ago;
use crate::context::Here;
use crate::failure::Failure;
use crate::governance::Runs;
use crate::runner::{OldTask, old_tasks, phase_task};
use crate::settings::Selection;
use crate::trust;

/// The folders of runs that ended longer ago than this, of all projects. What agents printed
/// cannot be made again, so without an age all of them stay.
///
/// # Errors
///
/// A folder or a store that cannot be read.
pub(super) fn old_runs(here: &Here, older: Option<Duration>) -> Result<Vec<PathBuf>, Failure> {
    let Some(older) = older else { return Ok(Vec::new()) };
    // The approved settings: an agent could name another folder to have it emptied.
    let (settings, trust) = trust::settings_in_force(&here.places, &Selection::default())?;
    let before = ago(older);
    let runs = Runs::find(&here.places, settings.run.folder.as_deref())?;
    let mut old = old_tasks(&runs, before)?;
    if !old.is_empty() {
        let leased = here.memory_under(&trust, &settings.policy)?.leased_items()?;
        old.retain(|task| !leased.iter().any(|(project, item)| is_of(task, project, item)));
    }
    Ok(old.into_iter().flat_map(|task| task.runs).collect())
}

/// True if the task is the one of the item's phase, in which its holder may go on.
fn is_of(task: &OldTask, project: &str, item: &WorkItem) -> bool {
    task.project == project_slug(project) && task.task == phase_task(item)
}
