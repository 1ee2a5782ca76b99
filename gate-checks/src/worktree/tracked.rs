//! The names of all files that git tracks, in the tree and its submodules.

use std::borrow::Cow;

use super::repository::Repository;

/// The tracked files' names relative to the root, sorted. Submodules are no files.
#[derive(Debug, Default)]
pub(super) struct TrackedFiles<'r>(Vec<Cow<'r, [u8]>>);

/// The tracked files of one folder, among which a name is found sooner.
#[derive(Clone, Copy, Debug)]
pub(super) struct FolderFiles<'t>(&'t [Cow<'t, [u8]>]);

impl FolderFiles<'_> {
    pub(super) fn contains(&self, path: &[u8]) -> bool {
        self.0.binary_search_by(|name| name.as_ref().cmp(path)).is_ok()
    }
}

impl<'r> TrackedFiles<'r> {
    pub(super) fn new(repositories: &'r [Repository]) -> Self {
        let mut names: Vec<Cow<'r, [u8]>> = Vec::new();
        for repository in repositories {
            let files = repository.index.iter().filter(|entry| !entry.is_submodule());
            names.extend(files.map(|entry| prefixed(&repository.prefix, entry.path)));
        }
        // Git's own order is this one; only submodules have to be merged in.
        names.sort();
        names.dedup();
        Self(names)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &[u8]> {
        self.0.iter().map(Cow::as_ref)
    }

    pub(super) fn contains(&self, path: &[u8]) -> bool {
        FolderFiles(&self.0).contains(path)
    }

    /// The names that are not tracked, of names that come in order.
    pub(super) fn untracked<'n>(&self, names: impl Iterator<Item = &'n [u8]>) -> Vec<&'n [u8]> {
        let mut tracked = self.0.iter().peekable();
        let untracked = names.filter(|name| {
            while tracked.next_if(|next| next.as_ref() < *name).is_some() {}
            tracked.peek().is_none_or(|next| next.as_ref() != *name)
        });
        untracked.collect()
    }

    pub(super) fn has_files_in(&self, folder: &[u8]) -> bool {
        !self.below(&[folder, b"/"].concat()).0.is_empty()
    }

    /// The files whose names begin with a prefix.
    pub(super) fn below(&self, prefix: &[u8]) -> FolderFiles<'_> {
        let start = self.0.partition_point(|name| name.as_ref() < prefix);
        let length = self.0[start..].partition_point(|name| name.starts_with(prefix));
        FolderFiles(&self.0[start..start + length])
    }
}

fn prefixed<'r>(prefix: &[u8], path: &'r [u8]) -> Cow<'r, [u8]> {
    if prefix.is_empty() { Cow::Borrowed(path) } else { Cow::Owned([prefix, path].concat()) }
}

#[cfg(test)]
mod tests;
