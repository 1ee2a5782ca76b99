//! Files that are no part of the tree and decide all the same: settings of agents
//! that git ignores, hooks of git, the repository's own settings.
//!
//! Of each a hash is kept of what can get around the checks, and nothing of it
//! itself: settings may hold credentials.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use gate_core::integrity::{AGENT_SETTINGS, Finding, GIT, HOOK, SUBMODULE, decisive};

use super::Baseline;
use crate::worktree::{Snapshot, WorkTree, WorktreeError};

/// The largest of them that is read, in bytes.
const MAX_FILE_BYTES: u64 = 1 << 20;

/// Each that is there, with the hash of what decides.
pub(super) fn watched(tree: &WorkTree) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for name in AGENT_SETTINGS {
        insert_hash(&mut found, name.to_owned(), &tree.root().join(name));
    }
    let Some(git) = tree.git_folder() else { return found };
    for name in ["config", "info/attributes"] {
        insert_hash(&mut found, format!(".git/{name}"), &git.join(name));
    }
    let hooks = fs::read_dir(git.join("hooks")).into_iter().flatten().filter_map(Result::ok);
    for hook in hooks {
        let name = hook.file_name().to_string_lossy().into_owned();
        if !name.ends_with(".sample") {
            insert_hash(&mut found, format!(".git/hooks/{name}"), &hook.path());
        }
    }
    found
}

fn insert_hash(hashes: &mut BTreeMap<String, String>, name: String, path: &Path) {
    if let Some(hash) = hash(&name, path) {
        hashes.insert(name, hash);
    }
}

fn hash(name: &str, path: &Path) -> Option<String> {
    let about = fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
    if about.len() > MAX_FILE_BYTES {
        return Some(format!("{} bytes", about.len()));
    }
    let bytes = decisive(name, &fs::read(path).ok()?);
    let mode = std::os::unix::fs::PermissionsExt::mode(&about.permissions()) & 0o111;
    let runs = name.starts_with(".git/hooks/") && mode != 0;
    let hash = blake3::hash(&bytes).to_hex();
    Some(if runs { format!("{hash} runs") } else { hash.to_string() })
}

impl Baseline {
    /// The files beside the tree that changed. A file of the tree is reported as a change of the
    /// tree. A baseline from history knows none.
    pub(crate) fn beside(&self, tree: &WorkTree, now: &Snapshot) -> Vec<Finding> {
        if self.is_from_history() {
            return Vec::new();
        }
        let (was, is) = (&self.body.watched, watched(tree));
        let names: std::collections::BTreeSet<_> = was.keys().chain(is.keys()).collect();
        let outside = names.into_iter().filter(|name| now.file(Path::new(name.as_str())).is_none());
        outside.filter_map(|name| difference(name, was.get(name), is.get(name))).collect()
    }
}

fn difference(name: &str, was: Option<&String>, is: Option<&String>) -> Option<Finding> {
    let how = match (was, is) {
        (was, is) if was == is => return None,
        (None, _) => "is new",
        (_, None) => "is gone",
        _ => "was changed",
    };
    // Settings in which nothing decides are as good as none.
    let nothing =
        [decisive(name, b""), decisive(name, b"{}")].map(|bytes| blake3::hash(&bytes).to_hex());
    let mut hashes = was.into_iter().chain(is);
    if hashes.all(|hash| nothing.iter().any(|empty| hash.as_str() == empty.as_str())) {
        return None;
    }
    let is_git = matches!(name, ".git/config" | ".git/info/attributes");
    let finding = if is_git { GIT.finding(name) } else { HOOK.finding(name) };
    let message = format!("{}: it {how}", finding.message);
    Some(Finding { message, ..finding })
}

/// The submodules that stand at another commit than the tree's commit says.
pub(super) fn moved_submodules(
    tree: &WorkTree,
    commit: &str,
) -> Result<BTreeMap<String, String>, WorktreeError> {
    let mut moved = BTreeMap::new();
    for (path, named) in tree.submodules_of(commit)? {
        if let Some(head) = tree.head_of_submodule(&path)?.filter(|head| *head != named) {
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
        for (path, named) in tree.submodules_of(self.commit())? {
            let was = self.body.submodules.get(&path).unwrap_or(&named);
            if tree.head_of_submodule(&path)?.is_some_and(|head| head != *was) {
                findings.push(SUBMODULE.finding(&path));
            }
        }
        Ok(findings)
    }
}
