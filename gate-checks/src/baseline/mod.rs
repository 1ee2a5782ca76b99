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
use gate_core::decide::policy::{CheckPolicy, Policy};
use gate_core::integrity::{Guarded, guarded};
use serde::{Deserialize, Serialize};

use crate::cancellation::Cancellation;
use crate::runner::is_runner;
use crate::site::CheckSite;
use crate::worktree::stop_if_cancelled;
use crate::worktree::{Blob, Kind, MergeBase, Refs, Snapshot, WorkTree};

pub use change::{Change, What};
pub use error::BaselineError;
pub use stored_file::StoredFile;
pub use tool::Tool;

use stored_file::{Mark, Name};

/// The version of the form in which it is kept.
const VERSION: u32 = 1;

/// The largest file whose bytes are kept, in bytes; tests that are larger and not
/// committed cannot be laid over.
const MAX_FILE_BYTES: u64 = 16 << 20;

/// True if one of these checks looks at a baseline. Otherwise none is looked for.
pub fn is_wanted(policy: &Policy) -> bool {
    // Criteria have their commands from the baseline's files.
    let reads =
        |(name, check): (&String, &CheckPolicy)| name == CRITERIA && !check.files.is_empty();
    compares_tree(policy) || policy.checks.iter().any(reads)
}

/// True if one of these checks compares the tree with a baseline.
pub fn compares_tree(policy: &Policy) -> bool {
    policy.checks.iter().any(|(name, check)| {
        let tests = name == "tests" || name.starts_with("tests-");
        name == "integrity"
            || !check.tests.is_empty()
            || check.control && (tests || !check.shell && is_runner(&check.command))
    })
}

/// The origin of a baseline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Origin {
    /// It was taken by hand, or by a loop before its first agent acted.
    Taken,
    /// It was taken when an agent's session began, or when work of it was accepted. Not every
    /// request in a session is for a change.
    Session,
    /// The commit at which the checked out one left the default branch of the origin.
    MergeBase,
    /// The same, by a local branch that is called main or master.
    LocalBranch,
    /// The commit that was checked out when it was first needed.
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
    /// Bytes that no commit has, by their hash, as long as it was not kept.
    bytes: Arc<BTreeMap<String, Vec<u8>>>,
    /// The folder with the stored bytes.
    folder: Option<Arc<Path>>,
    /// The digest of the tree from which it was taken just now.
    tree: Option<Arc<str>>,
    /// The branches, work trees and stash of that moment; none if they are not known.
    refs: Option<Arc<Refs>>,
}

