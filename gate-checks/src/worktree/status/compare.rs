//! Compares the commit with the index, and the index with the files.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::path::Path;

use super::blob::{Blobs, Format, name_file};
use super::settings::Settings;
use crate::cancellation::Cancellation;
use crate::worktree::content::Reader;
use crate::worktree::error::WorktreeError;
use crate::worktree::file::{File, Kind};
use crate::worktree::git::Git;
use crate::worktree::index::{Entries, Entry};
use crate::worktree::names::path;
use crate::worktree::parallel;
use crate::worktree::repository::{Repository, is_folder};
use crate::worktree::snapshot::InOrder;
use crate::worktree::tree_scan::TreeScan;
use crate::worktree::walk::Folders;

const LINK: u32 = 0o120_000;
const EXECUTABLE: u32 = 0o100_755;

/// One repository's index beside its files.
pub(super) struct Compare<'c> {
    pub(super) root: &'c Path,
    pub(super) scan: &'c TreeScan,
    pub(super) repository: &'c Repository,
    pub(super) settings: &'c Settings,
}

/// The result; names are relative to the repository.
#[derive(Debug, Default)]
pub(super) struct Comparison {
    /// Files that are not what the index says.
    pub(super) edited: Vec<Vec<u8>>,
    /// Plain files whose bytes are others than those of the blob.
    pub(super) doubtful: Vec<Doubtful>,
    /// Files that a sparse checkout leaves out.
    pub(super) sparse: Vec<Vec<u8>>,
}

/// A plain file whose bytes are others than those of the blob.
#[derive(Debug)]
pub(super) struct Doubtful {
    pub(super) path: Vec<u8>,
    /// The blob's name.
    pub(super) object: Vec<u8>,
}

/// A file that has to have the bytes of a blob.
struct Pair<'e> {
    entry: Entry<'e>,
    file: Cow<'e, File>,
}

impl Pair<'_> {
    fn format(&self) -> Format {
        Format::detect(self.entry.object)
    }

    /// The name of the file's bytes, if it is known.
    fn named<'b>(&self, blobs: &'b mut Blobs) -> Option<&'b [u8]> {
        blobs.name(self.format(), self.file.hash())
    }
}

impl<'c> Compare<'c> {
    /// Compares every file with its entry.
    pub(super) fn look(
        &self,
        blobs: &mut Blobs,
        cancel: &Cancellation,
    ) -> Result<Comparison, WorktreeError> {
        let mut comparison = Comparison::default();
        let mut pairs = Vec::new();
        let mut folders = Folders::new(self.root);
        let mut known = self.scan.snapshot.in_order();
        let files =
            self.repository.index.iter().filter(|entry| entry.stage == 0 && !entry.is_submodule());
        for entry in files {
            match self.file(entry, &mut known, &mut folders) {
                None if entry.absent && self.settings.sparse => {
                    comparison.sparse.push(entry.path.to_vec());
                }
                Some(file) if self.same_kind(entry, &file) => pairs.push(Pair { entry, file }),
                _ => comparison.edited.push(entry.path.to_vec()),
            }
        }
        let mut unnamed = Vec::new();
        for pair in pairs {
            match pair.named(blobs) {
                Some(name) if name == pair.entry.object => {}
                Some(_) => comparison.doubt(&pair),
                None => unnamed.push(pair),
            }
        }
        self.name(&unnamed, blobs, cancel)?;
        // What could not be read has no name, and equals no blob.
        for pair in unnamed {
            if pair.named(blobs) != Some(pair.entry.object) {
                comparison.doubt(&pair);
            }
        }
        Ok(comparison)
    }

