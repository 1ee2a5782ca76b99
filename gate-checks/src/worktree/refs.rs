//! The branches, work trees and stash of a repository, read without git.
//!
//! A commit is progress wherever it is made: on another branch, or in another work tree of the
//! same repository. So the branches belong to a state of the work, beside the commit that is
//! checked out. References in git's `reftable` format are not read.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use gate_platform::RealPath;
use serde::{Deserialize, Serialize};

use super::{git, names, repository};

/// The deepest folder of branch names that is read.
const MAX_FOLDER_DEPTH: usize = 16;

const BRANCH_PREFIX: &str = "refs/heads/";

/// The branches, work trees and stash of a repository at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Refs {
    /// Local branches, each with its commit.
    pub branches: BTreeMap<String, String>,
    /// Work trees by their folders.
    pub trees: BTreeMap<PathBuf, TreeHead>,
    /// The commits of the stash, the oldest first, each with what git notes about it.
    pub stash: BTreeMap<String, String>,
}

/// The branch and the commit that a work tree has checked out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TreeHead {
    /// The branch; `None` if HEAD is detached.
    pub branch: Option<String>,
    /// The commit; `None` before the first one.
    pub commit: Option<String>,
}

impl Refs {
    /// Reads the refs of the repository that a work tree belongs to. `None` outside of git.
    pub(super) fn read(root: &Path) -> Option<Self> {
        let common = repository::common_folder(&git::git_dir(&root.join(".git")).ok()?);
        let branches = read_branches(&common);
        let mut trees = BTreeMap::new();
        // A bare repository has no work tree of its own.
        if common.ends_with(".git")
            && let Some(main) = common.parent().and_then(|main| main.real_path().ok())
        {
            trees.insert(main, TreeHead::read(&common, &branches));
        }
        for entry in fs::read_dir(common.join("worktrees")).into_iter().flatten().flatten() {
            let link = fs::read(entry.path().join("gitdir")).unwrap_or_default();
            let dot_git = entry.path().join(names::path(link.trim_ascii()));
            let tree = dot_git.parent().and_then(|tree| tree.real_path().ok());
            if let Some(tree) = tree.filter(|tree| tree.join(".git").is_file()) {
                trees.insert(tree, TreeHead::read(&entry.path(), &branches));
            }
        }
        Some(Self { branches, trees, stash: read_stash(&common) })
    }
}

impl TreeHead {
    fn read(git_dir: &Path, branches: &BTreeMap<String, String>) -> Self {
        let head = fs::read_to_string(git_dir.join("HEAD")).unwrap_or_default();
        match head.trim().strip_prefix("ref: ") {
            Some(name) => {
                let branch = name.strip_prefix(BRANCH_PREFIX).unwrap_or(name).to_owned();
                Self { commit: branches.get(&branch).cloned(), branch: Some(branch) }
            }
            None => Self { branch: None, commit: Some(head.trim().to_owned()) },
        }
    }
}

/// The folders of all work trees of the repository that a folder belongs to, that of the folder
/// itself too. Empty outside of git.
pub fn work_trees(root: &Path) -> Vec<PathBuf> {
    Refs::read(root).unwrap_or_default().trees.into_keys().collect()
}

/// A digest of all branches and their commits, in loose files or packed; `None` without any branch.
pub(super) fn digest(root: &Path) -> Option<String> {
    let common = repository::common_folder(&git::git_dir(&root.join(".git")).ok()?);
    let branches = read_branches(&common);
    let lines = branches.iter().map(|(name, commit)| format!("{commit} {BRANCH_PREFIX}{name}\n"));
    let text: String = lines.collect();
    (!text.is_empty()).then(|| gate_core::digest(text.as_bytes()))
}

fn read_branches(common: &Path) -> BTreeMap<String, String> {
    let packed = fs::read_to_string(common.join("packed-refs")).unwrap_or_default();
    let mut branches: BTreeMap<String, String> = packed.lines().filter_map(packed_branch).collect();
    // A loose file is newer than the packed line of the same branch.
    add_loose_branches(&common.join(BRANCH_PREFIX), "", MAX_FOLDER_DEPTH, &mut branches);
    branches
}

fn read_stash(common: &Path) -> BTreeMap<String, String> {
    let log = fs::read_to_string(common.join("logs/refs/stash")).unwrap_or_default();
    let entries = log.lines().filter_map(|line| {
        let (commits, note) = line.split_once('\t')?;
        Some((commits.split(' ').nth(1)?.to_owned(), note.to_owned()))
    });
    entries.collect()
}

/// A branch in a line of packed references.
fn packed_branch(line: &str) -> Option<(String, String)> {
    let (commit, name) = line.split_once(' ')?;
    Some((name.strip_prefix(BRANCH_PREFIX)?.to_owned(), commit.to_owned()))
}

fn add_loose_branches(
    folder: &Path,
    prefix: &str,
    depth: usize,
    branches: &mut BTreeMap<String, String>,
) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        let Ok(kind) = entry.file_type() else { continue };
        if kind.is_dir() && depth > 0 {
            add_loose_branches(&entry.path(), &format!("{name}/"), depth - 1, branches);
        } else if kind.is_file()
            && let Ok(commit) = fs::read_to_string(entry.path())
        {
            branches.insert(name, commit.trim().to_owned());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packing_changes_nothing_and_a_commit_does() {
        let folder = tempfile::tempdir().unwrap();
        let git = folder.path().join(".git");
        fs::create_dir_all(git.join("refs/heads/feature")).unwrap();
        assert_eq!(digest(folder.path()), None);
        fs::write(git.join("refs/heads/main"), "aaa\n").unwrap();
        fs::write(git.join("refs/heads/feature/one"), "bbb\n").unwrap();
        let two = digest(folder.path());
        let packed = "# pack-refs with: peeled\nbbb refs/heads/feature/one\nccc refs/tags/v1\n";
        fs::write(git.join("packed-refs"), packed).unwrap();
        fs::remove_file(git.join("refs/heads/feature/one")).unwrap();
        assert_eq!(digest(folder.path()), two);
        fs::write(git.join("refs/heads/feature/one"), "ddd\n").unwrap();
        assert_ne!(digest(folder.path()), two);
    }
}
