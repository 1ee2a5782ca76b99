//! The work tree as it was before the agent acted.
//!
//! A baseline is a commit, with the files that differed from it in the tree, with their bytes;
//! the raw hashes of the files that decide what the tests are worth ([`guarded`]); and the tools
//! that run the checks. gate stores it with the state, outside of the tree.
//!
//! Without a stored one, the baseline is the commit at which the checked out branch left the
//! default branch, else the checked out commit. There is none outside of git and before the first
//! commit.

mod change;
mod error;
mod harness;
mod reader;
mod since_beginning;
mod storage;
mod stored_file;
#[cfg(test)]
mod tests;
mod tool;
mod watched;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use gate_core::decide::checks::CRITERIA;
use gate_core::decide::policy::Policy;
use gate_core::integrity::{Guarded, guarded};
use serde::{Deserialize, Serialize};

use crate::cancellation::Cancellation;
use crate::runner::is_runner;
use crate::site::CheckSite;
use crate::worktree::stop_if_cancelled;
use crate::worktree::{Blob, Kind, MergeBase, Refs, Snapshot, Uncommitted, WorkTree};

pub use change::{Change, ChangeKind};
pub use error::BaselineError;
pub(crate) use reader::Reader;
pub use stored_file::StoredFile;
pub use tool::Tool;

use stored_file::{Mark, Name};

/// The version of the form in which it is kept.
const VERSION: u32 = 1;

/// The largest file whose bytes are kept, in bytes; tests that are larger and not
/// committed cannot be laid over.
const MAX_FILE_BYTES: u64 = 16 << 20;

/// One of these checks looks at a baseline. Without such a check nobody looks for a baseline.
pub fn is_wanted(policy: &Policy) -> bool {
    // Criteria have their commands from the baseline's files.
    let has_criteria = policy.checks.get(CRITERIA).is_some_and(|check| !check.files.is_empty());
    compares_tree(policy) || has_criteria
}

/// One of these checks compares the tree with a baseline.
pub fn compares_tree(policy: &Policy) -> bool {
    policy.checks.iter().any(|(name, check)| {
        let is_named_for_tests = name == "tests" || name.starts_with("tests-");
        let runs_tests = is_named_for_tests || !check.shell && is_runner(&check.command);
        name == "integrity" || !check.tests.is_empty() || check.control && runs_tests
    })
}

/// The origin of a baseline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Origin {
    /// The tree, taken by hand or by a loop before its first agent acted.
    Taken,
    /// The tree, taken when an agent's session began, or when work of it was accepted. Not every
    /// request in a session is for a change.
    Session,
    /// The commit at which the checked out one left the default branch of the origin.
    MergeBase,
    /// The commit at which the checked out one left a local branch that is called main or master.
    LocalBranch,
    /// The commit that was checked out when the baseline was first needed.
    Head,
    /// The commit at which the work in another work tree of the session's repository began.
    OtherTree,
    /// The base of a pull request or of a push, which the caller names.
    Base,
}

/// The work tree as it was before the agent acted. A clone shares it.
#[derive(Clone, Debug)]
pub struct Baseline {
    body: Arc<Body>,
    digest: Arc<str>,
    /// Bytes that no commit has, by their hash, of a baseline that was taken just now.
    bytes: Arc<BTreeMap<String, Vec<u8>>>,
    /// The folder with the bytes of a stored baseline.
    folder: Option<Arc<Path>>,
    /// The digest of the tree from which the baseline was taken just now.
    tree: Option<Arc<str>>,
    /// The branches, work trees and stash when it was taken; `None` if they are not known.
    refs: Option<Arc<Refs>>,
}

/// The content; its digest is the baseline's name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Body {
    version: u32,
    origin: Origin,
    /// The time at which the baseline was taken (RFC 3339, UTC), as the caller gives it.
    time: String,
    commit: String,
    /// The files that stood otherwise than in the commit; `None` for a file that was gone.
    dirty: BTreeMap<Name, Option<Mark>>,
    /// The guarded files, as raw bytes. Empty if the baseline is from history.
    guarded: BTreeMap<Name, Mark>,
    tools: Vec<Tool>,
    /// Files beside the tree, as far as they decide. Empty if the baseline is from history.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    watched: BTreeMap<String, String>,
    /// Test runners that are installed in the tree. Empty if the baseline is from history.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    harness: BTreeMap<String, String>,
    /// Submodules that stood at another commit than the tree's commit says, with that of their
    /// checkout.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    submodules: BTreeMap<String, String>,
    /// Files of which an earlier version of gate put older texts into the baseline. A baseline with
    /// such files is none of a tree that ever was.
    #[serde(default, skip_serializing)]
    old_texts: Vec<Name>,
}

