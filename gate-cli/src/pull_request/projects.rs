//! The folders whose settings judge a change: the caller's own, and in a monorepo those below it with
//! a gate.toml of the base that is the nearest one for a changed file.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use gate_checks::baseline::Baseline;
use gate_checks::worktree::WorkTree;

use super::base::unreadable_base;
use crate::failure::Failure;
use crate::settings::{FILE, Places};

/// A folder with settings of its own.
pub(super) struct Project {
    pub(super) places: Places,
    /// Its folder relative to the repository's root; empty for the caller's own folder.
    pub(super) name: String,
}

/// The caller's own folder first. It is left out if it has no settings, and folders below it judge
/// everything that was changed.
pub(super) fn projects(
    places: &Places,
    tree: &WorkTree,
    baseline: Option<&Baseline>,
) -> Result<Vec<Project>, Failure> {
    let callers = Project { places: places.clone(), name: String::new() };
    let Some(baseline) = baseline else { return Ok(vec![callers]) };
    let folder = places.folder.canonicalize().unwrap_or_else(|_| places.folder.clone());
    let folder = folder.strip_prefix(tree.root()).unwrap_or(Path::new("")).to_owned();
    let with_settings =
        baseline.folders_with(tree, FILE).map_err(|error| unreadable_base(&error))?;
    let below: BTreeSet<_> = with_settings
        .iter()
        .filter(|one| one.starts_with(&folder) && **one != folder)
        .cloned()
        .collect();
    let changed = tree.changed(Some(baseline.commit()))?.unwrap_or_default();
    let judged: BTreeSet<PathBuf> =
        changed.iter().filter_map(|file| nearest(file, &below).map(Path::to_owned)).collect();
    let has_settings =
        places.project_file()?.is_some() || with_settings.iter().any(|one| folder.starts_with(one));
    let judges_all =
        !judged.is_empty() && changed.iter().all(|file| nearest(file, &below).is_some());
    let projects = judged.into_iter().map(|inside| Project {
        places: Places { folder: tree.root().join(&inside), ..places.clone() },
        name: inside.display().to_string(),
    });
    let callers = (has_settings || !judges_all).then_some(callers);
    Ok(callers.into_iter().chain(projects).collect())
}

/// The nearest of these folders above a file.
fn nearest<'f>(file: &'f str, folders: &BTreeSet<PathBuf>) -> Option<&'f Path> {
    Path::new(file).ancestors().skip(1).find(|folder| folders.contains(*folder))
}
