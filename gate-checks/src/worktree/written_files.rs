//! A stat cache for files that gate itself has written into a workspace, by the same rules as
//! for a tree.

use std::fs::Metadata;
use std::path::Path;

use super::content::Reader;
use super::file::{File, Kind};
use super::stat::Stat;
use super::stat_cache::{StatCache, now};
use super::walk::WalkedFile;

/// The files of a folder, which are looked up in the order of their names.
///
/// A file is read unless it is known to be unchanged since it was last read.
pub(crate) struct WrittenFiles {
    earlier: StatCache,
    reader: Reader,
    stats: Vec<Stat>,
    files: Vec<File>,
    taken: i64,
}

impl WrittenFiles {
    /// Parses the bytes of an earlier [`Self::renewed`].
    pub(crate) fn read(kept: Option<Vec<u8>>) -> Self {
        Self {
            earlier: StatCache::read(kept),
            reader: Reader::new(),
            stats: Vec::new(),
            files: Vec::new(),
            taken: now(),
        }
    }

    /// The kind and hash of the file at `path`, which has this name in the workspace.
    pub(crate) fn look(&mut self, name: &[u8], path: &Path, about: &Metadata) -> (Kind, [u8; 32]) {
        let found = WalkedFile { path: name.into(), stat: Stat::new(about) };
        match self.earlier.hash(&found) {
            Some(hash) => (found.stat.kind(), hash),
            None => self.reader.look(path, &found.stat),
        }
    }

    /// Remembers what stands at a path of this name by now.
    pub(crate) fn remember(&mut self, name: &[u8], hash: [u8; 32], about: &Metadata) {
        let stat = Stat::new(about);
        self.files.push(File::new(name.into(), stat.kind(), hash));
        self.stats.push(stat);
    }

    /// The bytes to store, if they differ from the stored ones.
    pub(crate) fn renewed(&self) -> Option<Vec<u8>> {
        self.earlier.renewed(&self.stats, &self.files, self.taken)
    }
}
