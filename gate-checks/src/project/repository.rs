//! Detects git repositories.

use std::path::Path;

/// True if the folder, or one above it, has a `.git`: a folder, or the file of a worktree
/// or submodule.
pub(super) fn holds(project: &Path) -> bool {
    let project = project.canonicalize().unwrap_or_else(|_| project.to_owned());
    project.ancestors().any(|folder| folder.join(".git").exists())
}
