//! The commits that submodules stand at.

use std::collections::BTreeMap;

use super::WorkTree;
use super::error::WorktreeError;
use super::names;
use super::repository::Repository;
use crate::cancellation::Cancellation;

impl WorkTree {
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

    /// The files of a submodule that one commit has and another one does not, or has otherwise;
    /// none if that is not known, as for a commit that is gone.
    ///
    /// # Errors
    ///
    /// A git command that cannot be run.
    pub(crate) fn changed_in_submodule(
        &self,
        path: &str,
        (old, new): (&str, &str),
    ) -> Result<Option<Vec<String>>, WorktreeError> {
        let Some((git, _)) = self.repository()? else { return Ok(None) };
        let Some(submodule) = self.submodule(path)? else { return Ok(None) };
        // Unlike `git diff`, this command does not take its order or its filters from settings of
        // the repository: one that names a file that is missing would make it fail.
        let args = [
            "diff-tree",
            "-r",
            "-z",
            "--name-only",
            "--no-renames",
            "--ignore-submodules=none",
            "--diff-filter=DMT",
            old,
            new,
        ];
        let answer = git.output(submodule.place(), &args, &[], &Cancellation::default())?;
        let names = answer.out.split(|byte| *byte == 0).filter(|name| !name.is_empty());
        let names = names.map(|name| String::from_utf8_lossy(name).into_owned());
        Ok((answer.code == Some(0)).then(|| names.collect()))
    }

    fn submodule(&self, path: &str) -> Result<Option<Repository>, WorktreeError> {
        let is_open = self.root().join(names::path(path.as_bytes())).join(".git").exists();
        is_open.then(|| Repository::find(self.root(), format!("{path}/").into_bytes())).transpose()
    }
}
