//! Reads many files of a baseline: git is asked once for those of its commit.

use std::collections::BTreeMap;
use std::path::Path;

use super::stored_file::{self, Name, StoredFile};
use super::{Baseline, BaselineError};
use crate::worktree::{Blob, WorkTree};

/// Reads files as they were at the baseline.
pub(crate) struct Reader<'a> {
    pub(super) baseline: &'a Baseline,
    pub(super) tree: &'a WorkTree,
    pub(super) files: BTreeMap<Vec<u8>, Blob>,
}

impl Reader<'_> {
    /// The commit has files below this folder.
    pub(crate) fn has_folder(&self, folder: &Path) -> bool {
        let prefix = [stored_file::bytes(folder), b"/"].concat();
        let mut files_from_prefix = self.files.range(prefix.clone()..);
        files_from_prefix.next().is_some_and(|(name, _)| name.starts_with(&prefix))
    }

    /// As [`Baseline::content`].
    pub(crate) fn content(&self, path: &Path) -> Result<Option<StoredFile>, BaselineError> {
        match self.baseline.body.dirty.get(&Name::new(path)) {
            Some(None) => Ok(None),
            Some(Some(mark)) => self.baseline.dirty_file(mark, path).map(Some),
            None => match self.files.get(stored_file::bytes(path)) {
                Some(blob) => self.baseline.committed_file(self.tree, path, blob).map(Some),
                None => Ok(None),
            },
        }
    }
}