/// The content; its digest is the baseline's name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Body {
    version: u32,
    origin: Origin,
    /// When it was taken (RFC 3339, UTC), as the caller gives it.
    time: String,
    commit: String,
    /// The files that stood otherwise than in the commit; none of one that was gone.
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
    /// Submodules that stood at another commit than this one says.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    submodules: BTreeMap<String, String>,
    /// Files of which an earlier version put older texts into it. It is no baseline of a tree that
    /// ever was.
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
    /// The tree as it stands at this moment. None outside of git, and before the first commit.
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

    /// The same for a session, whose agent does not wait for ever: soon after the
    /// cancellation it ends, and nothing was taken.
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
        let Some((unlike, now)) = tree.uncommitted(cancel)? else { return Ok(None) };
        let Some(commit) = now.head.clone() else { return Ok(None) };
        let (mut dirty, mut bytes) = (BTreeMap::new(), BTreeMap::new());
        for name in unlike {
            stop_if_cancelled(cancel)?;
            let file =
                now.file(&stored_file::path(&name)).filter(|file| file.kind() != Kind::Unreadable);
            if let Some(file) = file
                && let Some((hash, read)) = raw(&tree, file.path())
            {
                bytes.insert(hash, read);
            }
            dirty.insert(Name(name), file.map(Mark::new));
        }
        let guarded = now
            .fitting(|path| path.to_str().is_some_and(|path| guarded(path).is_some()), cancel)?
            .into_iter();
        let guarded = guarded.map(|file| (Name::new(file.path()), Mark::new(file))).collect();
        let tools = tool::configured(policy, site);
        let watched = watched::watched(&tree);
        let harness = harness::harness(&tree, &now);
        let submodules = watched::moved_submodules(&tree, &commit)?;
        let body = Body::of_commit(commit, origin, time);
        let body = Body { dirty, guarded, tools, watched, harness, submodules, ..body };
        let refs = tree.refs().map(Arc::new);
        let tree = Some(now.digest().into());
        Ok(Some(Self { tree, refs, ..Self::new(body, bytes) }))
    }

    /// The commit at which the checked out one left the default branch, else the checked out one.
    /// None outside of git, and before the first commit.
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

    /// The tree of another work tree of the repository when a session began that works there now:
    /// what was checked out there, or the commit at which it left the session's own tree. None if
    /// that is not known.
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

    /// True if it has files of tests.
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

    /// Its name: `blake3:` and 64 hex digits over all its content but the time.
    pub fn digest(&self) -> &str {
        &self.digest
    }

    /// The origin of this baseline.
    pub fn origin(&self) -> Origin {
        self.body.origin
    }

    /// True if it was taken from git's history.
    pub fn is_from_history(&self) -> bool {
        !matches!(self.body.origin, Origin::Taken | Origin::Session)
    }

    /// The agent's commits may be in a baseline of the history, but for one of another tree.
    pub fn is_before_turn(&self) -> bool {
        !self.is_from_history() || self.body.origin == Origin::OtherTree
    }

    /// The branches, work trees and stash of the repository at that moment; none if they are not
    /// known.
    pub fn refs(&self) -> Option<&Refs> {
        self.refs.as_deref()
    }

    /// True if its commit is that of the checkout or depends on a local branch. Anybody who works
    /// in the repository can move both.
    pub fn is_movable(&self) -> bool {
        matches!(self.body.origin, Origin::LocalBranch | Origin::Head)
    }

    /// The commit below it, by its full name.
    pub fn commit(&self) -> &str {
        &self.body.commit
    }

    /// The digest of the tree from which it was taken just now, as checks report it; none if it was
    /// stored, or is from history.
    pub fn tree(&self) -> Option<&str> {
        self.tree.as_deref()
    }

    /// When it was taken (RFC 3339, UTC).
    pub fn time(&self) -> &str {
        &self.body.time
    }

    /// The number of guarded files with a raw hash.
    pub fn guarded_files(&self) -> usize {
        self.body.guarded.len()
    }

    /// The programs that the checks' commands named, as they were.
    pub fn tools(&self) -> &[Tool] {
        &self.body.tools
    }

    /// A file as the baseline has it, if it does. The name is relative to the root.
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

    /// Several files, each as the baseline has it, if it does.
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
    pub fn lay_out(&self, tree: &WorkTree, into: &Path) -> Result<(), BaselineError> {
        for (name, blob) in self.files(tree)? {
            let path = stored_file::path(&name);
            if !self.body.dirty.contains_key(&Name::new(&path)) {
                self.committed(tree, &path, &blob)?.write(&into.join(path))?;
            }
        }
        for (name, mark) in &self.body.dirty {
            if let Some(mark) = mark {
                self.bytes_of(mark, &name.path())?.write(&into.join(name.path()))?;
            }
        }
        Ok(())
    }

    /// The folders, relative to the root, in which its commit has a file of this name.
    ///
    /// # Errors
    ///
    /// A commit that is gone.
    pub fn folders_with(&self, tree: &WorkTree, name: &str) -> Result<Vec<PathBuf>, BaselineError> {
        let paths = self.files(tree)?.into_keys().map(|file| stored_file::path(&file));
        let named = paths.filter(|path| path.file_name().is_some_and(|file| file == name));
        Ok(named.filter_map(|path| path.parent().map(Path::to_owned)).collect())
    }

    /// The files of the commit.
    fn files(&self, tree: &WorkTree) -> Result<BTreeMap<Vec<u8>, Blob>, BaselineError> {
        tree.files_of(&self.body.commit)?
            .ok_or_else(|| BaselineError::NoRepository { root: tree.root().to_owned() })
    }

    /// A file that was as the commit has it: the raw bytes, if they are known.
    fn committed(
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

    /// Bytes that no commit has.
    fn bytes_of(&self, mark: &Mark, path: &Path) -> Result<StoredFile, BaselineError> {
        let kept = self.folder.as_ref().and_then(|folder| fs::read(folder.join(&mark.hash)).ok());
        let bytes = self.bytes.get(&mark.hash).cloned().or(kept);
        let bytes = bytes.filter(|bytes| mark.is_of(bytes));
        Ok(StoredFile { bytes: bytes.ok_or_else(|| lost(path))?, kind: mark.kind })
    }
}

fn lost(path: &Path) -> BaselineError {
    BaselineError::Lost { path: path.to_owned() }
}

/// Reads files as they were at the baseline.
pub(crate) struct Reader<'a> {
    baseline: &'a Baseline,
    tree: &'a WorkTree,
    files: BTreeMap<Vec<u8>, Blob>,
}

impl Reader<'_> {
    /// True if the commit has files below a folder.
    pub(crate) fn has_folder(&self, folder: &Path) -> bool {
        let prefix = [stored_file::bytes(folder), b"/"].concat();
        let mut from = self.files.range(prefix.clone()..);
        from.next().is_some_and(|(name, _)| name.starts_with(&prefix))
    }

    /// As [`Baseline::content`].
    pub(crate) fn content(&self, path: &Path) -> Result<Option<StoredFile>, BaselineError> {
        match self.baseline.body.dirty.get(&Name::new(path)) {
            Some(None) => Ok(None),
            Some(Some(mark)) => self.baseline.bytes_of(mark, path).map(Some),
            None => match self.files.get(stored_file::bytes(path)) {
                Some(blob) => self.baseline.committed(self.tree, path, blob).map(Some),
                None => Ok(None),
            },
        }
    }
}

/// The bytes of a file that is not too large, and their hash.
fn raw(tree: &WorkTree, path: &Path) -> Option<(String, Vec<u8>)> {
    let about = tree.root().join(path).symlink_metadata().ok()?;
    let bytes = (about.len() <= MAX_FILE_BYTES).then(|| tree.bytes(path)).flatten()?;
    Some((blake3::hash(&bytes).to_hex().to_string(), bytes))
}

/// The folder of a tree's baselines.
fn folder(site: &CheckSite, tree: &WorkTree) -> Option<PathBuf> {
    Some(crate::store::tree_folder(site.state.as_ref()?, tree.root()).join("baseline"))
}

/// The kind of a file, by which two snapshots of a baseline's tree are compared.
fn kind_of(now: &Snapshot, path: &Path) -> Option<Kind> {
    now.file(path).map(crate::worktree::File::kind)
}
