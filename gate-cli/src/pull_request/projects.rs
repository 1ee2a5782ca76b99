//! The folders whose settings judge a change: the caller's own, and in a monorepo each folder below it
//! whose gate.toml of the base is the nearest one for a changed file.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use gate_checks::baseline::Baseline;
use gate_checks::worktree::WorkTree;
use gate_platform::RealPath;

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
    let own_project = Project { places: places.clone(), name: String::new() };
    let Some(baseline) = baseline else { return Ok(vec![own_project]) };
    let full_path = places.folder.real_path().unwrap_or_else(|_| places.folder.clone());
    let own_folder = full_path.strip_prefix(tree.root()).unwrap_or(Path::new(""));
    let settings_folders =
        baseline.folders_with(tree, FILE).map_err(|error| unreadable_base(&error))?;
    let inner_folders: BTreeSet<_> = settings_folders
        .iter()
        .filter(|folder| folder.starts_with(own_folder) && *folder != own_folder)
        .cloned()
        .collect();
    let changed = tree.changed(Some(baseline.commit()))?.unwrap_or_default();
    let judging_folders: BTreeSet<PathBuf> = changed
        .iter()
        .filter_map(|file| nearest(file, &inner_folders).map(Path::to_owned))
        .collect();
    let has_own_settings = places.project_file()?.is_some()
        || settings_folders.iter().any(|folder| own_folder.starts_with(folder));
    let is_judged_below = !judging_folders.is_empty()
        && changed.iter().all(|file| nearest(file, &inner_folders).is_some());
    let inner_projects = judging_folders.into_iter().map(|folder| Project {
        places: Places { folder: tree.root().join(&folder), ..places.clone() },
        name: folder.display().to_string(),
    });
    let own_project = (has_own_settings || !is_judged_below).then_some(own_project);
    Ok(own_project.into_iter().chain(inner_projects).collect())
}

/// The nearest of these folders above a file.
fn nearest<'f>(file: &'f str, folders: &BTreeSet<PathBuf>) -> Option<&'f Path> {
    Path::new(file).ancestors().skip(1).find(|folder| folders.contains(*folder))
}
