//! Errors of baselines.

use std::io;
use std::path::PathBuf;

use crate::worktree::WorktreeError;

/// A baseline that could not be taken or read. Nothing is compared then, and nothing passes as
/// compared.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BaselineError {
    /// The work tree cannot be read.
    #[error(transparent)]
    Tree(#[from] WorktreeError),
    /// The tree is no repository any more.
    #[error("{}: the work tree of the baseline is no git repository any more", root.display())]
    NoRepository {
        /// The tree's root.
        root: PathBuf,
    },
    /// The bytes of a file are gone.
    #[error("{}: its bytes of the baseline cannot be got any more", path.display())]
    Lost {
        /// The file, relative to the root.
        path: PathBuf,
    },
    /// A file of the stored baseline cannot be written or read.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// The stored baseline is damaged, or of a version that this gate does not know.
    #[error("{}: {problem}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The damage.
        problem: String,
    },
}

impl BaselineError {
    /// The baseline was not ready in time.
    pub fn is_late(&self) -> bool {
        matches!(self, Self::Tree(WorktreeError::Cancelled))
    }
}
