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
use std::thread;

use super::WorkTree;
use super::error::WorktreeError;
use super::git::Git;
use super::index::Entries;
use super::repository::Repository;
use super::snapshot::Snapshot;
use super::tracked::Tracked;
use super::tree_scan::{TreeScan, joined};
use crate::cancellation::Cancellation;

use blob::Blobs;
pub(super) use blob::named_as;
use compare::Compare;
pub(super) use compare::staged;
use convert::Convert;
use settings::Settings;

/// The uncommitted changes; names are relative to the root, sorted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Status {
    /// Differences between the index and the commit.
    pub(crate) staged: BTreeSet<Vec<u8>>,
    /// Differences between the files and the index, and submodules at a commit that no clone can
    /// get.
    pub(crate) unstaged: BTreeSet<Vec<u8>>,
    /// Files that neither knows.
    pub(crate) untracked: BTreeSet<Vec<u8>>,
    /// Files that are not there, as a sparse checkout leaves them out. Whoever
    /// works in the tree can say so of any file.
    pub(crate) sparse: BTreeSet<Vec<u8>>,
}

impl Status {
    pub(crate) fn is_clean(&self) -> bool {
        self.staged.is_empty()
            && self.unstaged.is_empty()
            && self.untracked.is_empty()
            && self.sparse.is_empty()
    }
}

/// The checked out commit with its files, if there is one, and the repository's settings.
struct Committed {
    head: Option<String>,
    tree: Entries,
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
    /// The uncommitted changes of this moment; none outside of git.
    pub(crate) fn status(&self, cancel: &Cancellation) -> Result<Option<Status>, WorktreeError> {
        Ok(self.status_of_now(cancel)?.map(|(status, _)| status))
    }

    /// The same, with the files of the tree at that moment.
    pub(super) fn status_of_now(
        &self,
        cancel: &Cancellation,
    ) -> Result<Option<(Status, Snapshot)>, WorktreeError> {
        if !self.is_repository {
            return Ok(None);
        }
        let git = self.git()?;
        let top = Repository::find(&self.root, Vec::new())?;
        // What is committed is listed, and what is known of files read, while files are
        // looked at.
        let (scan, mut committed, mut blobs) = thread::scope(|scope| {
            let committed = scope.spawn(|| Committed::read(git, &top, cancel));
            let blobs = scope.spawn(|| Blobs::load(self.state_dir.as_ref()));
            (self.scan(cancel), Some(joined(committed)), joined(blobs))
        });
        let scan = scan?;
        let mut status = Status::default();
        for repository in &scan.repositories {
            let committed =
                committed.take().unwrap_or_else(|| Committed::read(git, repository, cancel));
            self.add(&mut status, (git, &scan), (repository, committed?), &mut blobs, cancel)?;
        }
        let tracked = Tracked::new(&scan.repositories);
        let unknown = tracked.others(scan.snapshot.files().map(|file| file.bytes()));
        let unknown = unknown.into_iter().filter(|path| !status.staged.contains(*path));
        status.untracked = unknown.map(<[u8]>::to_vec).collect();
        blobs.save(self.state_dir.as_ref());
        Ok(Some((status, scan.snapshot)))
    }

    fn add(
        &self,
        status: &mut Status,
        (git, scan): (&Git, &TreeScan),
        (repository, committed): (&Repository, Committed),
        blobs: &mut Blobs,
        cancel: &Cancellation,
    ) -> Result<(), WorktreeError> {
        let Committed { head, tree, settings } = committed;
        let prefix = repository.prefix.as_slice();
        let full = |path: Vec<u8>| [prefix, &path].concat();
        let staged = staged(&tree, &repository.index);
        status.staged.extend(staged.into_iter().map(full));

        let compare = Compare { root: &self.root, scan, repository, settings: &settings };
        let comparison = compare.look(blobs, cancel)?;
        let moved = compare.moved_submodules(git, cancel)?;
        let unnamed = submodules::unnamed(git, repository, &tree, cancel)?;
        let convert = Convert { git, repository, settings: &settings, head: head.as_deref() };
        let edited = convert.edited(&comparison.doubtful, self.state_dir.as_ref(), cancel)?;
        status.sparse.extend(comparison.sparse.into_iter().map(full));
        let unstaged = comparison.edited.into_iter().chain(moved).chain(unnamed).chain(edited);
        status.unstaged.extend(unstaged.map(full));
        Ok(())
    }
}
