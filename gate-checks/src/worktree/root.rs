//! The root of a work tree.
//!
//! gate finds the root without git, whose output the repository's settings could change. A `.git`
//! that is no repository counts for nothing.
//!
//! An agent can make a repository inside of the tree and commit everything in it. So if a
//! repository above tracks files of the one that was found, the work belongs to the outer one. A
//! submodule, a linked work tree and a clone are roots of their own: no repository above tracks
//! their files.

use std::path::{Path, PathBuf};

use super::error::WorktreeError;
use super::git::{self, Git};
use super::repository::Repository;
use crate::cancellation::Cancellation;

/// The topmost folder of a work tree.
pub(super) struct Root {
    pub(super) folder: PathBuf,
    pub(super) is_repository: bool,
    /// `None` if there is no program outside of the tree.
    pub(super) git: Option<Git>,
}

impl Root {
    /// The root of the tree that a project stands in.
    pub(super) fn find(
        project: &Path,
        environment: &[(String, String)],
    ) -> Result<Self, WorktreeError> {
        let mut repositories = project.ancestors().filter(|folder| is_repository(folder));
        let Some(nearest) = repositories.next().or_else(|| broken_repository(project)) else {
            let git = Git::find(environment, project);
            return Ok(Self { folder: project.into(), is_repository: false, git });
        };
        let mut root = nearest;
        let mut git = Git::find(environment, nearest);
        for outer in repositories {
            // A git program that lies in the outer tree is not run on it.
            let Some(outer_git) = Git::find(environment, outer) else {
                git = None;
                break;
            };
            if tracks_files_of(&outer_git, outer, root)? {
                (root, git) = (outer, Some(outer_git));
            }
        }
        Ok(Self { folder: root.into(), is_repository: true, git })
    }
}

/// The folder's `.git` leads to a repository, which has a head and objects.
pub(super) fn is_repository(folder: &Path) -> bool {
    let dot_git = folder.join(".git");
    if dot_git.symlink_metadata().is_err() {
        return false;
    }
    git::git_dir(&dot_git).is_ok_and(|git_dir| {
        let has_head = git_dir.join("HEAD").symlink_metadata().is_ok();
        has_head && super::repository::objects_folder(&git_dir).is_dir()
    })
}

/// The nearest folder whose `.git` is a file that names no repository: that
/// is one that broke, and an error once it is looked at.
fn broken_repository(project: &Path) -> Option<&Path> {
    project.ancestors().find(|folder| {
        folder.join(".git").symlink_metadata().is_ok_and(|dot_git| !dot_git.is_dir())
    })
}

/// The outer repository's index or commit has files below the inner folder.
fn tracks_files_of(git: &Git, outer: &Path, inner: &Path) -> Result<bool, WorktreeError> {
    let Ok(name) = inner.strip_prefix(outer) else { return Ok(false) };
    let repository = Repository::find(outer, Vec::new())?;
    Ok(repository.has_indexed_files(git, name, &Cancellation::default())?
        || repository.has_committed_files(git, name, &Cancellation::default())?)
}