impl Body {
    /// A commit, and nothing beside it.
    fn of_commit(commit: String, origin: Origin, time: &str) -> Self {
        Self {
            version: VERSION,
            origin,
            time: time.to_owned(),
            commit,
            dirty: BTreeMap::new(),
            guarded: BTreeMap::new(),
            tools: Vec::new(),
            watched: BTreeMap::new(),
            harness: BTreeMap::new(),
            submodules: BTreeMap::new(),
            old_texts: Vec::new(),
        }
    }
}

impl Baseline {
    /// The tree as it stands at this moment. `None` outside of git, and before the first commit.
    ///
    /// It reads the files that a digest of the tree reads, and the uncommitted ones once more.
    /// Files whose hash is known from an earlier look are not read again.
    ///
    /// # Errors
    ///
    /// A tree that cannot be read.
    pub fn take(
        policy: &Policy,
        site: &CheckSite,
        time: &str,
    ) -> Result<Option<Self>, BaselineError> {
        Self::taken(Origin::Taken, policy, site, time, &Cancellation::default())
    }

    /// The tree as it stands when a session begins. Its agent does not wait for ever: soon after the
    /// cancellation the call ends, and no baseline was taken.
    ///
    /// # Errors
    ///
    /// A tree that cannot be read, or not in time ([`BaselineError::is_late`]).
    pub fn take_in_session(
        policy: &Policy,
        site: &CheckSite,
        time: &str,
        cancel: &Cancellation,
    ) -> Result<Option<Self>, BaselineError> {
        Self::taken(Origin::Session, policy, site, time, cancel)
    }

    fn taken(
        origin: Origin,
        policy: &Policy,
        site: &CheckSite,
        time: &str,
        cancel: &Cancellation,
    ) -> Result<Option<Self>, BaselineError> {
        stop_if_cancelled(cancel)?;
        let tree = WorkTree::open(site)?;
        let Some(Uncommitted { files, snapshot }) = tree.uncommitted(cancel)? else {
            return Ok(None);
        };
        let Some(commit) = snapshot.head.clone() else { return Ok(None) };
        let (mut dirty, mut bytes_by_hash) = (BTreeMap::new(), BTreeMap::new());
        for name in files {
            stop_if_cancelled(cancel)?;
            let file = snapshot
                .file(&stored_file::path(&name))
                .filter(|file| file.kind() != Kind::Unreadable);
            if let Some(file) = file
                && let Some((hash, bytes)) = hash_and_bytes(&tree, file.path())
            {
                bytes_by_hash.insert(hash, bytes);
            }
            dirty.insert(Name(name), file.map(Mark::new));
        }
        let is_guarded = |path: &Path| path.to_str().is_some_and(|path| guarded(path).is_some());
        let guarded = snapshot
            .files_that_fit(is_guarded, cancel)?
            .into_iter()
            .map(|file| (Name::new(file.path()), Mark::new(file)))
            .collect();
        let body = Body {
            dirty,
            guarded,
            tools: tool::configured_tools(policy, site),
            watched: watched::watched_files(&tree),
            harness: harness::installed_runners(&tree, &snapshot),
            submodules: watched::moved_submodules(&tree, &commit)?,
            ..Body::of_commit(commit, origin, time)
        };
        Ok(Some(Self {
            tree: Some(snapshot.digest().into()),
            refs: tree.refs().map(Arc::new),
            ..Self::new(body, bytes_by_hash)
        }))
    }

    /// The commit at which the checked out one left the default branch, else the checked out one.
    /// `None` outside of git, and before the first commit.
    ///
    /// # Errors
    ///
    /// A git command that fails.
    pub fn from_history(site: &CheckSite, time: &str) -> Result<Option<Self>, BaselineError> {
        let tree = WorkTree::open(site)?;
        let Some(head) = tree.commit("HEAD")? else { return Ok(None) };
        let (commit, origin) = match tree.merge_base()? {
            Some(MergeBase { commit, is_local: false, .. }) => (commit, Origin::MergeBase),
            Some(MergeBase { commit, is_local: true, .. }) => (commit, Origin::LocalBranch),
            None => (head, Origin::Head),
        };
        let refs = tree.refs().map(Arc::new);
        Ok(Some(Self { refs, ..Self::committed_at(commit, origin, time) }))
    }

