//! The work tree at one moment, and the changes between two.

use std::cmp::Ordering;
use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use gate_core::decide::iteration_facts::TreeState;

use super::error::WorktreeError;
use super::file::{File, Kind};
use super::globs::Globs;
use super::names::{prefix_of, shown};
use super::parallel;
use super::refs;
use crate::cancellation::Cancellation;

/// The files of the work tree at one moment.
///
/// A clone shares the list of files.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot {
    /// `blake3:` and 64 hex digits over the names, kinds and bytes of all
    /// files. Neither times nor anything that git keeps go into it.
    pub digest: String,
    /// The commit that is checked out. None outside of git, and before the first commit.
    pub head: Option<String>,
    /// A digest of git's index: of modes, blobs, stages and names. None
    /// outside of git.
    pub index: Option<String>,
    root: Arc<Path>,
    files: Arc<Vec<File>>,
    /// Indices of the links among the files.
    links: Arc<[usize]>,
}

/// Finds files whose names come in order, each where the one before ended.
pub(super) struct InOrder<'s> {
    snapshot: &'s Snapshot,
    at: usize,
}

impl<'s> InOrder<'s> {
    /// The file of this name, relative to the root.
    pub(super) fn file(&mut self, path: &[u8]) -> Option<&'s File> {
        let files = &self.snapshot.files;
        let is_next = files.get(self.at).is_some_and(|file| file.bytes() == path);
        if !is_next {
            self.at = files.binary_search_by(|file| file.bytes().cmp(path)).ok()?;
        }
        self.at += 1;
        files.get(self.at - 1)
    }
}

/// The differences of a later snapshot. Names are relative to the root, sorted, and safe to
/// print.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    /// Files whose bytes or kind are different.
    pub changed: Vec<String>,
    /// Files that are gone.
    pub vanished: Vec<String>,
    /// Files that are new.
    pub appeared: Vec<String>,
}

impl Snapshot {
    /// True if a symbolic link leads to something that the snapshot does not hold: out of the
    /// tree, into `.git`, to an ignored file, a cache or a missing file, directly or through other
    /// links.
    pub(crate) fn has_links_out(&self) -> bool {
        self.links().any(|link| !Resolver::new(self).ends_inside(link.path()))
    }

    /// A snapshot of these files, which are sorted by name.
    pub(super) fn new(root: Arc<Path>, files: Vec<File>) -> Self {
        let digest = digest(files.iter().map(|file| (file.bytes(), file)));
        let links = (0..files.len()).filter(|at| files[*at].kind() == Kind::Link).collect();
        Self { digest, head: None, index: None, root, files: Arc::new(files), links }
    }

    /// The state that it shows: its files, the commit below them, and where the
    /// branches stand by now.
    pub(crate) fn state(&self) -> TreeState {
        TreeState {
            digest: self.digest.clone(),
            head: self.head.clone(),
            branches: self.head.as_ref().and_then(|_| refs::digest(&self.root)),
        }
    }

    /// The digest of its files.
    pub(crate) fn digest(&self) -> &str {
        &self.digest
    }

    /// Its topmost folder.
    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// The symbolic links among the files.
    pub(super) fn links(&self) -> impl Iterator<Item = &File> {
        self.links.iter().filter_map(|at| self.files.get(*at))
    }

    pub(super) fn has_folder(&self, folder: &Path) -> bool {
        let prefix = folder.join("");
        let prefix = prefix.as_os_str().as_bytes();
        let at = self.files.partition_point(|file| file.bytes() < prefix);
        self.files.get(at).is_some_and(|file| file.bytes().starts_with(prefix))
    }

    /// The files, sorted by the bytes of their names.
    pub fn files(&self) -> impl Iterator<Item = &File> {
        self.files.iter()
    }

    /// The file of this name, relative to the root.
    pub fn file(&self, path: &Path) -> Option<&File> {
        let path = path.as_os_str().as_bytes();
        let at = self.files.binary_search_by(|file| file.bytes().cmp(path)).ok()?;
        self.files.get(at)
    }

    /// The files whose names fit, found on all processors.
    ///
    /// # Errors
    ///
    /// Nobody waits for it any more.
    pub(crate) fn fitting(
        &self,
        fits: impl Fn(&Path) -> bool + Sync,
        cancel: &Cancellation,
    ) -> Result<Vec<&File>, WorktreeError> {
        let fitting =
            parallel::each(self.files.len(), cancel, || (), |(), at| fits(self.files[at].path()))?;
        Ok(self.files.iter().zip(fitting).filter_map(|(file, fits)| fits.then_some(file)).collect())
    }

