//! The work tree at one moment, and the changes between two.

use std::cmp::Ordering;
use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use gate_core::decide::iteration_facts::TreeState;
use gate_platform::git_name;

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
    /// The commit that is checked out. `None` outside of git, and before the first commit.
    pub head: Option<String>,
    /// A digest of git's index: of modes, blobs, stages and names. `None` outside of git.
    pub index: Option<String>,
    root: Arc<Path>,
    files: Arc<Vec<File>>,
    /// Indices of the links among the files.
    links: Arc<[usize]>,
}

/// Finds files whose names come in order: mostly, the next name is that of the next file.
pub(super) struct OrderedLookup<'s> {
    snapshot: &'s Snapshot,
    /// The index of the file after the one that was found last.
    next: usize,
}

impl<'s> OrderedLookup<'s> {
    /// The file of this name, relative to the root.
    pub(super) fn file(&mut self, path: &[u8]) -> Option<&'s File> {
        let files = &self.snapshot.files;
        let is_next = files.get(self.next).is_some_and(|file| file.path_bytes() == path);
        let index = match is_next {
            true => self.next,
            false => files.binary_search_by(|file| file.path_bytes().cmp(path)).ok()?,
        };
        self.next = index + 1;
        files.get(index)
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
    /// A symbolic link leads to something that the snapshot does not hold: out of the tree, into `.git`,
    /// to an ignored file, a cache or a missing file, directly or through other links.
    pub(crate) fn has_links_out(&self) -> bool {
        self.links().any(|link| !Resolver::new(self).leads_inside(link.path()))
    }

    /// A snapshot of these files, which are sorted by name.
    pub(super) fn new(root: Arc<Path>, files: Vec<File>) -> Self {
        let digest = digest(files.iter().map(|file| (file.path_bytes(), file)));
        let links = (0..files.len()).filter(|index| files[*index].kind() == Kind::Link).collect();
        Self { digest, head: None, index: None, root, files: Arc::new(files), links }
    }

    /// The state of the tree: its files, the commit below them, and where the
    /// branches stand by now.
    pub(crate) fn state(&self) -> TreeState {
        TreeState {
            digest: self.digest.clone(),
            head: self.head.clone(),
            branches: self.head.as_ref().and_then(|_| refs::digest(&self.root)),
        }
    }

    /// The digest of all files.
    pub(crate) fn digest(&self) -> &str {
        &self.digest
    }

    /// The topmost folder of the tree.
    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// The symbolic links among the files.
    pub(super) fn links(&self) -> impl Iterator<Item = &File> {
        self.links.iter().filter_map(|index| self.files.get(*index))
    }

    pub(super) fn has_folder(&self, folder: &Path) -> bool {
        // Joined with an empty name, it ends with a slash.
        let prefix = folder.join("");
        let prefix = git_name(&prefix);
        let first = self.files.partition_point(|file| file.path_bytes() < prefix.as_ref());
        self.files.get(first).is_some_and(|file| file.path_bytes().starts_with(&prefix))
    }

    /// The files, sorted by the bytes of their names.
    pub fn files(&self) -> impl Iterator<Item = &File> {
        self.files.iter()
    }

    /// The file of this name, relative to the root.
    pub fn file(&self, path: &Path) -> Option<&File> {
        let path = git_name(path);
        let index = self.files.binary_search_by(|file| file.path_bytes().cmp(&path)).ok()?;
        self.files.get(index)
    }

    /// The files whose names fit, sought on all processors.
    ///
    /// # Errors
    ///
    /// Nobody waits for it any more.
    pub(crate) fn files_that_fit(
        &self,
        fits: impl Fn(&Path) -> bool + Sync,
        cancel: &Cancellation,
    ) -> Result<Vec<&File>, WorktreeError> {
        let work = |(): &mut (), index: usize| fits(self.files[index].path());
        let verdicts = parallel::map(self.files.len(), cancel, || (), work)?;
        let files = self.files.iter().zip(verdicts);
        Ok(files.filter_map(|(file, fits)| fits.then_some(file)).collect())
    }

