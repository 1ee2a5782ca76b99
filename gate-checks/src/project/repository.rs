//! Whether a project stands in a git repository.

use std::path::Path;

/// Whether the folder, or one above it, has a `.git`: a folder, or the file
/// that a worktree or a submodule has in its place.
pub(super) fn holds(project: &Path) -> bool {
    let project = project.canonicalize().unwrap_or_else(|_| project.to_owned());
    project.ancestors().any(|folder| folder.join(".git").exists())
}
