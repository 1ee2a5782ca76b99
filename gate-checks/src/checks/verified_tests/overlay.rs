//! The changes of the tree since its baseline, and the files that are overlaid.

use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use gate_core::decide::policy::Allowance;
use gate_core::integrity::Guarded;

use crate::baseline::{Baseline, BaselineError, Change, What};
use crate::check::CheckContext;
use crate::workspace::Layout;
use crate::worktree::{Cancellation, Globs, WorkTree, shown};

/// A tree, and what it was.
pub(super) struct Overlay<'a> {
    pub(super) baseline: &'a Baseline,
    pub(super) changes: Vec<Change>,
    allowed: Vec<bool>,
}

impl<'a> Overlay<'a> {
    /// The differences from the baseline, if there is one.
    ///
    /// # Errors
    ///
    /// A baseline that cannot be compared.
    pub(super) fn new(
        cx: &'a CheckContext,
        tree: &WorkTree,
    ) -> Result<Option<Self>, BaselineError> {
        let Some(baseline) = &cx.baseline else { return Ok(None) };
        let cancel = Cancellation::with(cx.cancel.clone());
        let changes = baseline.reader(tree)?.changes(&cx.tree, &cancel)?;
        let globs = path_globs(&cx.allow)?;
        let mut allowed = Vec::with_capacity(changes.len());
        for change in &changes {
            let inside = tree.in_project(change.path.as_os_str().as_bytes());
            allowed.push(inside.is_some_and(|inside| globs.matches(inside)));
        }
        Ok(Some(Self { baseline, changes, allowed }))
    }

    /// The changes that the operator has approved by path.
    pub(super) fn approved(&self) -> impl Iterator<Item = &Change> {
        self.changes
            .iter()
            .zip(&self.allowed)
            .filter(|(_, allowed)| **allowed)
            .map(|(change, _)| change)
    }

    /// The files that were moved with their bytes: from where, to where.
    pub(super) fn moved(&self) -> impl Iterator<Item = (&Path, &Path)> {
        self.changes
            .iter()
            .filter_map(|change| Some((change.moved_from.as_deref()?, change.path.as_path())))
    }

    /// The files that the overlay puts in their old state: tests and what they rest
    /// on that were edited or removed, and settings of test runners, new ones too.
    fn overlaid(&self) -> impl Iterator<Item = &Change> {
        let moved: Vec<_> = self.moved().map(|(from, _)| from.to_owned()).collect();
        let changes = self.changes.iter().zip(&self.allowed).filter(|(_, allowed)| !**allowed);
        changes.map(|(change, _)| change).filter(move |change| match change.guarded {
            Some(Guarded::Test | Guarded::Support) => {
                change.what != What::Added && !moved.contains(&change.path)
            }
            Some(Guarded::Runner) => true,
            _ => false,
        })
    }

    /// Their names, fit to be shown.
    pub(super) fn names(&self) -> Vec<String> {
        self.overlaid().map(|change| shown(change.path.as_os_str().as_bytes())).collect()
    }

    /// The overlaid tests that are in the tree, if nothing but tests is overlaid or left out.
    pub(super) fn own_tests(&self) -> Option<Vec<PathBuf>> {
        let mut own = Vec::new();
        for change in self.overlaid().chain(self.left_out()) {
            if change.guarded != Some(Guarded::Test) {
                return None;
            }
            if change.what != What::Removed {
                own.push(change.path.clone());
            }
        }
        Some(own)
    }

    /// New tests, and new files that tests rest on.
    fn left_out(&self) -> impl Iterator<Item = &Change> {
        let changes = self.changes.iter().zip(&self.allowed).filter(|(_, allowed)| !**allowed);
        changes.map(|(change, _)| change).filter(|change| {
            let test = matches!(change.guarded, Some(Guarded::Test | Guarded::Support));
            test && change.what == What::Added && change.moved_from.is_none()
        })
    }

    /// Lays them over. New tests go with it: they are free, and may need what is put
    /// back; they run with the tree as it stands.
    pub(super) fn lay(&self, tree: &WorkTree, layout: &mut Layout) -> Result<(), BaselineError> {
        for change in self.overlaid() {
            self.put_back(tree, layout, &change.path)?;
        }
        self.left_out().for_each(|change| layout.leave_out(&change.path));
        Ok(())
    }

    /// Makes it the baseline's own tree.
    pub(super) fn lay_all(
        &self,
        tree: &WorkTree,
        layout: &mut Layout,
    ) -> Result<(), BaselineError> {
        let mut paths: Vec<&PathBuf> = self.changes.iter().map(|change| &change.path).collect();
        paths.dedup();
        paths.into_iter().try_for_each(|path| self.put_back(tree, layout, path))
    }

    /// Puts these files back.
    pub(super) fn lay_files(
        &self,
        tree: &WorkTree,
        layout: &mut Layout,
        files: &[PathBuf],
    ) -> Result<(), BaselineError> {
        files.iter().try_for_each(|path| self.put_back(tree, layout, path))
    }

    /// Puts back all but tests and what they rest on.
    pub(super) fn lay_sources(
        &self,
        tree: &WorkTree,
        layout: &mut Layout,
    ) -> Result<(), BaselineError> {
        let tests =
            |change: &&Change| matches!(change.guarded, Some(Guarded::Test | Guarded::Support));
        let sources = self.changes.iter().filter(|change| !tests(change));
        sources.map(|change| &change.path).try_for_each(|path| self.put_back(tree, layout, path))
    }

    /// The files in which new tests may stand.
    pub(super) fn new_tests(&self) -> Vec<PathBuf> {
        let tests = self.changes.iter().filter(|change| {
            change.guarded == Some(Guarded::Test)
                && change.what != What::Removed
                && change.moved_from.is_none()
        });
        tests.map(|change| change.path.clone()).collect()
    }

    fn put_back(
        &self,
        tree: &WorkTree,
        layout: &mut Layout,
        path: &Path,
    ) -> Result<(), BaselineError> {
        match self.baseline.content(tree, path)? {
            Some(held) => layout.lay(path, &held),
            None => layout.leave_out(path),
        }
        Ok(())
    }
}

/// The globs of files that may change.
fn path_globs(allow: &[Allowance]) -> Result<Globs, BaselineError> {
    let whole =
        allow.iter().filter(|allowance| allowance.test.is_none() && allowance.rule.is_none());
    let globs: Vec<_> = whole.filter_map(|allowance| allowance.path.clone()).collect();
    Ok(Globs::new(&globs)?)
}

#[cfg(test)]
mod tests;
