//! Work of an agent that does not stand in the work tree that is judged: in another work tree, on
//! another branch, in the stash.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::error::WorktreeError;
use super::git::Git;
use super::index::Entries;
use super::refs::Refs;
use super::repository::{self, Repository};
use super::status::named_as;
use super::{Globs, WorkTree, names};
use crate::cancellation::Cancellation;
use crate::site::CheckSite;

/// Beginnings of the notes in a branch's log that tell of no commit made on it: it was created,
/// fetched, or moved to commits that were there.
const NO_COMMITS: [&str; 6] =
    ["branch: Created", "Branch: renamed", "fetch", "pull", "clone", "branch: Reset"];

/// The most heads of the beginning that git is given to compare with.
const MAX_HEADS: usize = 1_000;

/// Work elsewhere in the repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OtherWork {
    /// Its place.
    pub place: WorkPlace,
    /// The number of commits that the judged tree does not have.
    pub commits: usize,
    /// The number of files that are not committed, and that the judged tree does not have so.
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
    pub began: &'s Refs,
    /// True if the agent's calls name this file or folder.
    pub is_named: &'s dyn Fn(&Path) -> bool,
    /// True if the agent's calls name this branch.
    pub is_named_branch: &'s dyn Fn(&str) -> bool,
    /// True if somebody else works in this work tree.
    pub is_others: &'s dyn Fn(&Path) -> bool,
    /// Branches that the loop works on beside its tree (`[tree] branches`).
    pub branches: &'s Globs,
}

impl WorkTree {
    /// The branches, work trees and stash of the repository as they are now; none outside of git.
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
        let Some(now) = self.refs() else { return Ok(Vec::new()) };
        let Some((git, repository)) = self.repository()? else { return Ok(Vec::new()) };
        let looking = Looking { tree: self, git, repository, now: &now, search };
        let mut work = looking.in_trees()?;
        let mut branches = looking.on_branches()?;
        work.append(&mut branches);
        work.extend(looking.stashed());
        Ok(work)
    }
}

struct Looking<'l> {
    tree: &'l WorkTree,
    git: &'l Git,
    repository: Repository,
    now: &'l Refs,
    search: &'l Search<'l>,
}

