//! Work of an agent that does not stand in the work tree that is judged: in another work tree, on
//! another branch, in the stash.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::error::WorktreeError;
use super::git::Git;
use super::index::GitEntries;
use super::refs::Refs;
use super::repository::{self, Repository};
use super::status::has_name;
use super::{Globs, WorkTree, names};
use crate::cancellation::Cancellation;
use crate::site::CheckSite;

/// Beginnings of the notes in a branch's log for which nobody made a commit on it: it was created,
/// fetched, or moved to existing commits.
const NOTES_WITHOUT_COMMITS: [&str; 6] =
    ["branch: Created", "Branch: renamed", "fetch", "pull", "clone", "branch: Reset"];

/// The most heads of the beginning that git is given to compare with.
const MAX_HEADS: usize = 1_000;

/// Work elsewhere in the repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OtherWork {
    /// The place of the work.
    pub place: WorkPlace,
    /// The number of commits that the judged tree does not have.
    pub commits: usize,
    /// The number of uncommitted files that differ from those of the judged tree.
    pub files: usize,
}

/// A place beside the judged tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WorkPlace {
    /// Another work tree, with the branch that is checked out there.
    Tree(PathBuf, Option<String>),
    /// A branch that no work tree has checked out.
    Branch(String),
    /// The stash.
    Stash,
}

/// Tells the work of one agent from that of others.
pub struct Search<'s> {
    /// The branches, work trees and stash when the loop, or the turn, began.
    pub refs_at_start: &'s Refs,
    /// The agent's calls name this file or folder.
    pub is_named: &'s dyn Fn(&Path) -> bool,
    /// The agent's calls name this branch.
    pub is_named_branch: &'s dyn Fn(&str) -> bool,
    /// Somebody else works in this work tree.
    pub is_others: &'s dyn Fn(&Path) -> bool,
    /// Branches that the loop works on beside its tree (`[tree] branches`).
    pub branches: &'s Globs,
}

impl WorkTree {
    /// The branches, work trees and stash of the repository as they are now; `None` outside of git.
    pub fn refs(&self) -> Option<Refs> {
        if self.is_repository { Refs::read(&self.root) } else { None }
    }

    /// Work that was done elsewhere in the repository since the beginning: in work trees and on
    /// branches that were made since, or that the agent's calls name, and in the stash. What the
    /// judged tree has as well does not count.
    ///
    /// # Errors
    ///
    /// A git command that fails, another work tree that cannot be read.
    pub fn other_work(&self, search: &Search<'_>) -> Result<Vec<OtherWork>, WorktreeError> {
        let Some(refs) = self.refs() else { return Ok(Vec::new()) };
        let Some((git, repository)) = self.repository()? else { return Ok(Vec::new()) };
        let finder = WorkFinder { tree: self, git, repository, refs: &refs, search };
        let mut work = finder.in_trees()?;
        work.extend(finder.on_branches()?);
        work.extend(finder.in_stash());
        Ok(work)
    }
}

/// Finds work elsewhere. The judged tree is the one that it was opened for.
struct WorkFinder<'l> {
    tree: &'l WorkTree,
    git: &'l Git,
    repository: Repository,
    refs: &'l Refs,
    search: &'l Search<'l>,
}

