//! The work tree: which files belong to it, and what they hold.
//!
//! The tree is what git tracks and what it does not, in raw bytes, without
//! what is ignored. Only `.gitignore` files that git tracks and the user's own
//! excludes make a file ignored; `.git/info/exclude`, excludes that the
//! repository's settings name, and `.gitignore` files that nobody added do
//! not. A tracked file is never ignored. Links are not followed. Submodules
//! are walked as part of the tree, by their own rules; the files of any other
//! repository inside are untracked files. A `.git` that is no repository's is
//! a file or folder as any other. Folders that tools fill are left out where git
//! tracks nothing in them.
//!
//! Outside of git, and where no git program is found, nothing is tracked:
//! every `.gitignore` then counts as a setting of the user's.
//!
//! A limit: what looks unchanged to the file system is not read again. A
//! program that has a file mapped into its memory can write to it later
//! without its times being set each time; neither gate nor git sees that until
//! something else touches the file.

mod caches;
mod committed;
mod content;
mod error;
mod excludes;
mod file;
mod file_list;
mod git;
mod globs;
mod identity;
mod ignored;
mod index;
mod names;
mod other_work;
mod parallel;
mod refs;
mod repository;
mod root;
mod since;
mod snapshot;
mod stat_cache;
mod state_dir;
mod status;
mod tools;
mod tracked;
mod tree_scan;
mod walk;

#[cfg(test)]
pub(crate) mod tests;

use std::path::{Path, PathBuf};
use std::sync::Arc;

pub(crate) use committed::Blob;
pub use committed::MergeBase;
pub use error::WorktreeError;
pub(crate) use error::stop_if_cancelled;
pub use file::{File, Kind};
pub use file_list::FileList;
pub use git::hardened_git;
pub use globs::Globs;
pub use identity::identity;
pub(crate) use names::shown;
pub use other_work::{OtherWork, Search, WorkPlace};
pub use refs::{Refs, TreeHead, work_trees};
pub(crate) use since::Uncommitted;
pub use snapshot::{Changes, Snapshot};
pub(crate) use stat_cache::WrittenFiles;
pub(crate) use status::Status;
pub(crate) use tools::{ENVIRONMENT_MARKER, ENVIRONMENT_NAMES, environment_home};

use gate_platform::RealPath;
use git::Git;
use ignored::IgnoreRules;
use root::Root;
use state_dir::StateDir;

use crate::cancellation::Cancellation;
use crate::site::CheckSite;

/// A work tree, opened once for all that is looked at.
#[derive(Clone, Debug)]
pub struct WorkTree {
    root: Arc<Path>,
    is_repository: bool,
    git: Option<Git>,
    ignore_rules: IgnoreRules,
    state_dir: Option<StateDir>,
    environment: Vec<(String, String)>,
}

impl WorkTree {
    /// The work tree that the site's project stands in: the nearest repository
    /// from the project upwards, or one above that tracks the same files; else
    /// the project.
    ///
    /// # Errors
    ///
    /// A project that cannot be opened, a glob that cannot be read, a repository above that git
    /// cannot read.
    pub fn open(site: &CheckSite) -> Result<Self, WorktreeError> {
        let project = site
            .project
            .real_path()
            .map_err(|source| WorktreeError::Project { path: site.project.clone(), source })?;
        let Root { folder, is_repository, git } = Root::find(&project, &site.environment)?;
        let root: Arc<Path> = folder.into();
        Ok(Self {
            is_repository,
            git,
            ignore_rules: IgnoreRules::new(site, &root)?,
            state_dir: site.state.as_deref().map(|state| StateDir::new(state, &root)),
            environment: site.environment.clone(),
            root,
        })
    }

    /// The topmost folder of the tree.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The folder that git keeps for all work trees of the repository: settings,
    /// hooks. `None` outside of git.
    pub fn git_folder(&self) -> Option<PathBuf> {
        let dot_git = self.is_repository.then(|| self.root.join(".git"))?;
        Some(repository::common_folder(&git::git_dir(&dot_git).ok()?))
    }

    /// A file's name relative to the project; `None` if it stands outside.
    pub(crate) fn path_in_project<'p>(&self, path: &'p [u8]) -> Option<&'p [u8]> {
        self.ignore_rules.path_in_project(path)
    }

    /// Looks at every file. What was read before and looks unchanged is not
    /// read again, where the site has a state folder.
    ///
    /// # Errors
    ///
    /// A git command that fails.
    pub fn snapshot(&self) -> Result<Snapshot, WorktreeError> {
        Ok(self.scan(&Cancellation::default())?.snapshot)
    }
}

/// The cause if there is no commit to compare with, and in brackets a person's next step.
pub fn no_commit_cause(site: &CheckSite) -> &'static str {
    match WorkTree::open(site) {
        Ok(tree) if tree.is_repository && tree.git.is_none() => "git is not in PATH (install it)",
        Ok(tree) if tree.is_repository => "nothing is committed (`git commit`)",
        _ => "not in a git repository (`git init`)",
    }
}

/// The folder with the index and the reflog of the work tree that begins at this folder:
/// its own, also in a linked worktree or a submodule. `None` if no work tree begins there.
pub fn own_git_folder(root: &Path) -> Option<PathBuf> {
    git::git_dir(&root.join(".git")).ok()
}

/// The root of the repository that a folder's files belong to: the nearest, or
/// one above that tracks them. `None` outside of any.
///
/// # Errors
///
/// [`WorktreeError`]: git cannot read a repository above.
pub fn root_of(
    folder: &Path,
    environment: &[(String, String)],
) -> Result<Option<PathBuf>, WorktreeError> {
    let root = Root::find(folder, environment)?;
    Ok(root.is_repository.then_some(root.folder))
}
