//! The files that the settings of a check name, in a copy of the work tree.

use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use super::bench::Bench;
use crate::copy::Copy;
use crate::worktree::Globs;

/// Files that git ignores are no part of the tree, but are read all the
/// same.
pub(super) fn fetch(bench: &Bench<'_>) -> io::Result<()> {
    let (copy, project) = (bench.copy, bench.site.project.canonicalize()?);
    for name in &bench.settings().files {
        let to = copy.project.join(name);
        let inside = to.strip_prefix(&copy.project).unwrap_or(Path::new(name)).to_owned();
        let from = project.join(inside);
        let climbs = Path::new(name).components().any(|part| part == Component::ParentDir);
        if !climbs && to.starts_with(&copy.root) && from.is_file() && to.symlink_metadata().is_err()
        {
            fs::create_dir_all(to.parent().unwrap_or(&copy.project))?;
            fs::copy(from, to)?;
        }
    }
    Ok(())
}

/// The first file that the settings name, which lies in the copy.
pub(super) fn file(bench: &Bench<'_>) -> Option<PathBuf> {
    let copy = bench.copy;
    let mut entries = bench.settings().files.iter();
    let file = entries.find_map(|entry| file_of_entry(copy, entry))?.canonicalize().ok()?;
    file.starts_with(&copy.root).then_some(file)
}

/// The file of a path, or the first one that a glob matches.
fn file_of_entry(copy: &Copy, entry: &String) -> Option<PathBuf> {
    let path = copy.project.join(entry);
    if path.is_file() {
        return Some(path);
    }
    let globs = Globs::new(std::slice::from_ref(entry)).ok()?;
    let mut files = copy.files.iter().map(|file| copy.root.join(file));
    files.find(|file| {
        let inside = file.strip_prefix(&copy.project);
        inside.is_ok_and(|inside| globs.matches(inside.as_os_str().as_encoded_bytes()))
            && file.is_file()
    })
}
