//! One look at the whole tree: repositories, files, hashes.

use std::path::{Path, PathBuf};
use std::thread::{self, ScopedJoinHandle};

use gate_platform::git_name;

use super::WorkTree;
use super::content::ContentReader;
use super::error::WorktreeError;
use super::excludes;
use super::file::File;
use super::git::Git;
use super::names::path;
use super::parallel;
use super::repository::Repository;
use super::snapshot::Snapshot;
use super::stat_cache::{StatCache, now};
use super::tracked::TrackedFiles;
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

/// The answers of git before the walk.
#[derive(Default)]
struct GitAnswers {
    repositories: Vec<Repository>,
    head: Option<String>,
    user_patterns: Option<PathBuf>,
}

impl WorkTree {
    /// Reads the metadata of every file, and the bytes of those that changed.
    pub(crate) fn scan(&self, cancel: &Cancellation) -> Result<TreeScan, WorktreeError> {
        // Before any file is read: a change after that moment must not be taken for known.
        let scan_start = now();
        let git = if self.is_repository { self.git.as_ref() } else { None };
        let (answers, cache) = thread::scope(|scope| {
            let cache = scope.spawn(|| self.read_stat_cache());
            let answers =
                git.map_or_else(|| Ok(GitAnswers::default()), |git| self.git_answers(git, cancel));
            (answers, joined(cache))
        });
        let answers = answers?;
        let tracked = git.map(|_| TrackedFiles::new(&answers.repositories));
        let walked = self.walk(&answers, tracked.as_ref()).files(cancel)?;
        let files = self.hash_files(walked, cache, scan_start, cancel)?;
        let mut snapshot = Snapshot::new(self.root.clone(), files);
        snapshot.head = answers.head;
        snapshot.index = git.map(|_| index_digest(&answers.repositories));
        Ok(TreeScan { snapshot, repositories: answers.repositories })
    }

    /// Reads the tracked files, the commit and the user's excludes from git, all at once.
    fn git_answers(&self, git: &Git, cancel: &Cancellation) -> Result<GitAnswers, WorktreeError> {
        let top = Repository::find(&self.root, Vec::new())?;
        thread::scope(|scope| {
            let user_patterns =
                scope.spawn(|| excludes::user_patterns(git, &self.root, &self.environment, cancel));
            let head = scope.spawn(|| top.head(git, cancel));
            let repositories = Repository::find_all(git, &self.root, cancel)?;
            Ok(GitAnswers {
                repositories,
                head: joined(head)?,
                user_patterns: joined(user_patterns)?,
            })
        })
    }

    /// The hashes of an earlier scan.
    fn read_stat_cache(&self) -> StatCache {
        StatCache::read(
            self.state_dir.as_ref().and_then(|state_dir| state_dir.read(STAT_CACHE_FILE)),
        )
    }

    fn walk<'w>(
        &'w self,
        answers: &'w GitAnswers,
        tracked: Option<&'w TrackedFiles<'w>>,
    ) -> Walk<'w> {
        let mut prefixes: Vec<_> =
            answers.repositories.iter().map(|repository| repository.prefix.clone()).collect();
        if prefixes.is_empty() {
            prefixes.push(Vec::new());
        }
        // Outside of git a folder that holds nothing tracked may be the work.
        let log_folders =
            tracked.map_or_else(Vec::new, |tracked| self.ignore_rules.callers_folders(tracked));
        // The user's own patterns may stand in the tree, as dot files do; then anybody who works in
        // it can write them, like any other file of the tree.
        let is_trusted = |file: &Path| match file.strip_prefix(&self.root) {
            Ok(relative) => tracked.is_some_and(|tracked| tracked.contains(&git_name(relative))),
            Err(_) => true,
        };
        Walk {
            root: &self.root,
            ignore_rules: &self.ignore_rules,
            tracked,
            log_folders,
            repositories: prefixes,
            user_patterns: answers.user_patterns.as_deref().filter(|file| is_trusted(file)),
        }
    }

    /// The files with the hashes of their bytes.
    fn hash_files(
        &self,
        walked: Vec<WalkedFile>,
        mut cache: StatCache,
        scan_start: i64,
        cancel: &Cancellation,
    ) -> Result<Vec<File>, WorktreeError> {
        let cached: Vec<_> = walked.iter().map(|file| cache.hash(file)).collect();
        let uncached: Vec<_> =
            walked.iter().zip(&cached).filter(|(_, hash)| hash.is_none()).collect();
        let is_as_stored = cache.has_exactly(walked.len());
        let contents =
            parallel::map(uncached.len(), cancel, ContentReader::new, |reader, index| {
                let (file, _) = uncached[index];
                reader.read_content(&self.root.join(path(&file.path)), &file.stat)
            })?;
        let mut contents = contents.into_iter();
        let mut stats = Vec::new();
        let files = walked.into_iter().zip(cached).filter_map(|(file, cached_hash)| {
            let (kind, hash) = match cached_hash {
                Some(hash) => (file.stat.kind(), hash),
                None => contents.next()?,
            };
            if !is_as_stored {
                stats.push(file.stat);
            }
            Some(File::new(file.path, kind, hash))
        });
        let files: Vec<_> = files.collect();
        if let Some(state_dir) = &self.state_dir
            && !is_as_stored
            && let Some(bytes) = cache.renewed(&stats, &files, scan_start)
        {
            // Without the cache, files are read again the next time.
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