    /// The file of an entry. What the snapshot leaves out is looked at here.
    fn file(
        &self,
        entry: Entry<'_>,
        known: &mut InOrder<'c>,
        folders: &mut Folders<'_>,
    ) -> Option<Cow<'c, File>> {
        let full = self.full(entry.path);
        if let Some(file) = known.file(&full) {
            return Some(Cow::Borrowed(file));
        }
        let found = folders.look(&full)?;
        let (kind, hash) = Reader::new().look(&self.root.join(path(&full)), &found.stat);
        Some(Cow::Owned(File::new(found.path, kind, hash)))
    }

    fn full<'p>(&self, path: &'p [u8]) -> Cow<'p, [u8]> {
        match self.repository.prefix.as_slice() {
            [] => Cow::Borrowed(path),
            prefix => Cow::Owned([prefix, path].concat()),
        }
    }

    /// True if a file is of the kind that the index has.
    ///
    /// On a file system without executable bits every file has one, and without links a link is a
    /// plain file. The setting that says so counts only if the tree looks like that.
    fn same_kind(&self, entry: Entry<'_>, file: &File) -> bool {
        match (entry.mode, file.kind()) {
            (LINK, Kind::Link) => true,
            (LINK, Kind::Plain | Kind::Executable) => {
                self.settings.no_symlinks && self.none_is(Kind::Link)
            }
            (mode, Kind::Plain) => mode != EXECUTABLE && mode != LINK,
            (mode, Kind::Executable) => {
                mode == EXECUTABLE || self.settings.no_file_mode && self.none_is(Kind::Plain)
            }
            _ => false,
        }
    }

    fn none_is(&self, kind: Kind) -> bool {
        self.scan.snapshot.files().all(|file| file.kind() != kind)
    }

    /// Names the bytes of these files.
    fn name(
        &self,
        pairs: &[Pair<'_>],
        blobs: &mut Blobs,
        cancel: &Cancellation,
    ) -> Result<(), WorktreeError> {
        let read = parallel::each(pairs.len(), cancel, Reader::new, |reader, at| {
            let pair = &pairs[at];
            let path = self.root.join(pair.file.path());
            let format = pair.format();
            name_file(reader, &path, pair.file.kind(), format).map(|name| (format, name))
        })?;
        for (format, named) in read.into_iter().flatten() {
            blobs.learn(format, &named);
        }
        Ok(())
    }

    /// Submodules that are gone, or whose checked out commit is another than
    /// the index says. One that was never opened is an empty folder.
    pub(super) fn moved_submodules(
        &self,
        git: &Git,
        cancel: &Cancellation,
    ) -> Result<Vec<Vec<u8>>, WorktreeError> {
        let mut moved = Vec::new();
        for module in
            self.repository.index.iter().filter(|entry| entry.is_submodule() && entry.stage == 0)
        {
            let prefix = [&*self.full(module.path), &b"/"[..]].concat();
            let inner =
                self.scan.repositories.iter().find(|repository| repository.prefix == prefix);
            let as_said = match inner {
                Some(inner) => {
                    inner.head(git, cancel)?.is_some_and(|head| head.as_bytes() == module.object)
                }
                None => is_folder(&self.repository.folder, module.path),
            };
            if !as_said {
                moved.push(module.path.to_vec());
            }
        }
        Ok(moved)
    }
}

impl Comparison {
    fn doubt(&mut self, pair: &Pair<'_>) {
        let path = pair.entry.path.to_vec();
        if pair.entry.mode == LINK {
            self.edited.push(path);
        } else {
            self.doubtful.push(Doubtful { path, object: pair.entry.object.to_vec() });
        }
    }
}

/// The files in which the index differs from the commit. A merge that was not
/// ended is a difference, whatever its sides say.
pub(in crate::worktree) fn staged(tree: &Entries, index: &Entries) -> BTreeSet<Vec<u8>> {
    let (mut old, mut new) = (tree.iter().peekable(), index.iter().peekable());
    let mut paths = BTreeSet::new();
    loop {
        let order = match (old.peek(), new.peek()) {
            (None, None) => return paths,
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (Some(old), Some(new)) => old.key().cmp(&new.key()),
        };
        let one = if order.is_ge() { new.next() } else { None };
        let one = if order.is_le() { old.next() } else { one };
        if order.is_ne() {
            paths.extend(one.map(|entry| entry.path.to_vec()));
        }
    }
}

#[cfg(test)]
mod tests;
