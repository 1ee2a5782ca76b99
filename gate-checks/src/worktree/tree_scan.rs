//! One look at the whole tree: repositories, files, hashes.

use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::thread::{self, ScopedJoinHandle};

use super::WorkTree;
use super::content::Reader;
use super::error::WorktreeError;
use super::excludes;
use super::file::File;
use super::git::Git;
use super::names::path;
use super::parallel;
use super::repository::Repository;
use super::snapshot::Snapshot;
use super::stat_cache::{StatCache, now};
use super::tracked::Tracked;
use super::walk::{Walk, WalkedFile};
use crate::cancellation::Cancellation;

/// The file name of the stat cache.
const STAT_CACHE_FILE: &str = "stat";

/// A snapshot, and the repositories that it was made with.
#[derive(Debug)]
pub(crate) struct TreeScan {
    pub(crate) snapshot: Snapshot,
    /// The root's repository, then its submodules'; empty outside of git.
    pub(crate) repositories: Vec<Repository>,
}

/// Answers of git, from before the walk.
#[derive(Default)]
struct GitAnswers {
    repositories: Vec<Repository>,
    head: Option<String>,
    users: Option<PathBuf>,
}

impl WorkTree {
    /// Looks at every file.
    pub(crate) fn scan(&self, cancel: &Cancellation) -> Result<TreeScan, WorktreeError> {
        let taken = now();
        let git = if self.is_repository { self.git.as_ref() } else { None };
        let (answers, cache) = thread::scope(|scope| {
            let cache = scope.spawn(|| self.known());
            let answers =
                git.map_or_else(|| Ok(GitAnswers::default()), |git| self.git_answers(git, cancel));
            (answers, joined(cache))
        });
        let answers = answers?;
        let tracked = git.map(|_| Tracked::new(&answers.repositories));
        let found = self.walk(&answers, tracked.as_ref()).files(cancel)?;
        let files = self.hash(found, cache, taken, cancel)?;
        let mut snapshot = Snapshot::new(self.root.clone(), files);
        snapshot.head = answers.head;
        snapshot.index = git.map(|_| index_digest(&answers.repositories));
        Ok(TreeScan { snapshot, repositories: answers.repositories })
    }

    /// Reads the tracked files, the commit and the user's excludes from git, all at once.
    fn git_answers(&self, git: &Git, cancel: &Cancellation) -> Result<GitAnswers, WorktreeError> {
        let top = Repository::find(&self.root, Vec::new())?;
        thread::scope(|scope| {
            let users =
                scope.spawn(|| excludes::user_patterns(git, &self.root, &self.environment, cancel));
            let head = scope.spawn(|| top.head(git, cancel));
            let repositories = Repository::all(git, &self.root, cancel)?;
            Ok(GitAnswers { repositories, head: joined(head)?, users: joined(users)? })
        })
    }

    /// The hashes of an earlier scan.
    fn known(&self) -> StatCache {
        StatCache::read(
            self.state_dir.as_ref().and_then(|state_dir| state_dir.read(STAT_CACHE_FILE)),
        )
    }

    fn walk<'w>(&'w self, answers: &'w GitAnswers, tracked: Option<&'w Tracked<'w>>) -> Walk<'w> {
        let mut starts: Vec<_> =
            answers.repositories.iter().map(|repository| repository.prefix.clone()).collect();
        if starts.is_empty() {
            starts.push(Vec::new());
        }
        // Outside of git a folder that holds nothing tracked may be the work.
        let logs = tracked.map_or_else(Vec::new, |tracked| self.ignored.callers_folders(tracked));
        // The user's own patterns may stand in the tree, as dot files do; then anybody who works in
        // it can write them, like any other file of the tree.
        let users = answers.users.as_deref().filter(|file| match file.strip_prefix(&self.root) {
            Ok(inside) => {
                tracked.is_some_and(|tracked| tracked.contains(inside.as_os_str().as_bytes()))
            }
            Err(_) => true,
        });
        Walk { root: &self.root, ignored: &self.ignored, tracked, logs, starts, users }
    }

    /// The files with the hashes of their bytes.
    fn hash(
        &self,
        found: Vec<WalkedFile>,
        mut cache: StatCache,
        taken: i64,
        cancel: &Cancellation,
    ) -> Result<Vec<File>, WorktreeError> {
        let known: Vec<_> = found.iter().map(|file| cache.hash(file)).collect();
        let unknown: Vec<_> = (0..found.len()).filter(|at| known[*at].is_none()).collect();
        let is_as_kept = cache.is_of(found.len());
        let read = parallel::each(unknown.len(), cancel, Reader::new, |reader, at| {
            let file = &found[unknown[at]];
            reader.look(&self.root.join(path(&file.path)), &file.stat)
        })?;
        let mut read = read.into_iter();
        let mut stats = Vec::new();
        let files = found.into_iter().zip(known).filter_map(|(file, known)| {
            let (kind, hash) = match known {
                Some(hash) => (file.stat.kind(), hash),
                None => read.next()?,
            };
            if !is_as_kept {
                stats.push(file.stat);
            }
            Some(File::new(file.path, kind, hash))
        });
        let files: Vec<_> = files.collect();
        if let (Some(state_dir), false) = (&self.state_dir, is_as_kept)
            && let Some(bytes) = cache.renewed(&stats, &files, taken)
        {
            // What cannot be kept is read again the next time.
            let _ = state_dir.write(STAT_CACHE_FILE, &bytes);
        }
        Ok(files)
    }
}

/// The thread's result. Its panic goes on in this one.
pub(super) fn joined<T>(thread: ScopedJoinHandle<'_, T>) -> T {
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

fn index_digest(repositories: &[Repository]) -> String {
    let mut hasher = blake3::Hasher::new();
    for repository in repositories {
        hasher.update(&(repository.prefix.len() as u64).to_le_bytes());
        hasher.update(&repository.prefix);
        repository.index.digest(&mut hasher);
    }
    format!("blake3:{}", hasher.finalize())
}
