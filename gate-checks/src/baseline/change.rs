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
    /// Added, edited or removed.
    pub kind: ChangeKind,
    /// The removed file with the same bytes, if this one was added.
    pub moved_from: Option<PathBuf>,
}

/// The kind of a file's change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeKind {
    /// The baseline does not have the file.
    Added,
    /// The file has other bytes, or is of another kind.
    Edited,
    /// The tree does not have the file any more.
    Removed,
}

impl Baseline {
    /// The files that are different in the tree now, sorted by name.
    ///
    /// # Errors
    ///
    /// A tree that cannot be read, a commit that is gone.
    pub fn changes(
        &self,
        tree: &WorkTree,
        snapshot: &Snapshot,
    ) -> Result<Vec<Change>, BaselineError> {
        self.reader(tree)?.changes(snapshot, &Cancellation::default())
    }

    /// The baseline's files that hold tests, or that tests rest on or are configured by.
    pub(crate) fn files_of_tests(&self, tree: &WorkTree) -> Result<Vec<PathBuf>, BaselineError> {
        use Guarded::{Manifest, Runner, Support, Test};
        let committed = self.files(tree)?;
        let dirty = self.body.dirty.iter().filter(|(_, mark)| mark.is_some());
        let files = committed
            .keys()
            .chain(dirty.map(|(name, _)| &name.0))
            .filter_map(|name| std::str::from_utf8(name).ok())
            .filter(|name| matches!(guarded(name), Some(Test | Support | Runner | Manifest)))
            .map(PathBuf::from);
        Ok(files.collect())
    }
}

impl Reader<'_> {
    /// As [`Baseline::changes`]; it ends early if the work is cancelled.
    pub(crate) fn changes(
        &self,
        snapshot: &Snapshot,
        cancel: &Cancellation,
    ) -> Result<Vec<Change>, BaselineError> {
        let (body, tree) = (&self.baseline.body, self.tree);
        let unlike_commit = tree.changed_files(Some(&body.commit), cancel)?.unwrap_or_default();
        // A file that was dirty may be as in the commit again, and git may take a guarded file of
        // other raw bytes for the same one.
        let dirty = body.dirty.keys();
        let guarded_and_changed =
            body.guarded.iter().filter(|(name, mark)| !is_unchanged(mark, snapshot, &name.path()));
        let candidates: BTreeSet<Vec<u8>> = dirty
            .chain(guarded_and_changed.map(|(name, _)| name))
            .map(|name| name.0.clone())
            .chain(unlike_commit)
            .collect();
        let mut changes = Vec::new();
        for name in candidates {
            let path = path(&name);
            let (existed, is_unchanged) = match body.dirty.get(&Name(name.clone())) {
                Some(None) => (false, false),
                Some(Some(mark)) => (true, is_unchanged(mark, snapshot, &path)),
                None => (self.files.contains_key(&name), false),
            };
            let kind = match (existed, kind_of(snapshot, &path).is_some()) {
                (true, true) if is_unchanged => continue,
                (true, true) => ChangeKind::Edited,
                (true, false) => ChangeKind::Removed,
                (false, true) => ChangeKind::Added,
                (false, false) => continue,
            };
            let guarded = path.to_str().and_then(guarded);
            changes.push(Change { path, guarded, kind, moved_from: None });
        }
        self.pair_moved_files(&mut changes);
        Ok(changes)
    }

    /// Finds the files that were only moved: added ones with the bytes of removed ones, each of which
    /// was moved to one place. Empty files have the same bytes without being the same file.
    fn pair_moved_files(&self, changes: &mut [Change]) {
        let mut removed: Vec<_> = changes
            .iter()
            .filter(|change| change.kind == ChangeKind::Removed)
            .filter_map(|change| {
                let file = self.content(&change.path).ok().flatten()?;
                Some((file.bytes, change.path.clone()))
            })
            .collect();
        if removed.is_empty() {
            return;
        }
        for change in changes.iter_mut().filter(|change| change.kind == ChangeKind::Added) {
            let Some(bytes) = self.tree.bytes(&change.path).filter(|bytes| !bytes.is_empty())
            else {
                continue;
            };
            if let Some(index) = removed.iter().position(|(old_bytes, _)| *old_bytes == bytes) {
                let (_, old_path) = removed.swap_remove(index);
                change.moved_from = Some(old_path);
            }
        }
    }
}

fn is_unchanged(mark: &Mark, snapshot: &Snapshot, path: &Path) -> bool {
    snapshot
        .file(path)
        .is_some_and(|file| file.kind() != Kind::Unreadable && Mark::new(file) == *mark)
}
