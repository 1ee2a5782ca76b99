//! Compares the files that a handoff names with those that changed since the work began.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use gate_checks::CheckSite;
use gate_checks::baseline::{Baseline, BaselineError, Change};
use gate_checks::worktree::{Snapshot, WorkTree, WorktreeError};
use gate_fleet::handoff::{self, Handoff, Problem};

use crate::gate::decided_on;
use crate::record::Record;

/// The most missing files that are looked for among earlier ones.
const LOOKED_FOR: usize = 50;

/// The most files that one problem names.
const NAMED: usize = 10;

/// The baseline of the newest decision: where the work began. None if nobody kept it.
///
/// # Errors
///
/// A baseline that cannot be read.
pub(crate) fn beginning(
    site: &CheckSite,
    record: Option<&Record>,
) -> Result<Option<Baseline>, BaselineError> {
    let Some(record) = record else { return Baseline::kept(site, None) };
    let digest = record.baseline.as_deref();
    let names = [record.run.clone(), digest.map(decided_on), None];
    for name in names {
        let kept = Baseline::kept(site, name.as_deref())?;
        if kept.as_ref().is_some_and(|kept| Some(kept.digest()) == digest) {
            return Ok(kept);
        }
    }
    let history = Baseline::from_history(site, &record.time)?;
    Ok(history.filter(|history| digest.is_none_or(|digest| history.digest() == digest)))
}

/// The files that a handoff names, beside the work tree as it stands.
pub(super) struct ChangedFiles<'c> {
    pub(super) handoff: &'c Handoff,
    /// The newest decision.
    pub(super) record: Option<&'c Record>,
    pub(super) site: &'c CheckSite,
    pub(super) tree: &'c WorkTree,
    pub(super) now: &'c Snapshot,
    /// Files that are no part of the work, relative to the root: the handoff's own.
    pub(super) beside: Vec<PathBuf>,
}

impl ChangedFiles<'_> {
    /// The files that changed and are not named, and the named ones that did not change.
    pub(super) fn problems(&self) -> Result<Vec<Problem>, BaselineError> {
        let Some(began) = beginning(self.site, self.record)? else { return Ok(Vec::new()) };
        let Some(uncommitted) = self.tree.changed(None)? else { return Ok(Vec::new()) };
        let uncommitted: BTreeSet<PathBuf> = uncommitted.into_iter().map(PathBuf::from).collect();
        let changes = began.changes(self.tree, self.now)?;
        // A baseline of git's history may be older than this work: others committed since.
        let is_older = began.is_from_history();
        let left_out: Vec<_> = changes
            .iter()
            .filter(|change| !is_older || uncommitted.contains(&change.path))
            .filter(|change| !self.is_beside(&change.path) && !self.is_covered(change, &changes))
            .collect();
        let mut problems = Vec::new();
        if !left_out.is_empty() {
            let names: Vec<_> = left_out
                .iter()
                .take(NAMED)
                .map(|change| format!("`{}`", change.path.display()))
                .collect();
            let more = left_out.len() - names.len();
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            let message =
                format!("changed since the work began, and not named: {}{more}", names.join(", "));
            problems.push(Problem::new("changed_files", message));
        }
        // If nothing changed since a commit of history, gate may have come after the work.
        if !is_older || changes.iter().any(|change| !self.is_beside(&change.path)) {
            problems.extend(self.unchanged(&changes, &uncommitted));
        }
        Ok(problems)
    }

    /// The named files that stand in the tree as they did when the work began.
    fn unchanged(&self, changes: &[Change], uncommitted: &BTreeSet<PathBuf>) -> Vec<Problem> {
        let files = self.handoff.changed_files.iter().enumerate();
        let unchanged = files.filter(|(_, file)| {
            self.places(file).iter().any(|place| self.now.file(place).is_some())
                && !self.places(file).iter().any(|place| {
                    uncommitted.contains(place) || changes.iter().any(|one| one.path == *place)
                })
        });
        let unchanged = unchanged.map(|(at, _)| {
            let field = format!("changed_files[{at}]");
            Problem::new(field, "it did not change since the work began")
        });
        unchanged.collect()
    }

    /// True if a name in the handoff means the changed file: its own, that of a folder above, or
    /// for a file that was moved away its new one.
    fn is_covered(&self, change: &Change, changes: &[Change]) -> bool {
        let moved = changes.iter().find(|one| one.moved_from.as_ref() == Some(&change.path));
        let paths = [Some(&change.path), moved.map(|moved| &moved.path)];
        self.handoff.changed_files.iter().flat_map(|file| self.places(file)).any(|place| {
            paths.iter().flatten().any(|path| path.starts_with(&place) && place != Path::new(""))
        })
    }

    /// The files, relative to the root, that a name in the handoff may mean.
    fn places(&self, file: &str) -> Vec<PathBuf> {
        let path = Path::new(file.trim().trim_matches('`'));
        let root = self.tree.root();
        let project = self.site.project.canonicalize().unwrap_or_else(|_| root.to_owned());
        let path = path
            .strip_prefix(&self.site.project)
            .map_or(path.to_owned(), |rest| project.join(rest));
        let places = [project.as_path(), root].into_iter().filter_map(|folder| {
            let whole = folder.join(&path);
            Some(whole.strip_prefix(root).ok()?.components().collect())
        });
        places.collect()
    }

    /// The named files that are not there and never were.
    pub(super) fn unknown(&self) -> Result<Vec<Problem>, WorktreeError> {
        let mut looked_for = 0;
        handoff::unknown_files(self.handoff, |name| {
            let folders = [self.site.project.as_path(), self.tree.root()];
            if folders.iter().any(|folder| folder.join(name).symlink_metadata().is_ok()) {
                return Ok(true);
            }
            looked_for += 1;
            if looked_for > LOOKED_FOR || name.contains('\0') {
                return Ok(false);
            }
            for place in self.places(name) {
                let is_plain = place.components().all(|part| matches!(part, Component::Normal(_)));
                if is_plain && place != Path::new("") && self.tree.was_committed(&place)? {
                    return Ok(true);
                }
            }
            Ok(false)
        })
    }

    /// True for a file that is no part of the work: the handoff's own, and what checks wrote.
    fn is_beside(&self, path: &Path) -> bool {
        let tree = self.record.and_then(|record| record.tree.as_ref());
        self.beside.iter().any(|file| file == path)
            || tree.is_some_and(|tree| tree.wrote.iter().any(|file| Path::new(file) == path))
    }
}
