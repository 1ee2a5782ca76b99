//! Why a work tree could not be read.

use std::io;
use std::path::PathBuf;

use crate::cancellation::Cancellation;

/// Why a work tree could not be read.
///
/// A single file that cannot be read is no error: it has a kind of its own in the snapshot.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WorktreeError {
    /// The project's folder cannot be opened.
    #[error("{}: the project's folder cannot be opened: {source}", path.display())]
    Project {
        /// The folder.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// The project does not lie in the tree.
    #[error("{}: the project lies outside of the work tree {}", project.display(), root.display())]
    Outside {
        /// The project's folder.
        project: PathBuf,
        /// The tree's root.
        root: PathBuf,
    },
    /// A `.git` file that names no git folder.
    #[error("{}: expected a git folder, or a file `gitdir: …` that names one", path.display())]
    DotGit {
        /// The file.
        path: PathBuf,
    },
    /// A glob that cannot be used.
    #[error("glob `{glob}`: {problem}")]
    Glob {
        /// The glob as it was written.
        glob: String,
        /// The error, as git or the glob's parser words it.
        problem: String,
    },
    /// There is no git program.
    #[error("{}: no git program on PATH outside of the work tree", root.display())]
    NoGit {
        /// The tree's root.
        root: PathBuf,
    },
    /// A git command failed, or could not be run.
    #[error("git {command} in {}: {problem}", folder.display())]
    Git {
        /// The command of git.
        command: String,
        /// The folder that git ran in.
        folder: PathBuf,
        /// The error, as git words it.
        problem: String,
    },
    /// Nobody waits for the output any more.
    #[error("reading the work tree was cancelled")]
    Cancelled,
}

/// # Errors
///
/// [`WorktreeError::Cancelled`] if the work should end.
pub(crate) fn stop_if_cancelled(cancel: &Cancellation) -> Result<(), WorktreeError> {
    if cancel.is_cancelled() { Err(WorktreeError::Cancelled) } else { Ok(()) }
}
