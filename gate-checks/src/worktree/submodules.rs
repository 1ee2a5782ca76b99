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

    fn submodule(&self, path: &str) -> Result<Option<Repository>, WorktreeError> {
        let is_open = self.root().join(names::path(path.as_bytes())).join(".git").exists();
        is_open.then(|| Repository::find(self.root(), format!("{path}/").into_bytes())).transpose()
    }
}
