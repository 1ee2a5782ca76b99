//! Removing the files that gate keeps only to be faster, or for a person to read: copies of trees,
//! build output, folders that killed gates left behind, logs, and folders of old runs.
//!
//! It is safe while other gates run: it takes the locks that they take, never waits for a lock, and
//! leaves locked files alone. Records and baselines are not touched.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;

use crate::disk_usage::disk_usage;
use crate::logs::old_logs;
use crate::remove::remove_any;
use crate::store;
use crate::workspace::{CopyUse, FreeCopy, StoredCopy};

/// The files to remove.
#[derive(Clone, Copy, Debug, Default)]
pub struct PruneOptions {
    /// Copies, build output and logs that were used within this time stay.
    pub older: Duration,
    /// The result tells what would be removed, and all of it stays.
    pub dry_run: bool,
}

/// The things that were removed, or that would be.
#[non_exhaustive]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Pruned {
    /// Copies of work trees.
    pub copies: PrunedKind,
    /// Folders of build output beside the copies.
    pub builds: PrunedKind,
    /// Logs of checks, a folder for each call.
    pub logs: PrunedKind,
    /// Folders of runs that ended before, with the agent's output.
    pub runs: PrunedKind,
    /// Copies that checks use, and that were left alone.
    pub in_use: u64,
    /// Things that could not be removed.
    pub failed: Vec<PruneFailure>,
}

/// The removed things of one kind.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PrunedKind {
    /// Number of things.
    pub count: u64,
    /// Space on the disk, in bytes.
    pub bytes: u64,
}

/// Something that could not be removed.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PruneFailure {
    /// Its path.
    pub path: String,
    /// The error of the system.
    pub error: String,
}

/// Removes the files that no running check uses from a state folder.
///
/// # Errors
///
/// The list of work trees cannot be read. Single things that cannot be removed are no error, but
/// part of the result.
pub fn prune(state: &Path, options: &PruneOptions) -> io::Result<Pruned> {
    let mut pruned = Pruned::default();
    let mut pruning = Pruning { options, pruned: &mut pruned };
    for tree_folder in store::tree_folders(state)? {
        pruning.prune_tree(&tree_folder);
    }
    Ok(pruned)
}

struct Pruning<'a> {
    options: &'a PruneOptions,
    pruned: &'a mut Pruned,
}

impl Pruning<'_> {
    /// Removes from one tree's folder of the state.
    fn prune_tree(&mut self, tree_folder: &Path) {
        match StoredCopy::new(tree_folder.to_owned()).try_lock() {
            Ok(CopyUse::Free(copy)) if copy.is_older(self.options.older) => self.prune_copy(&copy),
            Ok(CopyUse::Free(_) | CopyUse::Absent) => {}
            Ok(CopyUse::InUse) => self.pruned.in_use += 1,
            Err(error) => self.add_failure(tree_folder, &error),
        }
        for logs in old_logs(tree_folder, self.options.older) {
            if let Some(bytes) = self.remove(&[&logs.folder]) {
                self.pruned.logs.add(bytes);
            }
        }
    }

    fn prune_copy(&mut self, copy: &FreeCopy) {
        if let Some(bytes) = self.remove(&copy.workspace_contents()) {
            self.pruned.copies.add(bytes);
        }
        for builds in copy.builds() {
            if let Some(bytes) = self.remove(&[&builds.path]) {
                self.pruned.builds.add(bytes);
            }
        }
    }

    /// Removes paths that count as one, and returns their size. `None` if there are no paths, or if
    /// one of them cannot be removed.
    fn remove(&mut self, paths: &[impl AsRef<Path>]) -> Option<u64> {
        let bytes = paths.iter().map(|path| disk_usage(path.as_ref())).sum();
        let mut is_removed = !paths.is_empty();
        if self.options.dry_run {
            return is_removed.then_some(bytes);
        }
        for path in paths {
            let path = path.as_ref();
            if let Err(error) = remove_any(path) {
                self.add_failure(path, &error);
                is_removed = false;
            }
        }
        is_removed.then_some(bytes)
    }

    fn add_failure(&mut self, path: &Path, error: &io::Error) {
        let failure = PruneFailure { path: path.display().to_string(), error: error.to_string() };
        self.pruned.failed.push(failure);
    }
}

impl Pruned {
    /// Removes these folders of runs as well.
    pub fn remove_runs(&mut self, folders: &[PathBuf], options: &PruneOptions) {
        let mut pruning = Pruning { options, pruned: self };
        for folder in folders {
            if let Some(bytes) = pruning.remove(&[folder]) {
                pruning.pruned.runs.add(bytes);
            }
        }
    }

    /// The freed space of all kinds, in bytes.
    pub fn bytes(&self) -> u64 {
        let kinds = [self.copies, self.builds, self.logs, self.runs];
        kinds.iter().map(|kind| kind.bytes).sum()
    }
}

impl PrunedKind {
    fn add(&mut self, bytes: u64) {
        self.count += 1;
        self.bytes += bytes;
    }
}