impl WorkFinder<'_> {
    fn in_trees(&self) -> Result<Vec<OtherWork>, WorktreeError> {
        let mut work = Vec::new();
        for (folder, head) in &self.refs.trees {
            let is_new = !self.search.refs_at_start.trees.contains_key(folder);
            let is_own = is_new || (self.search.is_named)(folder);
            let is_judged = folder.as_path() == self.tree.root();
            if is_judged
                || !is_own
                || (self.search.is_others)(folder)
                || self.is_allowed(head.branch.as_deref())
            {
                continue;
            }
            let commits = match &head.commit {
                Some(commit) => self.missing_commits(commit, head.branch.as_deref())?,
                None => 0,
            };
            let files = self.missing_files(folder, is_new)?;
            if commits + files > 0 {
                let place = WorkPlace::Tree(folder.clone(), head.branch.clone());
                work.push(OtherWork { place, commits, files });
            }
        }
        Ok(work)
    }

    fn on_branches(&self) -> Result<Vec<OtherWork>, WorktreeError> {
        let checked_out: BTreeSet<_> =
            self.refs.trees.values().filter_map(|head| head.branch.as_deref()).collect();
        let mut work = Vec::new();
        for (branch, commit) in &self.refs.branches {
            let is_own = match self.search.refs_at_start.branches.get(branch) {
                None => true,
                Some(start) => start != commit && self.has_moved(branch, commit),
            };
            if !is_own || checked_out.contains(branch.as_str()) || self.is_allowed(Some(branch)) {
                continue;
            }
            let commits = self.missing_commits(commit, Some(branch))?;
            if commits > 0 {
                let place = WorkPlace::Branch(branch.clone());
                work.push(OtherWork { place, commits, files: 0 });
            }
        }
        Ok(work)
    }

    /// Entries of the stash that were made since, on the branch of this tree or on one that is new.
    fn in_stash(&self) -> Option<OtherWork> {
        let refs_at_start = self.search.refs_at_start;
        let head = self.refs.trees.get(self.tree.root());
        let tree_branch = head.and_then(|head| head.branch.as_deref());
        let is_own = |note: &str| {
            // `WIP on main: …`, `On main: …`.
            let behind_on = note.split_once("n ").map_or(note, |(_, behind)| behind);
            let branch = behind_on.split(':').next().unwrap_or_default();
            tree_branch.is_none_or(|tree_branch| tree_branch == branch)
                || !refs_at_start.branches.contains_key(branch)
        };
        let entries = self.refs.stash.iter().filter(|(commit, note)| {
            !refs_at_start.stash.contains_key(*commit)
                && is_own(note)
                && self.is_stash_missing(commit)
        });
        let commits = entries.count();
        (commits > 0).then_some(OtherWork { place: WorkPlace::Stash, commits, files: 0 })
    }

    fn is_allowed(&self, branch: Option<&str>) -> bool {
        branch.is_some_and(|branch| self.search.branches.matches(branch.as_bytes()))
    }

    /// The agent moved a branch that existed at the start: its calls name the branch, or this tree had
    /// that commit checked out.
    fn has_moved(&self, branch: &str, commit: &str) -> bool {
        let log = fs::read_to_string(self.repository.git_dir.join("logs/HEAD")).unwrap_or_default();
        let was_checked_out = log.lines().any(|line| line.split(' ').nth(1) == Some(commit));
        was_checked_out || (self.search.is_named_branch)(branch)
    }

    /// The number of commits made since the start that the judged tree does not have. 0 if it has all
    /// that they changed, and if the branch's own log notes no commit.
    fn missing_commits(&self, commit: &str, branch: Option<&str>) -> Result<usize, WorktreeError> {
        if branch.is_some_and(|branch| !self.may_have_commits(branch)) {
            return Ok(0);
        }
        let refs_at_start = self.search.refs_at_start;
        let tree_heads = refs_at_start.trees.values().filter_map(|head| head.commit.as_ref());
        let heads: BTreeSet<_> =
            tree_heads.chain(refs_at_start.branches.values()).take(MAX_HEADS).collect();
        let mut args = vec!["rev-list", "--count", "--end-of-options", commit, "--not", "HEAD"];
        args.extend(heads.into_iter().map(String::as_str));
        let (place, cancel) = (self.repository.place(), Cancellation::default());
        let output = self.git.output(place, &args, &[], &cancel)?;
        let count = String::from_utf8_lossy(output.stdout.trim_ascii()).parse().unwrap_or(1);
        if count > 0 && self.has_all_of(commit)? { Ok(0) } else { Ok(count) }
    }

    /// The branch has commits of its own, unless its log shows that it has none. A repository without
    /// such logs shows nothing.
    fn may_have_commits(&self, branch: &str) -> bool {
        let common = repository::common_folder(&self.repository.git_dir);
        let Ok(log) = fs::read_to_string(common.join("logs/refs/heads").join(branch)) else {
            return true;
        };
        let mut notes = log.lines().filter_map(|line| line.split_once('\t'));
        notes.any(|(_, note)| {
            !NOTES_WITHOUT_COMMITS.iter().any(|beginning| note.starts_with(beginning))
        })
    }

    /// The judged tree lacks some of what an entry of the stash holds. The entry's third parent has the
    /// files that git did not know.
    fn is_stash_missing(&self, commit: &str) -> bool {
        let has_tracked = self.has_all_since(&format!("{commit}^1"), commit).unwrap_or(false);
        let cancel = Cancellation::default();
        let untracked_files =
            self.repository.tree(self.git, &format!("{commit}^3"), &cancel).unwrap_or_default();
        let has_untracked = untracked_files
            .iter()
            .all(|entry| self.tree.root().join(names::path(entry.path)).exists());
        !(has_tracked && has_untracked)
    }

    /// The judged tree has what a line of commits changed since it left that tree's.
    fn has_all_of(&self, commit: &str) -> Result<bool, WorktreeError> {
        let cancel = Cancellation::default();
        let args = ["merge-base", "HEAD", commit];
        let output = self.git.output(self.repository.place(), &args, &[], &cancel)?;
        let base = String::from_utf8_lossy(output.stdout.trim_ascii()).into_owned();
        if base.is_empty() { Ok(false) } else { self.has_all_since(&base, commit) }
    }

    /// No file that changed between two commits is in the judged tree as it was before: the change was
    /// merged in one commit or copied, and the file may have been changed further.
    fn has_all_since(&self, base: &str, commit: &str) -> Result<bool, WorktreeError> {
        let cancel = Cancellation::default();
        let old_tree = self.repository.tree(self.git, base, &cancel)?;
        let new_tree = self.repository.tree(self.git, commit, &cancel)?;
        let object = |entries: &GitEntries, file: &[u8]| {
            let entry = entries.iter().find(|entry| entry.path == file);
            entry.map(|entry| entry.object.to_vec())
        };
        Ok(super::status::differing_files(&old_tree, &new_tree).iter().all(|file| {
            let bytes = fs::read(self.tree.root().join(names::path(file))).ok();
            match (object(&old_tree, file), bytes) {
                (Some(old_object), Some(bytes)) => !has_name(&bytes, &old_object),
                // Without a file here, the change is here only if the commits removed it.
                (old_object, None) => old_object.is_some() && object(&new_tree, file).is_none(),
                (None, Some(_)) => true,
            }
        }))
    }

    /// The number of uncommitted files of another work tree that differ from those of the judged one.
    /// In a tree that existed at the start, only files that the agent's calls name are its own.
    fn missing_files(&self, folder: &Path, is_new: bool) -> Result<usize, WorktreeError> {
        let site =
            CheckSite { environment: self.tree.environment.clone(), ..CheckSite::new(folder) };
        let other_tree = WorkTree::open(&site)?;
        let Some(uncommitted) = other_tree.uncommitted(&Cancellation::default())? else {
            return Ok(0);
        };
        let missing = uncommitted.files.iter().map(|file| names::path(file)).filter(|file| {
            let other_bytes = fs::read(folder.join(file)).ok();
            let judged_bytes = fs::read(self.tree.root().join(file)).ok();
            other_bytes != judged_bytes && (is_new || (self.search.is_named)(&folder.join(file)))
        });
        Ok(missing.count())
    }
}
