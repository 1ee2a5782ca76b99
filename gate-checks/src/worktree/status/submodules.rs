//! Submodules that no clone can get.

use std::collections::BTreeSet;
use std::fs;

use crate::cancellation::Cancellation;
use crate::worktree::error::WorktreeError;
use crate::worktree::git::Git;
use crate::worktree::index::{GitEntries, GitEntry};
use crate::worktree::names::path;
use crate::worktree::repository::Repository;

/// The submodules with something in their folder that the commit's
/// `.gitmodules` does not name: the commit has their place, and nobody who
/// clones it gets what is in them.
pub(super) fn unobtainable(
    git: &Git,
    repository: &Repository,
    commit: &GitEntries,
    cancel: &Cancellation,
) -> Result<Vec<Vec<u8>>, WorktreeError> {
    let modules = repository.index.iter().filter(GitEntry::is_submodule);
    let filled: Vec<_> = modules.filter(|module| is_filled(repository, module)).collect();
    if filled.is_empty() {
        return Ok(Vec::new());
    }
    let named = named_in_commit(git, repository, commit, cancel)?;
    let unobtainable = filled.into_iter().filter(|module| !named.contains(module.path));
    Ok(unobtainable.map(|module| module.path.to_vec()).collect())
}

/// A submodule's folder holds anything. A folder that cannot be listed may.
fn is_filled(repository: &Repository, module: &GitEntry<'_>) -> bool {
    let folder = repository.folder.join(path(module.path));
    folder.is_dir() && fs::read_dir(folder).map_or(true, |mut entries| entries.next().is_some())
}

/// The submodules that the commit's `.gitmodules` names.
fn named_in_commit(
    git: &Git,
    repository: &Repository,
    commit: &GitEntries,
    cancel: &Cancellation,
) -> Result<BTreeSet<Vec<u8>>, WorktreeError> {
    let Some(file) = commit.iter().find(|entry| entry.path == b".gitmodules") else {
        return Ok(BTreeSet::new());
    };
    let blob = format!("--blob={}", String::from_utf8_lossy(file.object));
    let args = ["config", &blob, "-z", "--get-regexp", "^submodule\\..*\\.path$"];
    let output = git.output(repository.place(), &args, &[], cancel)?;
    match output.code {
        Some(0) => Ok(output.stdout.split(|byte| *byte == 0).filter_map(value_in_record).collect()),
        Some(1) => Ok(BTreeSet::new()),
        _ => Err(output.to_error(repository.place(), &args)),
    }
}

/// The value of `name\nvalue`.
fn value_in_record(record: &[u8]) -> Option<Vec<u8>> {
    let end = record.iter().position(|byte| *byte == b'\n')?;
    let value = &record[end + 1..];
    Some(value.strip_suffix(b"/").unwrap_or(value).to_vec())
}