    /// The base of a pull request or of a push. `commit` is its full name.
    ///
    /// # Errors
    ///
    /// As of [`Baseline::take`].
    pub fn new_base(site: &CheckSite, commit: &str, time: &str) -> Result<Self, BaselineError> {
        let refs = WorkTree::open(site)?.refs().map(Arc::new);
        Ok(Self { refs, ..Self::committed_at(commit.to_owned(), Origin::Base, time) })
    }

    /// Another work tree of the repository, as it was when a session began that works there now: the
    /// commit that was checked out there, or that at which it left the session's own tree. `None` if
    /// neither is known.
    ///
    /// # Errors
    ///
    /// A git command that fails.
    pub fn in_other_tree(
        &self,
        site: &CheckSite,
        time: &str,
    ) -> Result<Option<Self>, BaselineError> {
        let tree = WorkTree::open(site)?;
        let first_head = self.refs.as_ref().and_then(|refs| refs.trees.get(tree.root()));
        let commit = match first_head.and_then(|head| head.commit.clone()) {
            Some(commit) => Some(commit),
            None => tree.merge_base_with(&self.body.commit)?,
        };
        let refs = self.refs.clone();
        Ok(commit
            .map(|commit| Self { refs, ..Self::committed_at(commit, Origin::OtherTree, time) }))
    }

    fn committed_at(commit: String, origin: Origin, time: &str) -> Self {
        Self::new(Body::of_commit(commit, origin, time), BTreeMap::new())
    }

    /// One of the baseline's files is one of tests.
    ///
    /// # Errors
    ///
    /// A commit that is gone.
    pub(crate) fn has_tests(&self, tree: &WorkTree) -> Result<bool, BaselineError> {
        let files = self.files_of_tests(tree)?;
        let is_test = |file: &PathBuf| file.to_str().and_then(guarded) == Some(Guarded::Test);
        Ok(files.iter().any(is_test))
    }

    fn new(body: Body, bytes: BTreeMap<String, Vec<u8>>) -> Self {
        let (digest, bytes) = (storage::digest(&body).into(), Arc::new(bytes));
        Self { body: Arc::new(body), digest, bytes, folder: None, tree: None, refs: None }
    }

    /// The baseline's name: `blake3:` and 64 hex digits over all its content but the time.
    pub fn digest(&self) -> &str {
        &self.digest
    }

    /// The origin of this baseline.
    pub fn origin(&self) -> Origin {
        self.body.origin
    }

    /// A commit of git's history, and no tree that was taken.
    pub fn is_from_history(&self) -> bool {
        !matches!(self.body.origin, Origin::Taken | Origin::Session)
    }

    /// The baseline holds no work of this turn. A baseline from history may hold the agent's own
    /// commits, unless it is one of another tree.
    pub fn is_before_turn(&self) -> bool {
        !self.is_from_history() || self.body.origin == Origin::OtherTree
    }

    /// The branches, work trees and stash of the repository when the baseline was taken; `None` if
    /// they are not known.
    pub fn refs(&self) -> Option<&Refs> {
        self.refs.as_deref()
    }

    /// The commit is that of the checkout or depends on a local branch. Anybody who works in the
    /// repository can move both.
    pub fn is_movable(&self) -> bool {
        matches!(self.body.origin, Origin::LocalBranch | Origin::Head)
    }

    /// The commit that was checked out in the tree, by its full name.
    pub fn commit(&self) -> &str {
        &self.body.commit
    }

    /// The digest of the tree from which the baseline was taken just now, as checks report it. `None`
    /// if it was stored, or is from history.
    pub fn tree(&self) -> Option<&str> {
        self.tree.as_deref()
    }

    /// The time at which the baseline was taken (RFC 3339, UTC).
    pub fn time(&self) -> &str {
        &self.body.time
    }

    /// The number of guarded files with a raw hash.
    pub fn guarded_files(&self) -> usize {
        self.body.guarded.len()
    }

    /// The programs that the checks' commands named, as they stood when the baseline was taken.
    pub fn tools(&self) -> &[Tool] {
        &self.body.tools
    }

    /// A file as the baseline has it; `None` if it has no such file. The path is relative to the root.
    ///
    /// # Errors
    ///
    /// Bytes that are not available any more: the commit is gone, or git stores the file in another
    /// form (Git LFS).
    pub fn content(
        &self,
        tree: &WorkTree,
        path: &Path,
    ) -> Result<Option<StoredFile>, BaselineError> {
        self.reader(tree)?.content(path)
    }

