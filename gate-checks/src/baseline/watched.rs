//! Files that are no part of the tree and decide all the same: settings of agents
//! that git ignores, hooks of git, the repository's own settings.
//!
//! Of each file, a hash is kept of the settings that can get around the checks, and nothing of its
//! text: settings may hold credentials.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use gate_core::integrity::{AGENT_SETTINGS, Finding, GIT, HOOK, SUBMODULE, decisive_part};
use gate_platform::is_executable;

use super::Baseline;
use crate::worktree::{Snapshot, WorkTree, WorktreeError};

/// The largest watched file that is read, in bytes.
const MAX_FILE_BYTES: u64 = 1 << 20;

/// The watched files that are there, each with the hash of its decisive settings.
pub(super) fn watched_files(tree: &WorkTree) -> BTreeMap<String, String> {
    let mut hashes = BTreeMap::new();
    for name in AGENT_SETTINGS {
        insert_hash(&mut hashes, name.to_owned(), &tree.root().join(name));
    }
    let Some(git_folder) = tree.git_folder() else { return hashes };
    for name in ["config", "info/attributes"] {
        insert_hash(&mut hashes, format!(".git/{name}"), &git_folder.join(name));
    }
    for hook in fs::read_dir(git_folder.join("hooks")).into_iter().flatten().flatten() {
        let name = hook.file_name().to_string_lossy().into_owned();
        // git runs no sample.
        if !name.ends_with(".sample") {
            insert_hash(&mut hashes, format!(".git/hooks/{name}"), &hook.path());
        }
    }
    hashes
}

fn insert_hash(hashes: &mut BTreeMap<String, String>, name: String, path: &Path) {
    if let Some(hash) = hash(&name, path) {
        hashes.insert(name, hash);
    }
}

fn hash(name: &str, path: &Path) -> Option<String> {
    let metadata = fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
    if metadata.len() > MAX_FILE_BYTES {
        return Some(format!("{} bytes", metadata.len()));
    }
    let bytes = decisive_part(name, &fs::read(path).ok()?);
    let hash = blake3::hash(&bytes).to_hex();
    // git runs a hook only if its file is executable.
    let is_active_hook = name.starts_with(".git/hooks/") && is_executable(&metadata);
    Some(if is_active_hook { format!("{hash} runs") } else { hash.to_string() })
}

impl Baseline {
    /// The files beside the tree that changed. A file of the tree is reported as a change of the
    /// tree. A baseline from history knows none.
    pub(crate) fn changed_watched_files(
        &self,
        tree: &WorkTree,
        snapshot: &Snapshot,
    ) -> Vec<Finding> {
        if self.is_from_history() {
            return Vec::new();
        }
        let (old_hashes, new_hashes) = (&self.body.watched, watched_files(tree));
        let names: BTreeSet<_> = old_hashes.keys().chain(new_hashes.keys()).collect();
        names
            .into_iter()
            .filter(|name| snapshot.file(Path::new(name.as_str())).is_none())
            .filter_map(|name| difference(name, old_hashes.get(name), new_hashes.get(name)))
            .collect()
    }
}

fn difference(name: &str, old_hash: Option<&String>, new_hash: Option<&String>) -> Option<Finding> {
    let change = match (old_hash, new_hash) {
        (old_hash, new_hash) if old_hash == new_hash => return None,
        (None, _) => "is new",
        (_, None) => "is gone",
        _ => "was changed",
    };
    // Settings in which nothing decides are as good as no file.
    let empty_hashes = ["", "{}"]
        .map(|text| blake3::hash(&decisive_part(name, text.as_bytes())).to_hex().to_string());
    if old_hash.into_iter().chain(new_hash).all(|hash| empty_hashes.contains(hash)) {
        return None;
    }
    let is_git = matches!(name, ".git/config" | ".git/info/attributes");
    let finding = if is_git { GIT.finding(name) } else { HOOK.finding(name) };
    let message = format!("{}: it {change}", finding.message);
    Some(Finding { message, ..finding })
}

/// The submodules that stand at another commit than the tree's commit says.
pub(super) fn moved_submodules(
    tree: &WorkTree,
    commit: &str,
) -> Result<BTreeMap<String, String>, WorktreeError> {
    let mut moved = BTreeMap::new();
    for (path, recorded_commit) in tree.submodules_of(commit)? {
        if let Some(head) = tree.head_of_submodule(&path)?.filter(|head| *head != recorded_commit) {
            moved.insert(path, head);
        }
    }
    Ok(moved)
}

impl Baseline {
    /// The submodules that stand at another commit now.
    ///
    /// # Errors
    ///
    /// A git command that fails.
    pub(crate) fn moved_submodules(&self, tree: &WorkTree) -> Result<Vec<Finding>, WorktreeError> {
        let mut findings = Vec::new();
        for (path, recorded_commit) in tree.submodules_of(self.commit())? {
            let old_head = self.body.submodules.get(&path).unwrap_or(&recorded_commit);
            if tree.head_of_submodule(&path)?.is_some_and(|head| head != *old_head) {
                findings.push(SUBMODULE.finding(&path));
            }
        }
        Ok(findings)
    }
}
