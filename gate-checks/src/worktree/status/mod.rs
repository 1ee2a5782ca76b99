//! Uncommitted changes: staged, unstaged and untracked files.
//!
//! Git only lists its index and the commit's tree. gate compares them itself, byte by byte. So
//! neither flags in the index nor settings, attributes, excludes or a file system monitor of the
//! repository can hide an edit.
//!
//! A file with the bytes of its blob is clean, whatever its attributes are. If they differ, the
//! file may still be clean, since git stores some files in another form. [`Convert`] lists the
//! forms that count.

mod blob;
mod compare;
mod convert;
mod settings;
mod submodules;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::thread;

use super::WorkTree;
use super::error::WorktreeError;
use super::git::Git;
use super::index::GitEntries;
use super::repository::Repository;
use super::snapshot::Snapshot;
use super::tracked::TrackedFiles;
use super::tree_scan::{TreeScan, joined};
use crate::cancellation::Cancellation;

use blob::BlobNames;
pub(super) use blob::has_name;
use compare::IndexCheck;
pub(super) use compare::differing_files;
use convert::Convert;
use settings::Settings;

/// The uncommitted changes; names are relative to the root, sorted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Status {
    /// Differences between the index and the commit.
    pub(crate) staged: BTreeSet<Vec<u8>>,
    /// Differences between the files and the index, and submodules that no clone can get.
    pub(crate) unstaged: BTreeSet<Vec<u8>>,
    /// Files that neither the commit nor the index has.
    pub(crate) untracked: BTreeSet<Vec<u8>>,
    /// Missing files that the index calls left out, as a sparse checkout does. Whoever works in the
    /// tree can mark any file so.
    pub(crate) sparse: BTreeSet<Vec<u8>>,
}

impl Status {
    pub(crate) fn is_clean(&self) -> bool {
        self.staged.is_empty()
            && self.unstaged.is_empty()
            && self.untracked.is_empty()
            && self.sparse.is_empty()
    }

    /// Adds the changes of a repository, whose names get its prefix.
    fn add(&mut self, prefix: &[u8], changes: Self) {
        let full = |path: Vec<u8>| [prefix, &path].concat();
        self.staged.extend(changes.staged.into_iter().map(full));
        self.unstaged.extend(changes.unstaged.into_iter().map(full));
        self.untracked.extend(changes.untracked.into_iter().map(full));
        self.sparse.extend(changes.sparse.into_iter().map(full));
    }
}

/// The state of a repository as git has it: the checked out commit with its files, if there is one, and the
/// settings.
struct Committed {
    head: Option<String>,
    tree: Arc<GitEntries>,
    settings: Settings,
}

impl Committed {
    fn read(
        git: &Git,
        repository: &Repository,
        cancel: &Cancellation,
    ) -> Result<Self, WorktreeError> {
        let head = repository.head(git, cancel)?;
        let tree =
            head.as_deref().map(|commit| repository.tree(git, commit, cancel)).transpose()?;
        let settings = Settings::load(git, repository, cancel)?;
        Ok(Self { head, tree: tree.unwrap_or_default(), settings })
    }
}

impl WorkTree {
    /// The uncommitted changes of this moment; `None` outside of git.
    pub(crate) fn status(&self, cancel: &Cancellation) -> Result<Option<Status>, WorktreeError> {
        Ok(self.status_with_snapshot(cancel)?.map(|(status, _)| status))
    }

    /// As [`Self::status`], with the files of the tree at that moment.
    pub(super) fn status_with_snapshot(
        &self,
        cancel: &Cancellation,
    ) -> Result<Option<(Status, Snapshot)>, WorktreeError> {
        if !self.is_repository {
            return Ok(None);
        }
        let git = self.git()?;
        let top = Repository::find(&self.root, Vec::new())?;
        // The commit is listed, and the cache of names read, while files are scanned.
        let (scan, mut top_committed, mut names) = thread::scope(|scope| {
            let committed = scope.spawn(|| Committed::read(git, &top, cancel));
            let names = scope.spawn(|| BlobNames::load(self.state_dir.as_ref()));
            (self.scan(cancel), Some(joined(committed)), joined(names))
        });
        let scan = scan?;
        let mut status = Status::default();
        for repository in &scan.repositories {
            // The root's repository comes first.
            let committed =
                top_committed.take().unwrap_or_else(|| Committed::read(git, repository, cancel));
            let changes = self.compare(git, &scan, repository, &committed?, &mut names, cancel)?;
            status.add(&repository.prefix, changes);
        }
        let tracked = TrackedFiles::new(&scan.repositories);
        let untracked = tracked.untracked(scan.snapshot.files().map(|file| file.path_bytes()));
        // A file that was taken out of the index is staged, and not new.
        let untracked = untracked.into_iter().filter(|path| !status.staged.contains(*path));
        status.untracked = untracked.map(<[u8]>::to_vec).collect();
        names.save(self.state_dir.as_ref());
        Ok(Some((status, scan.snapshot)))
    }

    /// The changes in one repository; names are relative to it. Files that git does not track are
    /// sought in all repositories at once.
    fn compare(
        &self,
        git: &Git,
        scan: &TreeScan,
        repository: &Repository,
        committed: &Committed,
        names: &mut BlobNames,
        cancel: &Cancellation,
    ) -> Result<Status, WorktreeError> {
        let Committed { head, tree, settings } = committed;
        let check = IndexCheck { root: &self.root, scan, repository, settings };
        let comparison = check.compare_files(names, cancel)?;
        let moved = check.moved_submodules(git, cancel)?;
        let unobtainable = submodules::unobtainable(git, repository, tree, cancel)?;
        let convert = Convert { git, repository, settings, head: head.as_deref() };
        let edited = convert.edited(&comparison.doubtful, self.state_dir.as_ref(), cancel)?;
        let unstaged = comparison.edited.into_iter().chain(moved).chain(unobtainable).chain(edited);
        Ok(Status {
            staged: differing_files(tree, &repository.index),
            unstaged: unstaged.collect(),
            untracked: BTreeSet::new(),
            sparse: comparison.sparse.into_iter().collect(),
        })
    }
}
