//! The files of a commit, their bytes, and the commit at which history parted.

use std::collections::BTreeMap;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::WorkTree;
use super::error::WorktreeError;
use super::file::Kind;
use super::names;
use super::repository::Repository;
use super::status::named_as;
use crate::cancellation::Cancellation;

/// A file of a commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Blob {
    pub(crate) kind: Kind,
    /// The object's name, in hex digits.
    pub(crate) object: String,
}

/// Branches that are the default one, as the origin was last seen.
const OF_ORIGIN: [&str; 3] =
    ["refs/remotes/origin/HEAD", "refs/remotes/origin/main", "refs/remotes/origin/master"];

/// Local branches that are the default one where there is no origin.
const LOCAL: [&str; 2] = ["refs/heads/main", "refs/heads/master"];

/// The commit at which the checked out one left the default branch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MergeBase {
    /// Its full name.
    pub commit: String,
    /// The default branch, as people call it.
    pub branch: String,
    /// The default branch is a local one.
    pub is_local: bool,
}

impl WorkTree {
    /// The files of a commit, by their names relative to the root, without
    /// submodules. None outside of git.
    ///
    /// # Errors
    ///
    /// A git command that fails, such as for a commit that is gone.
    pub(crate) fn files_of(
        &self,
        commit: &str,
    ) -> Result<Option<BTreeMap<Vec<u8>, Blob>>, WorktreeError> {
        let Some((git, repository)) = self.repository()? else { return Ok(None) };
        let entries = repository.tree(git, commit, &Cancellation::default())?;
        let blobs = entries.iter().filter(|entry| !entry.is_submodule()).map(|entry| {
            let kind = match entry.mode {
                0o120_000 => Kind::Link,
                0o100_755 => Kind::Executable,
                _ => Kind::Plain,
            };
            let object = String::from_utf8_lossy(entry.object).into_owned();
            (entry.path.to_vec(), Blob { kind, object })
        });
        Ok(Some(blobs.collect()))
    }

    /// The submodules of a commit, by path, with the commit that it names for each.
    ///
    /// # Errors
    ///
    /// A git command that fails, such as for a commit that is gone.
    pub(crate) fn submodules_of(
        &self,
        commit: &str,
    ) -> Result<BTreeMap<String, String>, WorktreeError> {
        let Some((git, repository)) = self.repository()? else { return Ok(BTreeMap::new()) };
        let entries = repository.tree(git, commit, &Cancellation::default())?;
        let submodules = entries.iter().filter(super::index::Entry::is_submodule).map(|entry| {
            let [path, commit] = [entry.path, entry.object].map(String::from_utf8_lossy);
            (path.into_owned(), commit.into_owned())
        });
        Ok(submodules.collect())
    }

    /// The commit that is checked out in a submodule; none if it is not checked out.
    ///
    /// # Errors
    ///
    /// A git command that fails.
    pub(crate) fn head_of_submodule(&self, path: &str) -> Result<Option<String>, WorktreeError> {
        let Some((git, _)) = self.repository()? else { return Ok(None) };
        match self.submodule(path)? {
            Some(submodule) => submodule.head(git, &Cancellation::default()),
            None => Ok(None),
        }
    }

    fn submodule(&self, path: &str) -> Result<Option<Repository>, WorktreeError> {
        let is_open = self.root().join(names::path(path.as_bytes())).join(".git").exists();
        is_open.then(|| Repository::find(self.root(), format!("{path}/").into_bytes())).transpose()
    }

    /// The bytes of an object of the repository; none if it is gone, or holds other bytes than its
    /// name says.
    ///
    /// # Errors
    ///
    /// A git command that cannot be run.
    pub(crate) fn blob(&self, object: &str) -> Result<Option<Vec<u8>>, WorktreeError> {
        let Some((git, repository)) = self.repository()? else { return Ok(None) };
        let args = ["cat-file", "blob", object];
        let answer = git.output(repository.place(), &args, &[], &Cancellation::default())?;
        let is_it = answer.code == Some(0) && named_as(&answer.out, object.as_bytes());
        Ok(is_it.then_some(answer.out))
    }

    /// The latest commit that the checked out one and another have in common.
    ///
    /// # Errors
    ///
    /// A git command that fails.
    pub fn merge_base_with(&self, other: &str) -> Result<Option<String>, WorktreeError> {
        self.merge_base_of("HEAD", other)
    }

    /// The latest commit that two have in common; none if there is none in this clone.
    ///
    /// # Errors
    ///
    /// A git command that fails.
    pub fn merge_base_of(&self, one: &str, other: &str) -> Result<Option<String>, WorktreeError> {
        let Some((git, repository)) = self.repository()? else { return Ok(None) };
        let args = ["merge-base", "--end-of-options", one, other];
        let answer = git.output(repository.place(), &args, &[], &Cancellation::default())?;
        let commit = String::from_utf8_lossy(answer.out.trim_ascii()).into_owned();
        Ok((answer.code == Some(0) && !commit.is_empty()).then_some(commit))
    }

    /// Looks if the clone lacks commits of its history.
    pub fn is_shallow(&self) -> bool {
        self.git_folder().is_some_and(|folder| folder.join("shallow").is_file())
    }

    /// The commit at which the checked out one left the default branch: that of `origin/HEAD`, else
    /// of a branch that is called main or master. None if there is no such branch, and outside of
    /// git.
    ///
    /// # Errors
    ///
    /// A git command that fails.
    pub fn merge_base(&self) -> Result<Option<MergeBase>, WorktreeError> {
        for branch in OF_ORIGIN.iter().chain(&LOCAL) {
            let Some(tip) = self.commit(branch)? else { continue };
            if let Some(commit) = self.merge_base_with(&tip)? {
                let is_local = LOCAL.contains(branch);
                let name = branch.rsplit('/').next().unwrap_or(branch);
                let branch = if name == "HEAD" { "the default branch" } else { name }.to_owned();
                return Ok(Some(MergeBase { commit, branch, is_local }));
            }
        }
        Ok(None)
    }

    /// The bytes of a file as it stands; of a link, its target. None if the path has no file.
    pub(crate) fn bytes(&self, path: &Path) -> Option<Vec<u8>> {
        let file = self.root().join(path);
        let about = file.symlink_metadata().ok()?;
        if about.is_symlink() {
            let target = std::fs::read_link(file).ok()?;
            return Some(target.as_os_str().as_bytes().to_vec());
        }
        about.is_file().then(|| std::fs::read(file).ok()).flatten()
    }
}
