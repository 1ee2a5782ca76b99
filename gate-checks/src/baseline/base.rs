//! The base of a pull request as a baseline.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::error::BaselineError;
use super::{Baseline, Origin, stored_file};
use crate::site::CheckSite;
use crate::worktree::WorkTree;

impl Baseline {
    /// The base of a pull request or of a push. `commit` is its full name.
    ///
    /// # Errors
    ///
    /// As of [`Baseline::take`].
    pub fn new_base(site: &CheckSite, commit: &str, time: &str) -> Result<Self, BaselineError> {
        let refs = WorkTree::open(site)?.refs().map(Arc::new);
        Ok(Self { refs, ..Self::committed_at(commit.to_owned(), Origin::Base, time) })
    }

    /// The folders, relative to the root, in which its commit has a file of this name.
    ///
    /// # Errors
    ///
    /// A commit that is gone.
    pub fn folders_with(&self, tree: &WorkTree, name: &str) -> Result<Vec<PathBuf>, BaselineError> {
        let paths = self.files(tree)?.into_keys().map(|file| stored_file::path(&file));
        let named = paths.filter(|path| path.file_name().is_some_and(|file| file == name));
        Ok(named.filter_map(|path| path.parent().map(Path::to_owned)).collect())
    }
}
