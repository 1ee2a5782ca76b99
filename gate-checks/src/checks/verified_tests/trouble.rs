//! The reasons that tests could not be verified.

use std::io;

use crate::baseline::BaselineError;
use crate::worktree::WorktreeError;

/// Why nothing could be tried.
#[derive(Debug, thiserror::Error)]
pub(super) enum Trouble {
    #[error("the copy that the tests run in cannot be made: {0}")]
    Workspace(#[from] io::Error),
    #[error("the baseline cannot be compared: {0}")]
    Baseline(#[from] BaselineError),
    #[error("the work tree cannot be read: {0}")]
    Tree(#[from] WorktreeError),
    #[error("gate was interrupted")]
    Ended,
}
