//! The files of the repository.

use std::fs;
use std::path::{Path, PathBuf};

/// Folders that builds, git and fuzzing fill.
const FILLED: [&str; 6] = [".git", "artifacts", "corpus", "coverage", "dictionaries", "target"];

/// All files below a folder, without what builds, git and fuzzing put there.
pub(crate) fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let (path, name) = (entry.path(), entry.file_name());
        let kind = entry.file_type().unwrap();
        if kind.is_dir() && !FILLED.iter().any(|filled| name == *filled) {
            found.extend(files(&path));
        } else if kind.is_file() {
            found.push(path);
        }
    }
    found.sort();
    found
}
