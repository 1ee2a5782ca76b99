//! Compares the commit with the index, and the index with the files.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::path::Path;

use super::blob::{BlobNames, ObjectFormat, name_file};
use super::settings::Settings;
use crate::cancellation::Cancellation;
use crate::worktree::content::ContentReader;
use crate::worktree::error::WorktreeError;
use crate::worktree::file::{File, Kind};
use crate::worktree::git::Git;
use crate::worktree::index::{GitEntries, GitEntry};
use crate::worktree::names::path;
use crate::worktree::parallel;
use crate::worktree::repository::{Repository, is_folder};
use crate::worktree::snapshot::OrderedLookup;
use crate::worktree::tree_scan::TreeScan;
use crate::worktree::walk::RealFolders;

const LINK: u32 = 0o120_000;
const EXECUTABLE: u32 = 0o100_755;

/// One repository's index beside its files.
pub(super) struct IndexCheck<'c> {
    pub(super) root: &'c Path,
    pub(super) scan: &'c TreeScan,
    pub(super) repository: &'c Repository,
    pub(super) settings: &'c Settings,
}

/// The result; names are relative to the repository.
#[derive(Debug, Default)]
pub(super) struct Comparison {
    /// Files that differ from the index.
    pub(super) edited: Vec<Vec<u8>>,
    /// Plain files whose bytes differ from those of the blob.
    pub(super) doubtful: Vec<DoubtfulFile>,
    /// Files that a sparse checkout leaves out.
    pub(super) sparse: Vec<Vec<u8>>,
}

/// A plain file whose bytes differ from those of the blob. It is clean if git stores it in another
/// form.
#[derive(Debug)]
pub(super) struct DoubtfulFile {
    pub(super) path: Vec<u8>,
    /// The blob's name.
    pub(super) object: Vec<u8>,
}

/// A file that has to have the bytes of a blob.
struct Pair<'e> {
    entry: GitEntry<'e>,
    file: Cow<'e, File>,
}

impl Pair<'_> {
    fn format(&self) -> ObjectFormat {
        ObjectFormat::detect(self.entry.object)
    }

    /// The name of the file's bytes, if it is known.
    fn name<'b>(&self, names: &'b mut BlobNames) -> Option<&'b [u8]> {
        names.find(self.format(), self.file.hash())
    }
}

impl<'c> IndexCheck<'c> {
    /// Compares every file with its entry.
    pub(super) fn compare_files(
        &self,
        names: &mut BlobNames,
        cancel: &Cancellation,
    ) -> Result<Comparison, WorktreeError> {
        let mut comparison = Comparison::default();
        let mut pairs = Vec::new();
        let mut folders = RealFolders::new(self.root);
        let mut scanned = self.scan.snapshot.ordered_lookup();
        let files =
            self.repository.index.iter().filter(|entry| entry.stage == 0 && !entry.is_submodule());
        for entry in files {
            match self.find_file(entry, &mut scanned, &mut folders) {
                None if entry.may_be_absent && self.settings.sparse => {
                    comparison.sparse.push(entry.path.to_vec());
                }
                Some(file) if self.has_kind(entry, &file) => pairs.push(Pair { entry, file }),
                _ => comparison.edited.push(entry.path.to_vec()),
            }
        }
        let mut unnamed = Vec::new();
        for pair in pairs {
            match pair.name(names) {
                Some(name) if name == pair.entry.object => {}
                Some(_) => comparison.add_difference(&pair),
                None => unnamed.push(pair),
            }
        }
        self.name_files(&unnamed, names, cancel)?;
        // A file that could not be read has no name, and equals no blob.
        for pair in unnamed {
            if pair.name(names) != Some(pair.entry.object) {
                comparison.add_difference(&pair);
            }
        }
        Ok(comparison)
    }