impl Looking<'_> {
    fn in_trees(&self) -> Result<Vec<OtherWork>, WorktreeError> {
        let mut work = Vec::new();
        for (folder, head) in &self.now.trees {
            let is_new = !self.search.began.trees.contains_key(folder);
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
            self.now.trees.values().filter_map(|head| head.branch.as_deref()).collect();
        let mut work = Vec::new();
        for (branch, commit) in &self.now.branches {
            let is_own = match self.search.began.branches.get(branch) {
                None => true,
                Some(began_at) => began_at != commit && self.has_moved(branch, commit),
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
    fn stashed(&self) -> Option<OtherWork> {
        let began = self.search.began;
        let own = self.now.trees.get(self.tree.root()).and_then(|head| head.branch.as_deref());
        let is_own = |note: &str| {
            let branch = note.split_once("n ").map_or(note, |(_, rest)| rest);
            let branch = branch.split(':').next().unwrap_or_default();
            own.is_none_or(|own| own == branch) || !began.branches.contains_key(branch)
        };
        let made = self.now.stash.iter().filter(|(commit, note)| {
            !began.stash.contains_key(*commit) && is_own(note) && self.is_stash_missing(commit)
        });
        let commits = made.count();
        (commits > 0).then_some(OtherWork { place: WorkPlace::Stash, commits, files: 0 })
    }

    fn is_allowed(&self, branch: Option<&str>) -> bool {
        branch.is_some_and(|branch| self.search.branches.matches(branch.as_bytes()))
    }

    /// True if the agent moved a branch that was there: its calls name the branch, or it was
    /// checked out in this tree at that commit.
    fn has_moved(&self, branch: &str, commit: &str) -> bool {
        let log = fs::read_to_string(self.repository.git_dir.join("logs/HEAD")).unwrap_or_default();
        let at_head = log.lines().any(|line| line.split(' ').nth(1) == Some(commit));
        at_head || (self.search.is_named_branch)(branch)
    }

    /// The number of commits made since the beginning that the judged tree does not have. 0 if all
    /// files that they changed stand in it as they do there, and if the branch's own log tells of
    /// no commit.
    fn missing_commits(&self, commit: &str, branch: Option<&str>) -> Result<usize, WorktreeError> {
        if branch.is_some_and(|branch| !self.may_have_commits(branch)) {
            return Ok(0);
        }
        let began = self.search.began;
        let heads = began.trees.values().filter_map(|head| head.commit.as_ref());
        let heads: BTreeSet<_> = heads.chain(began.branches.values()).take(MAX_HEADS).collect();
        let mut args = vec!["rev-list", "--count", "--end-of-options", commit, "--not", "HEAD"];
        args.extend(heads.into_iter().map(String::as_str));
        let (place, cancel) = (self.repository.place(), Cancellation::default());
        let answer = self.git.output(place, &args, &[], &cancel)?;
        let count = String::from_utf8_lossy(answer.out.trim_ascii()).parse().unwrap_or(1);
        if count > 0 && self.has_all_of(commit)? { Ok(0) } else { Ok(count) }
    }

    /// True unless the branch's log shows that no commit was made on it. Repositories without such
    /// logs show nothing.
    fn may_have_commits(&self, branch: &str) -> bool {
        let common = repository::common(&self.repository.git_dir);
        let Ok(log) = fs::read_to_string(common.join("logs/refs/heads").join(branch)) else {
            return true;
        };
        let mut notes = log.lines().filter_map(|line| line.split_once('\t'));
        notes.any(|(_, note)| !NO_COMMITS.iter().any(|kind| note.starts_with(kind)))
    }

    /// True unless the judged tree has what an entry of the stash holds. Its third parent has the
    /// files that git did not know.
    fn is_stash_missing(&self, commit: &str) -> bool {
        let has_tracked = self.has_all_since(&format!("{commit}^1"), commit).unwrap_or(false);
        let untracked = format!("{commit}^3");
        let cancel = Cancellation::default();
        let untracked = self.repository.tree(self.git, &untracked, &cancel).unwrap_or_default();
        let has_untracked =
            untracked.iter().all(|entry| self.tree.root().join(names::path(entry.path)).exists());
        !(has_tracked && has_untracked)
    }

    /// True if the judged tree has what a line of commits changed since it left that tree's.
    fn has_all_of(&self, commit: &str) -> Result<bool, WorktreeError> {
        let cancel = Cancellation::default();
        let args = ["merge-base", "HEAD", commit];
        let base = self.git.output(self.repository.place(), &args, &[], &cancel)?;
        let base = String::from_utf8_lossy(base.out.trim_ascii()).into_owned();
        if base.is_empty() { Ok(false) } else { self.has_all_since(&base, commit) }
    }

    /// True if no file that changed between two commits stands in the judged tree as it was before:
    /// it was merged in one commit or copied, and may have been changed further.
    fn has_all_since(&self, base: &str, commit: &str) -> Result<bool, WorktreeError> {
        let cancel = Cancellation::default();
        let older = self.repository.tree(self.git, base, &cancel)?;
        let newer = self.repository.tree(self.git, commit, &cancel)?;
        let object = |entries: &Entries, file: &[u8]| {
            let entry = entries.iter().find(|entry| entry.path == file);
            entry.map(|entry| entry.object.to_vec())
        };
        Ok(super::status::staged(&older, &newer).iter().all(|file| {
            let bytes = fs::read(self.tree.root().join(names::path(file))).ok();
            match (object(&older, file), bytes) {
                (Some(older), Some(bytes)) => !named_as(&bytes, &older),
                // It was new there, and is not here; or it is gone in both.
                (older, None) => older.is_some() && object(&newer, file).is_none(),
                (None, Some(_)) => true,
            }
        }))
    }

    /// The number of uncommitted files of another work tree that the judged one does not have so.
    /// In one that was there before, only those that the agent's calls name are its own.
    fn missing_files(&self, folder: &Path, is_new: bool) -> Result<usize, WorktreeError> {
        let site =
            CheckSite { environment: self.tree.environment.clone(), ..CheckSite::new(folder) };
        let other = WorkTree::open(&site)?;
        let Some((files, _)) = other.uncommitted(&Cancellation::default())? else { return Ok(0) };
        let missing = files.iter().map(|file| names::path(file)).filter(|file| {
            let there = fs::read(folder.join(file)).ok();
            let here = fs::read(self.tree.root().join(file)).ok();
            there != here && (is_new || (self.search.is_named)(&folder.join(file)))
        });
        Ok(missing.count())
    }
}
