//! The files of the repository.

use std::fs;
use std::path::{Path, PathBuf};

/// Names that builds, git and fuzzing fill. In a linked worktree `.git` is a file.
const FILLED: [&str; 6] = [".git", "artifacts", "corpus", "coverage", "dictionaries", "target"];

/// All files below a folder, without what builds, git and fuzzing put there.
pub(crate) fn files(folder: &Path) -> Vec<PathBuf> {
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        if FILLED.iter().any(|name| entry.file_name() == *name) {
            continue;
        }
        let (path, kind) = (entry.path(), entry.file_type().unwrap());
        if kind.is_dir() {
            paths.extend(files(&path));
        } else if kind.is_file() {
            paths.push(path);
        }
    }
    paths.sort();
    paths
}
