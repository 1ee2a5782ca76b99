//! Compares the files that a handoff names with those that changed since the work began.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use super::claims::unknown_files;
use super::model::Handoff;
use super::problem::Problem;

/// The most missing files that are looked for among earlier ones.
const LOOKED_FOR: usize = 50;

/// The most files that one problem names.
const NAMED: usize = 10;

/// The folders that names in a handoff may be relative to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Folders {
    /// The project's folder, as it was given.
    pub project: PathBuf,
    /// The same without links.
    pub real_project: PathBuf,
    /// The root of the work tree, without links. All paths below are relative to it.
    pub root: PathBuf,
}

impl Folders {
    /// The files that a name in the handoff may mean.
    fn places(&self, name: &str) -> Vec<PathBuf> {
        let path = Path::new(name.trim().trim_matches('`'));
        let path = path
            .strip_prefix(&self.project)
            .map_or(path.to_owned(), |below| self.real_project.join(below));
        let places = [&self.real_project, &self.root].into_iter().filter_map(|folder| {
            let whole = folder.join(&path);
            Some(whole.strip_prefix(&self.root).ok()?.components().collect())
        });
        places.collect()
    }

    /// A name means the changed file: its own, that of a folder above, or for a file that was
    /// moved away its new one.
    fn cover(&self, names: &[String], change: &ChangedFile, changes: &[ChangedFile]) -> bool {
        let moved = changes.iter().find(|other| other.moved_from.as_ref() == Some(&change.path));
        let paths = [Some(&change.path), moved.map(|moved| &moved.path)];
        names.iter().flat_map(|name| self.places(name)).any(|place| {
            paths.iter().flatten().any(|path| path.starts_with(&place) && place != Path::new(""))
        })
    }
}

/// A file that differs from what it was when the work began.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedFile {
    /// Its name.
    pub path: PathBuf,
    /// The removed file with the same bytes, if this one was added.
    pub moved_from: Option<PathBuf>,
}

/// The changes since the work began.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    /// The changed files.
    pub files: Vec<ChangedFile>,
    /// The files that are not committed.
    pub uncommitted: BTreeSet<PathBuf>,
    /// The beginning is a commit of git's history, which may be older than this work: others
    /// committed since.
    pub is_from_history: bool,
    /// Files that are no part of the work: the handoff's own, transcripts, and what checks wrote.
    pub beside: BTreeSet<PathBuf>,
}

impl Changes {
    /// The files that changed and that a handoff does not name, and the named ones that did not
    /// change. `is_file` finds a file in the work tree as it stands.
    pub fn contradictions(
        &self,
        handoff: &Handoff,
        folders: &Folders,
        is_file: impl Fn(&Path) -> bool,
    ) -> Vec<Problem> {
        let names = &handoff.changed_files;
        let left_out: Vec<_> = self
            .files
            .iter()
            .filter(|change| !self.is_from_history || self.uncommitted.contains(&change.path))
            .filter(|change| !self.beside.contains(&change.path))
            .filter(|change| !folders.cover(names, change, &self.files))
            .collect();
        let mut problems = Vec::new();
        if !left_out.is_empty() {
            let shown = left_out.iter().take(NAMED);
            let shown: Vec<_> =
                shown.map(|change| format!("`{}`", change.path.display())).collect();
            let more = left_out.len() - shown.len();
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            let message =
                format!("changed since the work began, and not named: {}{more}", shown.join(", "));
            problems.push(Problem::new("changed_files", message));
        }
        // If nothing changed since a commit of history, gate may have come after the work.
        let has_changed = self.files.iter().any(|change| !self.beside.contains(&change.path));
        if !self.is_from_history || has_changed {
            problems.extend(self.unchanged(names, folders, is_file));
        }
        problems
    }

    /// The named files that stand in the tree as they did when the work began.
    fn unchanged(
        &self,
        names: &[String],
        folders: &Folders,
        is_file: impl Fn(&Path) -> bool,
    ) -> Vec<Problem> {
        let has_changed = |place: &PathBuf| {
            self.uncommitted.contains(place) || self.files.iter().any(|file| file.path == *place)
        };
        let unchanged = names.iter().enumerate().filter(|(_, name)| {
            let places = folders.places(name);
            places.iter().any(|place| is_file(place)) && !places.iter().any(has_changed)
        });
        let problems = unchanged.map(|(index, _)| {
            let field = format!("changed_files[{index}]");
            Problem::new(field, "it did not change since the work began")
        });
        problems.collect()
    }
}

/// The named files that are not there and never were. `is_there` finds a name in the project or
/// the work tree, `was_committed` a file in git's history.
///
/// # Errors
///
/// Those of `was_committed`.
pub fn never_there<E>(
    handoff: &Handoff,
    folders: &Folders,
    is_there: impl Fn(&str) -> bool,
    was_committed: impl Fn(&Path) -> Result<bool, E>,
) -> Result<Vec<Problem>, E> {
    let mut looked_for = 0;
    unknown_files(handoff, |name| {
        if is_there(name) {
            return Ok(true);
        }
        // Each look walks through git's history, and a handoff may name any number of files.
        looked_for += 1;
        if looked_for > LOOKED_FOR || name.contains('\0') {
            return Ok(false);
        }
        for place in folders.places(name) {
            let is_plain = place.components().all(|part| matches!(part, Component::Normal(_)));
            if is_plain && place != Path::new("") && was_committed(&place)? {
                return Ok(true);
            }
        }
        Ok(false)
    })
}
