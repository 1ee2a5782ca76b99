//! The files of a commit, their bytes, and the commit at which history parted.

use std::collections::BTreeMap;
use std::path::Path;

use gate_platform::OsStrExt;

use super::WorkTree;
use super::error::WorktreeError;
use super::file::Kind;
use super::names;
use super::repository::Repository;
use super::status::has_name;
use crate::cancellation::Cancellation;

/// A file of a commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Blob {
    pub(crate) kind: Kind,
    /// The object's name, in hex digits.
    pub(crate) object: String,
}

/// Branches that are the default one, as the origin was last seen.
const ORIGIN_BRANCHES: [&str; 3] =
    ["refs/remotes/origin/HEAD", "refs/remotes/origin/main", "refs/remotes/origin/master"];

/// Local branches that are the default one where there is no origin.
const LOCAL_BRANCHES: [&str; 2] = ["refs/heads/main", "refs/heads/master"];

/// The commit at which the checked out one left the default branch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MergeBase {
    /// The commit's full name.
    pub commit: String,
    /// The short name of the default branch.
    pub branch: String,
    /// The default branch is a local one.
    pub is_local: bool,
}

/// The latest commit of a branch.
struct Tip {
    commit: String,
    is_checked_out: bool,
}

impl WorkTree {
    /// The files of a commit, by their names relative to the root, without
    /// submodules. `None` outside of git.
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
        let submodules = entries.iter().filter(super::index::GitEntry::is_submodule).map(|entry| {
            let [path, commit] = [entry.path, entry.object].map(String::from_utf8_lossy);
            (path.into_owned(), commit.into_owned())
        });
        Ok(submodules.collect())
    }

    /// The commit that is checked out in a submodule; `None` if it is not checked out.
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

    /// The bytes of an object of the repository; `None` if it is gone, or holds other bytes than its
    /// name says.
    ///
    /// # Errors
    ///
    /// A git command that cannot be run.
    pub(crate) fn blob(&self, object: &str) -> Result<Option<Vec<u8>>, WorktreeError> {
        let Some((git, repository)) = self.repository()? else { return Ok(None) };
        let args = ["cat-file", "blob", object];
        let output = git.output(repository.place(), &args, &[], &Cancellation::default())?;
        let is_intact = output.code == Some(0) && has_name(&output.stdout, object.as_bytes());
        Ok(is_intact.then_some(output.stdout))
    }

    /// The latest commit that the checked out one and another have in common; `None` if this clone has
    /// no such commit.
    ///
    /// # Errors
    ///
    /// A git command that fails.
    pub fn merge_base_with(&self, commit: &str) -> Result<Option<String>, WorktreeError> {
        self.merge_base_of("HEAD", commit)
    }

    /// The latest commit that two commits have in common; `None` if this clone has no such commit.
    ///
    /// # Errors
    ///
    /// A git command that fails.
    pub fn merge_base_of(&self, left: &str, right: &str) -> Result<Option<String>, WorktreeError> {
        let Some((git, repository)) = self.repository()? else { return Ok(None) };
        let args = ["merge-base", "--end-of-options", left, right];
        let output = git.output(repository.place(), &args, &[], &Cancellation::default())?;
        let commit = String::from_utf8_lossy(output.stdout.trim_ascii()).into_owned();
        Ok((output.code == Some(0) && !commit.is_empty()).then_some(commit))
    }

    /// The clone lacks commits of its history.
    pub fn is_shallow(&self) -> bool {
        self.git_folder().is_some_and(|folder| folder.join("shallow").is_file())
    }

    /// The commit at which the checked out one left the default branch: that of `origin/HEAD`, else
    /// of a branch that is called main or master. `None` if there is no such branch, and outside of
    /// git.
    ///
    /// # Errors
    ///
    /// A git command that fails.
    pub fn merge_base(&self) -> Result<Option<MergeBase>, WorktreeError> {
        let tips = self.tips_of_default_branches()?;
        for branch in ORIGIN_BRANCHES.into_iter().chain(LOCAL_BRANCHES) {
            let Some(tip) = tips.get(branch) else { continue };
            let merge_base = match tip.is_checked_out {
                true => Some(tip.commit.clone()),
                false => self.merge_base_with(&tip.commit)?,
            };
            if let Some(commit) = merge_base {
                let is_local = LOCAL_BRANCHES.contains(&branch);
                let name = branch.rsplit('/').next().unwrap_or(branch);
                let branch = if name == "HEAD" { "the default branch" } else { name }.to_owned();
                return Ok(Some(MergeBase { commit, branch, is_local }));
            }
        }
        Ok(None)
    }

    /// The tips of the branches that may be the default one, by their whole names.
    fn tips_of_default_branches(&self) -> Result<BTreeMap<String, Tip>, WorktreeError> {
        let Some((git, repository)) = self.repository()? else { return Ok(BTreeMap::new()) };
        let mut args = vec!["for-each-ref", "--format=%(refname) %(objectname)%(HEAD)"];
        args.extend(ORIGIN_BRANCHES.iter().chain(&LOCAL_BRANCHES));
        let text = git.read(repository.place(), &args, &Cancellation::default())?;
        let text = String::from_utf8_lossy(&text);
        let tips = text.lines().filter_map(|line| {
            let (name, commit) = line.split_once(' ')?;
            let is_checked_out = commit.ends_with('*');
            let commit = commit.trim_end_matches(['*', ' ']).to_owned();
            Some((name.to_owned(), Tip { commit, is_checked_out }))
        });
        Ok(tips.collect())
    }

    /// The bytes of a file as it is now; of a link, its target. `None` if there is no file.
    pub(crate) fn bytes(&self, path: &Path) -> Option<Vec<u8>> {
        let file = self.root().join(path);
        let metadata = file.symlink_metadata().ok()?;
        if metadata.is_symlink() {
            let target = std::fs::read_link(file).ok()?;
            return Some(target.as_os_str().as_bytes().to_vec());
        }
        metadata.is_file().then(|| std::fs::read(file).ok()).flatten()
    }
}