    /// For names that come in order.
    pub(super) fn in_order(&self) -> InOrder<'_> {
        InOrder { snapshot: self, at: 0 }
    }

    /// The differences of a later snapshot.
    pub fn changes_to(&self, later: &Self) -> Changes {
        let mut changes = Changes::default();
        let (mut old, mut new) = (self.files.iter().peekable(), later.files.iter().peekable());
        loop {
            let order = match (old.peek(), new.peek()) {
                (None, None) => return changes,
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (Some(old), Some(new)) => old.bytes().cmp(new.bytes()),
            };
            let before = if order.is_le() { old.next() } else { None };
            let after = if order.is_ge() { new.next() } else { None };
            changes.note(before, after);
        }
    }

    /// The digest that it would have without the file of this name, relative to the
    /// root.
    pub fn digest_without(&self, path: &Path) -> String {
        let others = self.files.iter().filter(|file| file.path() != path);
        digest(others.map(|file| (file.bytes(), file)))
    }

    /// The digest of the files that match these globs.
    ///
    /// Globs are relative to the project's folder, which lies in the tree: `*`
    /// stays in a folder, `**` crosses, and a glob that matches a folder means
    /// all that is in it.
    ///
    /// # Errors
    ///
    /// A glob that cannot be read or that leaves the project, and a project
    /// outside of the tree.
    pub fn digest_of(&self, project: &Path, globs: &[String]) -> Result<String, WorktreeError> {
        let prefix = prefix_of(project, &self.root)?;
        let globs = Globs::new(globs)?;
        let inside = self.files.iter().filter_map(|file| {
            let path = file.bytes().strip_prefix(prefix.as_slice())?;
            globs.matches(path).then_some((path, file))
        });
        Ok(digest(inside))
    }
}

impl Changes {
    /// True if nothing differs.
    pub fn is_empty(&self) -> bool {
        self.changed.is_empty() && self.vanished.is_empty() && self.appeared.is_empty()
    }

    /// True if an existing file was changed or removed.
    pub fn touches_what_was(&self) -> bool {
        !(self.changed.is_empty() && self.vanished.is_empty())
    }

    fn note(&mut self, before: Option<&File>, after: Option<&File>) {
        match (before, after) {
            (Some(before), None) => self.vanished.push(shown(before.bytes())),
            (None, Some(after)) => self.appeared.push(shown(after.bytes())),
            (Some(before), Some(after)) if before != after => {
                self.changed.push(shown(after.bytes()));
            }
            _ => {}
        }
    }
}

fn digest<'f>(files: impl Iterator<Item = (&'f [u8], &'f File)>) -> String {
    let mut hasher = blake3::Hasher::new();
    let mut batch = Vec::with_capacity(HASH_BATCH_BYTES + 4096);
    for (path, file) in files {
        batch.extend_from_slice(&(path.len() as u64).to_le_bytes());
        batch.extend_from_slice(path);
        batch.push(file.kind().mark());
        batch.extend_from_slice(file.hash());
        if batch.len() >= HASH_BATCH_BYTES {
            hasher.update(&batch);
            batch.clear();
        }
    }
    hasher.update(&batch);
    format!("blake3:{}", hasher.finalize())
}

/// Bytes that are hashed at once; many small updates are slow.
const HASH_BATCH_BYTES: usize = 1 << 16;

/// The most links that one name may lead through, as in the kernel.
const HOPS: usize = 40;

/// A name that is followed part by part, as the system does.
struct Resolver<'s> {
    snapshot: &'s Snapshot,
    /// The path up to here, relative to the root.
    at: PathBuf,
    /// The parts of the path that remain.
    parts: VecDeque<OsString>,
    hops: usize,
}

impl<'s> Resolver<'s> {
    fn new(snapshot: &'s Snapshot) -> Self {
        Self { snapshot, at: PathBuf::new(), parts: VecDeque::new(), hops: 0 }
    }

    fn ends_inside(mut self, name: &Path) -> bool {
        self.turn(name);
        while let Some(part) = self.parts.pop_front() {
            if !self.step(&part) {
                return false;
            }
        }
        true
    }

    /// Puts the parts of a path before the remaining ones.
    fn turn(&mut self, name: &Path) {
        for part in name.components().rev().filter(|part| *part != Component::CurDir) {
            self.parts.push_front(part.as_os_str().to_owned());
        }
    }

    /// Takes the next part. False if the path leaves the snapshot's files.
    fn step(&mut self, part: &OsStr) -> bool {
        if part == ".." {
            return self.at.pop();
        }
        self.at.push(part);
        match self.snapshot.file(&self.at).map(File::kind) {
            Some(Kind::Link) => self.follow().is_some(),
            Some(_) => true,
            None => self.snapshot.has_folder(&self.at),
        }
    }

    /// Replaces the link with its target.
    fn follow(&mut self) -> Option<()> {
        let root = self.snapshot.root();
        let target = fs::read_link(root.join(&self.at)).ok()?;
        self.hops += 1;
        if self.hops > HOPS {
            return None;
        }
        self.at.pop();
        if target.is_absolute() {
            self.at.clear();
            self.turn(target.strip_prefix(root).ok()?);
        } else {
            self.turn(&target);
        }
        Some(())
    }
}

#[cfg(test)]
mod tests;