    /// The file of an entry. Settings may keep it out of the snapshot: then it is read here.
    fn find_file(
        &self,
        entry: GitEntry<'_>,
        scanned: &mut OrderedLookup<'c>,
        folders: &mut RealFolders<'_>,
    ) -> Option<Cow<'c, File>> {
        let full_path = self.full_path(entry.path);
        if let Some(file) = scanned.file(&full_path) {
            return Some(Cow::Borrowed(file));
        }
        let file = folders.find_file(&full_path)?;
        let (kind, hash) =
            ContentReader::new().read_content(&self.root.join(path(&full_path)), &file.stat);
        Some(Cow::Owned(File::new(file.path, kind, hash)))
    }

    /// The path relative to the root.
    fn full_path<'p>(&self, path: &'p [u8]) -> Cow<'p, [u8]> {
        match self.repository.prefix.as_slice() {
            [] => Cow::Borrowed(path),
            prefix => Cow::Owned([prefix, path].concat()),
        }
    }

    /// A file is of the kind that the index has.
    ///
    /// On a file system without executable bits every file has one, and without links a link is a
    /// plain file. The setting that says so counts only if the tree looks like that.
    fn has_kind(&self, entry: GitEntry<'_>, file: &File) -> bool {
        match (entry.mode, file.kind()) {
            (LINK, Kind::Link) => true,
            (LINK, Kind::Plain | Kind::Executable) => {
                self.settings.no_symlinks && self.has_no(Kind::Link)
            }
            (mode, Kind::Plain) => mode != EXECUTABLE && mode != LINK,
            (mode, Kind::Executable) => {
                mode == EXECUTABLE || self.settings.no_file_mode && self.has_no(Kind::Plain)
            }
            _ => false,
        }
    }

    fn has_no(&self, kind: Kind) -> bool {
        self.scan.snapshot.files().all(|file| file.kind() != kind)
    }

    /// Names the bytes of files, and remembers the names.
    fn name_files(
        &self,
        pairs: &[Pair<'_>],
        names: &mut BlobNames,
        cancel: &Cancellation,
    ) -> Result<(), WorktreeError> {
        let results = parallel::map(pairs.len(), cancel, ContentReader::new, |reader, index| {
            let pair = &pairs[index];
            let path = self.root.join(pair.file.path());
            let format = pair.format();
            name_file(reader, &path, pair.file.kind(), format).map(|named| (format, named))
        })?;
        for (format, named) in results.into_iter().flatten() {
            names.add(format, &named);
        }
        Ok(())
    }

    /// Submodules that are gone, or whose checked out commit is another than the index says. A
    /// submodule that was never opened is an empty folder.
    pub(super) fn moved_submodules(
        &self,
        git: &Git,
        cancel: &Cancellation,
    ) -> Result<Vec<Vec<u8>>, WorktreeError> {
        let mut moved = Vec::new();
        for module in
            self.repository.index.iter().filter(|entry| entry.is_submodule() && entry.stage == 0)
        {
            let prefix = [&*self.full_path(module.path), &b"/"[..]].concat();
            let submodule =
                self.scan.repositories.iter().find(|repository| repository.prefix == prefix);
            let is_unmoved = match submodule {
                Some(submodule) => submodule
                    .head(git, cancel)?
                    .is_some_and(|head| head.as_bytes() == module.object),
                None => is_folder(&self.repository.folder, module.path),
            };
            if !is_unmoved {
                moved.push(module.path.to_vec());
            }
        }
        Ok(moved)
    }
}

impl Comparison {
    fn add_difference(&mut self, pair: &Pair<'_>) {
        let path = pair.entry.path.to_vec();
        // Git stores no link in another form.
        if pair.entry.mode == LINK {
            self.edited.push(path);
        } else {
            self.doubtful.push(DoubtfulFile { path, object: pair.entry.object.to_vec() });
        }
    }
}

/// The files in which two lists differ, such as a commit's tree and the index. A merge that was not
/// ended is a difference, whatever its sides say.
pub(in crate::worktree) fn differing_files(
    old_list: &GitEntries,
    new_list: &GitEntries,
) -> BTreeSet<Vec<u8>> {
    let (mut old_entries, mut new_entries) =
        (old_list.iter().peekable(), new_list.iter().peekable());
    let mut paths = BTreeSet::new();
    // Both lists are sorted by the same key: the lesser key is missing in the other list.
    loop {
        let order = match (old_entries.peek(), new_entries.peek()) {
            (None, None) => return paths,
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (Some(old), Some(new)) => old.sort_key().cmp(&new.sort_key()),
        };
        let old = if order.is_le() { old_entries.next() } else { None };
        let new = if order.is_ge() { new_entries.next() } else { None };
        if order.is_ne() {
            paths.extend(old.or(new).map(|entry| entry.path.to_vec()));
        }
    }
}

#[cfg(test)]
mod tests;