    /// Several files, each as [`Baseline::content`] gives it.
    ///
    /// # Errors
    ///
    /// As of [`Baseline::content`].
    pub fn contents(
        &self,
        tree: &WorkTree,
        paths: &[&Path],
    ) -> Result<Vec<Option<StoredFile>>, BaselineError> {
        let reader = self.reader(tree)?;
        paths.iter().map(|path| reader.content(path)).collect()
    }

    /// A reader for several files: it lists the files of the commit once.
    pub(crate) fn reader<'a>(&'a self, tree: &'a WorkTree) -> Result<Reader<'a>, BaselineError> {
        Ok(Reader { baseline: self, tree, files: self.files(tree)? })
    }

    /// Lays the whole tree, as it was, into a folder that is empty.
    ///
    /// # Errors
    ///
    /// A folder that cannot be written, bytes that cannot be got any more.
    pub fn lay_out(&self, tree: &WorkTree, folder: &Path) -> Result<(), BaselineError> {
        for (name, blob) in self.files(tree)? {
            let path = stored_file::path(&name);
            if !self.body.dirty.contains_key(&Name::new(&path)) {
                self.committed_file(tree, &path, &blob)?.write(&folder.join(path))?;
            }
        }
        for (name, mark) in &self.body.dirty {
            if let Some(mark) = mark {
                self.dirty_file(mark, &name.path())?.write(&folder.join(name.path()))?;
            }
        }
        Ok(())
    }

    /// The folders, relative to the root, in which the commit has a file of this name.
    ///
    /// # Errors
    ///
    /// A commit that is gone.
    pub fn folders_with(&self, tree: &WorkTree, name: &str) -> Result<Vec<PathBuf>, BaselineError> {
        let paths = self.files(tree)?.into_keys().map(|file| stored_file::path(&file));
        let folders = paths
            .filter(|path| path.file_name().is_some_and(|file_name| file_name == name))
            .filter_map(|path| path.parent().map(Path::to_owned));
        Ok(folders.collect())
    }

    /// The files of the commit.
    fn files(&self, tree: &WorkTree) -> Result<BTreeMap<Vec<u8>, Blob>, BaselineError> {
        tree.files_of(&self.body.commit)?
            .ok_or_else(|| BaselineError::NoRepository { root: tree.root().to_owned() })
    }

    /// A file that was as the commit has it: the raw bytes, if they are known.
    fn committed_file(
        &self,
        tree: &WorkTree,
        path: &Path,
        blob: &Blob,
    ) -> Result<StoredFile, BaselineError> {
        let bytes = tree.blob(&blob.object)?.ok_or_else(|| lost(path))?;
        let mut file = StoredFile { bytes, kind: blob.kind };
        if let Some(mark) = self.body.guarded.get(&Name::new(path))
            && !mark.is_of(&file.bytes)
        {
            // git may store other line ends than the tree has.
            file.bytes = stored_file::with_returns(&file.bytes);
            if !mark.is_of(&file.bytes) {
                return Err(lost(path));
            }
        }
        Ok(file)
    }

    /// A file whose bytes no commit has.
    fn dirty_file(&self, mark: &Mark, path: &Path) -> Result<StoredFile, BaselineError> {
        let stored_bytes = || fs::read(self.folder.as_ref()?.join(&mark.hash)).ok();
        let bytes = self
            .bytes
            .get(&mark.hash)
            .cloned()
            .or_else(stored_bytes)
            .filter(|bytes| mark.is_of(bytes))
            .ok_or_else(|| lost(path))?;
        Ok(StoredFile { bytes, kind: mark.kind })
    }
}

fn lost(path: &Path) -> BaselineError {
    BaselineError::Lost { path: path.to_owned() }
}

/// The hash of a file that is not too large, and its bytes.
fn hash_and_bytes(tree: &WorkTree, path: &Path) -> Option<(String, Vec<u8>)> {
    let metadata = tree.root().join(path).symlink_metadata().ok()?;
    if metadata.len() > MAX_FILE_BYTES {
        return None;
    }
    let bytes = tree.bytes(path)?;
    Some((blake3::hash(&bytes).to_hex().to_string(), bytes))
}

/// The folder of a tree's baselines.
fn folder(site: &CheckSite, tree: &WorkTree) -> Option<PathBuf> {
    Some(crate::store::tree_folder(site.state.as_ref()?, tree.root()).join("baseline"))
}

/// The kind of a file, by which two snapshots of a baseline's tree are compared.
fn kind_of(snapshot: &Snapshot, path: &Path) -> Option<Kind> {
    snapshot.file(path).map(crate::worktree::File::kind)
}
