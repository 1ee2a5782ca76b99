//! Differences from a baseline.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use gate_core::integrity::{Guarded, guarded};

use super::error::BaselineError;
use super::stored_file::{Mark, Name, path};
use super::{Baseline, Reader, kind_of};
use crate::cancellation::Cancellation;
use crate::worktree::{Kind, Snapshot, WorkTree};

/// One file that is different now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Its name, relative to the root.
    pub path: PathBuf,
    /// Why it is guarded, if it is.
    pub guarded: Option<Guarded>,
    /// The kind of change.
    pub what: What,
    /// The removed file with the same bytes, if this one was added.
    pub moved_from: Option<PathBuf>,
}

/// The kind of a file's change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// It is new.
    Added,
    /// Its bytes or its kind are others.
    Edited,
    /// It is gone.
    Removed,
}

impl Baseline {
    /// Everything that is different in the tree now, sorted by name.
    ///
    /// # Errors
    ///
    /// A tree that cannot be read, a commit that is gone.
    pub fn changes(&self, tree: &WorkTree, now: &Snapshot) -> Result<Vec<Change>, BaselineError> {
        self.reader(tree)?.changes(now, &Cancellation::default())
    }

    /// Its files that hold tests, or that tests rest on or are configured by.
    pub(crate) fn files_of_tests(&self, tree: &WorkTree) -> Result<Vec<PathBuf>, BaselineError> {
        let files = self.files(tree)?;
        let dirty = self.body.dirty.iter().filter(|(_, mark)| mark.is_some());
        let names = files.keys().chain(dirty.map(|(name, _)| &name.0));
        let names = names.filter_map(|name| std::str::from_utf8(name).ok());
        let of_tests = names.filter(|name| {
            use Guarded::{Manifest, Runner, Support, Test};
            matches!(guarded(name), Some(Test | Support | Runner | Manifest))
        });
        Ok(of_tests.map(PathBuf::from).collect())
    }
}

impl Reader<'_> {
    /// As [`Baseline::changes`]; it ends early if the work is cancelled.
    pub(crate) fn changes(
        &self,
        now: &Snapshot,
        cancel: &Cancellation,
    ) -> Result<Vec<Change>, BaselineError> {
        let (body, tree) = (&self.baseline.body, self.tree);
        let unlike = tree.changed_files(Some(&body.commit), cancel)?.unwrap_or_default();
        let dirty = body.dirty.keys();
        let raw = body.guarded.iter().filter(|(name, mark)| !is_now(mark, now, &name.path()));
        let names = dirty.chain(raw.map(|(name, _)| name)).map(|name| name.0.clone());
        let names: BTreeSet<Vec<u8>> = unlike.into_iter().chain(names).collect();
        let mut changes = Vec::new();
        for name in names {
            let path = path(&name);
            let (was, same) = match body.dirty.get(&Name(name.clone())) {
                Some(None) => (false, false),
                Some(Some(mark)) => (true, is_now(mark, now, &path)),
                None => (self.files.contains_key(&name), false),
            };
            let what = match (was, kind_of(now, &path).is_some()) {
                (true, true) if same => continue,
                (true, true) => What::Edited,
                (true, false) => What::Removed,
                (false, true) => What::Added,
                (false, false) => continue,
            };
            let guarded = path.to_str().and_then(guarded);
            changes.push(Change { path, guarded, what, moved_from: None });
        }
        self.pair(&mut changes);
        Ok(changes)
    }

    /// Finds the files that were only moved: added ones with the bytes of removed
    /// ones, each of which was moved to one place.
    fn pair(&self, changes: &mut [Change]) {
        let gone = changes.iter().filter(|change| change.what == What::Removed);
        let gone: Vec<_> = gone.map(|change| change.path.clone()).collect();
        if gone.is_empty() {
            return;
        }
        let mut was = Vec::new();
        for path in gone {
            if let Ok(Some(file)) = self.content(&path) {
                was.push((file.bytes, path));
            }
        }
        for change in changes.iter_mut().filter(|change| change.what == What::Added) {
            let Some(bytes) = self.tree.bytes(&change.path).filter(|bytes| !bytes.is_empty())
            else {
                continue;
            };
            if let Some(at) = was.iter().position(|(bytes_before, _)| *bytes_before == bytes) {
                change.moved_from = Some(was.swap_remove(at).1);
            }
        }
    }
}

fn is_now(mark: &Mark, now: &Snapshot, path: &Path) -> bool {
    now.file(path).is_some_and(|file| file.kind() != Kind::Unreadable && Mark::new(file) == *mark)
}