    /// A lookup for names that come in order.
    pub(super) fn ordered_lookup(&self) -> OrderedLookup<'_> {
        OrderedLookup { snapshot: self, next: 0 }
    }

    /// The differences of a later snapshot.
    pub fn changes_to(&self, later: &Self) -> Changes {
        let mut changes = Changes::default();
        let mut old_files = self.files.iter().peekable();
        let mut new_files = later.files.iter().peekable();
        // Both lists are sorted by name: the lesser name is missing in the other list.
        loop {
            let order = match (old_files.peek(), new_files.peek()) {
                (None, None) => return changes,
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (Some(old), Some(new)) => old.path_bytes().cmp(new.path_bytes()),
            };
            let old_file = if order.is_le() { old_files.next() } else { None };
            let new_file = if order.is_ge() { new_files.next() } else { None };
            changes.add(old_file, new_file);
        }
    }

    /// The digest of the snapshot without the file of this name, relative to the root.
    pub fn digest_without(&self, path: &Path) -> String {
        let remaining = self.files.iter().filter(|file| file.path() != path);
        digest(remaining.map(|file| (file.path_bytes(), file)))
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
        let matching = self.files.iter().filter_map(|file| {
            let path = file.path_bytes().strip_prefix(prefix.as_slice())?;
            globs.matches(path).then_some((path, file))
        });
        Ok(digest(matching))
    }
}

impl Changes {
    /// Nothing differs.
    pub fn is_empty(&self) -> bool {
        self.changed.is_empty() && self.vanished.is_empty() && self.appeared.is_empty()
    }

    /// A file that existed was changed or removed.
    pub fn touches_existing_files(&self) -> bool {
        !(self.changed.is_empty() && self.vanished.is_empty())
    }

    fn add(&mut self, old_file: Option<&File>, new_file: Option<&File>) {
        match (old_file, new_file) {
            (Some(old_file), None) => self.vanished.push(shown(old_file.path_bytes())),
            (None, Some(new_file)) => self.appeared.push(shown(new_file.path_bytes())),
            (Some(old_file), Some(new_file)) if old_file != new_file => {
                self.changed.push(shown(new_file.path_bytes()));
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
        batch.push(file.kind().digest_letter());
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
const MAX_LINK_HOPS: usize = 40;

/// A name that is followed part by part, as the system does.
struct Resolver<'s> {
    snapshot: &'s Snapshot,
    /// The path that was followed so far, relative to the root.
    followed: PathBuf,
    /// The parts of the path that remain.
    remaining: VecDeque<OsString>,
    link_hops: usize,
}

impl<'s> Resolver<'s> {
    fn new(snapshot: &'s Snapshot) -> Self {
        Self { snapshot, followed: PathBuf::new(), remaining: VecDeque::new(), link_hops: 0 }
    }

    fn leads_inside(mut self, name: &Path) -> bool {
        self.put_first(name);
        while let Some(part) = self.remaining.pop_front() {
            if !self.step(&part) {
                return false;
            }
        }
        true
    }

    /// Puts the parts of a path before the remaining ones.
    fn put_first(&mut self, name: &Path) {
        for part in name.components().rev().filter(|part| *part != Component::CurDir) {
            self.remaining.push_front(part.as_os_str().to_owned());
        }
    }

    /// Takes the next part, and returns if the path still leads through the snapshot's files.
    fn step(&mut self, part: &OsStr) -> bool {
        if part == ".." {
            return self.followed.pop();
        }
        self.followed.push(part);
        match self.snapshot.file(&self.followed).map(File::kind) {
            Some(Kind::Link) => self.follow().is_some(),
            Some(_) => true,
            None => self.snapshot.has_folder(&self.followed),
        }
    }

    /// Replaces the link with its target. `None` if that leads out of the tree.
    fn follow(&mut self) -> Option<()> {
        let root = self.snapshot.root();
        let target = fs::read_link(root.join(&self.followed)).ok()?;
        self.link_hops += 1;
        if self.link_hops > MAX_LINK_HOPS {
            return None;
        }
        // A relative target begins in the folder of the link.
        self.followed.pop();
        if target.is_absolute() {
            self.followed.clear();
            self.put_first(target.strip_prefix(root).ok()?);
        } else {
            self.put_first(&target);
        }
        Some(())
    }
}

#[cfg(test)]
mod tests;
