//! Remembers the hash of every file that looks as it did, so that it need not
//! be read again.
//!
//! A file counts as unchanged where size, times, inode, device and mode are
//! the same. Times move in steps: a file that changed shortly before the
//! snapshot may change again without a trace, so such a file is not kept.
//!
//! A limit: a program that keeps a file mapped into its memory can write to it
//! again later, and no time moves.

use std::fs::Metadata;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use super::content::Reader;
use super::file::{File, Kind, Stat};
use super::walk::WalkedFile;

/// The first line, with the format's version.
const HEADER: &[u8] = b"gate stat cache 1\n";

/// Nanoseconds that must lie between a file's last change and the snapshot: the coarsest step
/// of a file system's clock.
const CLOCK_STEP_NANOS: i64 = 2_000_000_000;

/// The bytes of an entry without its name.
const FIXED: usize = 4 + 4 + 4 + 5 * 8 + 32;

/// The checksum's bytes.
const CHECK: usize = 32;

/// The hashes of an earlier snapshot, sorted by name.
pub(super) struct StatCache {
    bytes: Vec<u8>,
    at: usize,
    end: usize,
    /// The number of hashes that were found.
    known: usize,
    /// An entry did not match its file any more.
    is_stale: bool,
}

impl StatCache {
    /// Reads what was kept. What is damaged, or of another version, knows
    /// nothing.
    pub(super) fn read(bytes: Option<Vec<u8>>) -> Self {
        let bytes = bytes.unwrap_or_default();
        let whole = bytes.len().checked_sub(CHECK).filter(|end| {
            bytes.starts_with(HEADER) && blake3::hash(&bytes[..*end]).as_bytes() == &bytes[*end..]
        });
        Self { bytes, at: HEADER.len(), end: whole.unwrap_or_default(), known: 0, is_stale: false }
    }

    /// The hash of a file, if it is known. Lookups have to come in order.
    pub(super) fn hash(&mut self, found: &WalkedFile) -> Option<[u8; 32]> {
        while let Some((path, fixed)) = self.entry() {
            let order = path.cmp(&found.path);
            if order.is_gt() {
                return None;
            }
            let known = order.is_eq() && fixed[4..FIXED - 32] == stat_bytes(&found.stat);
            let hash = fixed[FIXED - 32..].try_into().ok();
            self.at += FIXED + path.len();
            self.is_stale |= !known;
            self.known += usize::from(known);
            if order.is_eq() {
                return if known { hash } else { None };
            }
        }
        None
    }

    /// True if the cache has exactly the `files` files that were looked up.
    pub(super) fn is_of(&self, files: usize) -> bool {
        self.at == self.end && !self.is_stale && self.known == files
    }

    fn entry(&self) -> Option<(&[u8], &[u8])> {
        let rest = self.bytes.get(self.at..self.end)?;
        let fixed = rest.get(..FIXED)?;
        let length = u32::from_le_bytes(fixed[..4].try_into().ok()?);
        let path = rest.get(FIXED..FIXED + usize::try_from(length).ok()?)?;
        Some((path, fixed))
    }

    /// The bytes to store for the next time, if they differ from the stored ones.
    pub(super) fn renewed(&self, stats: &[Stat], files: &[File], taken: i64) -> Option<Vec<u8>> {
        let mut bytes = Vec::with_capacity(self.bytes.len().max(files.len() * 160));
        bytes.extend_from_slice(HEADER);
        for (stat, file) in stats.iter().zip(files) {
            if keeps(file.kind(), stat, taken) {
                let length = u32::try_from(file.bytes().len()).ok()?;
                bytes.extend_from_slice(&length.to_le_bytes());
                bytes.extend_from_slice(&stat_bytes(stat));
                bytes.extend_from_slice(file.hash());
                bytes.extend_from_slice(file.bytes());
            }
        }
        if self.bytes.get(..self.end).is_some_and(|old| old == bytes) {
            return None;
        }
        let check = blake3::hash(&bytes);
        bytes.extend_from_slice(check.as_bytes());
        Some(bytes)
    }
}

/// True if the file cannot have changed after it was read without a trace in its metadata.
fn keeps(kind: Kind, stat: &Stat, taken: i64) -> bool {
    let settled = stat.mtime.max(stat.ctime) < taken.saturating_sub(CLOCK_STEP_NANOS);
    settled && matches!(kind, Kind::Plain | Kind::Executable | Kind::Link)
}

fn stat_bytes(stat: &Stat) -> [u8; FIXED - 36] {
    let mut bytes = [0; FIXED - 36];
    bytes[..4].copy_from_slice(&stat.mode.to_le_bytes());
    let words = [stat.size, stat.mtime.cast_unsigned(), stat.ctime.cast_unsigned()];
    let words = words.into_iter().chain([stat.inode, stat.device]);
    for (at, word) in words.enumerate() {
        bytes[8 + at * 8..16 + at * 8].copy_from_slice(&word.to_le_bytes());
    }
    bytes
}

/// The present moment in nanoseconds since 1970, as files' times are given.
pub(super) fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_nanos()).unwrap_or(i64::MAX)
}

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
