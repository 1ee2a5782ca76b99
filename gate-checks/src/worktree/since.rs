//! Changes since a commit, and the files that history has ever had.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::error::WorktreeError;
use super::git::{Git, GitOutput};
use super::names::shown;
use super::repository::Repository;
use super::snapshot::Snapshot;
use super::status::differing_files;
use super::{Status, WorkTree};
use crate::cancellation::Cancellation;

/// The files that are not committed, and all files at that moment.
pub(crate) struct Uncommitted {
    pub(crate) files: BTreeSet<Vec<u8>>,
    pub(crate) snapshot: Snapshot,
}

impl WorkTree {
    /// The commit that a name such as `HEAD` means; `None` if there is no such commit, and outside of
    /// git.
    ///
    /// # Errors
    ///
    /// A git command that fails.
    pub fn commit(&self, name: &str) -> Result<Option<String>, WorktreeError> {
        let Some((git, repository)) = self.repository()? else { return Ok(None) };
        // No name of a commit begins with a hyphen, and git would take it for an option.
        if name.starts_with('-') {
            return Ok(None);
        }
        let expression = format!("{name}^{{commit}}");
        let args = ["rev-parse", "--quiet", "--verify", expression.as_str()];
        let GitOutput { code, stdout, .. } =
            git.output(repository.place(), &args, &[], &Cancellation::default())?;
        let commit = String::from_utf8_lossy(stdout.trim_ascii()).into_owned();
        Ok((code == Some(0)).then_some(commit).filter(|commit| !commit.is_empty()))
    }

    /// The files that are not committed, and with a commit also those in which the commit that is
    /// checked out differs from it; relative to the root, sorted, and safe to print. `None` outside
    /// of git.
    ///
    /// # Errors
    ///
    /// A tree that cannot be read.
    pub fn changed(&self, since: Option<&str>) -> Result<Option<Vec<String>>, WorktreeError> {
        let files = self.changed_files(since, &Cancellation::default())?;
        Ok(files.map(|files| files.iter().map(|file| shown(file)).collect()))
    }

    /// The files that git does not track and no rule ignores, by their whole paths.
    ///
    /// # Errors
    ///
    /// A tree that cannot be read.
    pub fn untracked_files(&self) -> Result<Vec<PathBuf>, WorktreeError> {
        let status = self.status(&Cancellation::default())?;
        let names = status.into_iter().flat_map(|status| status.untracked);
        Ok(names.map(|name| self.root.join(super::names::path(&name))).collect())
    }

    /// As [`Self::changed`], with the names' own bytes.
    ///
    /// # Errors
    ///
    /// A tree that cannot be read; [`WorktreeError::Cancelled`] where it was stopped.
    pub(crate) fn changed_files(
        &self,
        since: Option<&str>,
        cancel: &Cancellation,
    ) -> Result<Option<BTreeSet<Vec<u8>>>, WorktreeError> {
        let Some(Uncommitted { mut files, .. }) = self.uncommitted(cancel)? else {
            return Ok(None);
        };
        if let (Some(since), Some((git, repository))) = (since, self.repository()?)
            && let Some(head) = repository.head(git, cancel)?
            && head != since
        {
            let old_tree = repository.tree(git, since, cancel)?;
            let new_tree = repository.tree(git, &head, cancel)?;
            files.extend(differing_files(&old_tree, &new_tree));
        }
        Ok(Some(files))
    }

    /// `None` outside of git.
    ///
    /// # Errors
    ///
    /// A tree that cannot be read; [`WorktreeError::Cancelled`] where it was stopped.
    pub(crate) fn uncommitted(
        &self,
        cancel: &Cancellation,
    ) -> Result<Option<Uncommitted>, WorktreeError> {
        let Some((status, snapshot)) = self.status_with_snapshot(cancel)? else {
            return Ok(None);
        };
        let Status { staged, unstaged, untracked, .. } = status;
        let files = [staged, unstaged, untracked].into_iter().flatten().collect();
        Ok(Some(Uncommitted { files, snapshot }))
    }

    /// A file, named from the root, is or was in the checked out commit or one before it.
    ///
    /// # Errors
    ///
    /// A git command that fails.
    pub fn was_committed(&self, file: &Path) -> Result<bool, WorktreeError> {
        let Some((git, repository)) = self.repository()? else { return Ok(false) };
        let cancel = Cancellation::default();
        if repository.head(git, &cancel)?.is_none() {
            return Ok(false);
        }
        // The name is a path, whatever signs of a pattern are in it.
        let literally = [("GIT_LITERAL_PATHSPECS", Path::new("1"))];
        let place = super::git::GitPlace { variables: &literally, ..repository.place() };
        let args = ["rev-list", "--max-count=1", "HEAD"];
        let output = git.output(place, &args, &[file], &cancel)?;
        if output.code != Some(0) {
            return Err(output.to_error(place, &args));
        }
        Ok(!output.stdout.trim_ascii().is_empty())
    }

    /// The repository of the root, if it is one.
    pub(super) fn repository(&self) -> Result<Option<(&Git, Repository)>, WorktreeError> {
        if !self.is_repository {
            return Ok(None);
        }
        Ok(Some((self.git()?, Repository::find(&self.root, Vec::new())?)))
    }

    pub(super) fn git(&self) -> Result<&Git, WorktreeError> {
        self.git.as_ref().ok_or_else(|| WorktreeError::NoGit { root: self.root.to_path_buf() })
    }
}
