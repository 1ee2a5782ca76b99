//! Remembers the hash of every file, so that a file whose metadata has not changed need not be read
//! again.
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

use super::content::ContentReader;
use super::file::{File, Kind, Stat};
use super::walk::WalkedFile;

/// The first line, with the format's version.
const HEADER: &[u8] = b"gate stat cache 1\n";

/// Nanoseconds that must lie between a file's last change and the snapshot: the coarsest step
/// of a file system's clock.
const CLOCK_STEP_NANOS: i64 = 2_000_000_000;

/// The bytes of a hash, and of the checksum.
const HASH_BYTES: usize = 32;

/// The bytes of a file's metadata: the mode, four unused bytes, and five words.
const STAT_BYTES: usize = 4 + 4 + 5 * 8;

/// The bytes of an entry before its name: the name's length, the metadata, the hash.
const ENTRY_HEAD_BYTES: usize = 4 + STAT_BYTES + HASH_BYTES;

/// The hashes of an earlier snapshot, sorted by name.
pub(super) struct StatCache {
    bytes: Vec<u8>,
    /// The byte at which the next entry begins.
    next: usize,
    /// The byte behind the last entry.
    end: usize,
    /// The number of hashes that were found.
    hits: usize,
    /// An entry did not match its file any more.
    is_stale: bool,
}

impl StatCache {
    /// Reads the stored bytes. A cache that is damaged, or of another version, counts as empty.
    pub(super) fn read(bytes: Option<Vec<u8>>) -> Self {
        let bytes = bytes.unwrap_or_default();
        let end = bytes.len().checked_sub(HASH_BYTES).filter(|end| {
            bytes.starts_with(HEADER) && blake3::hash(&bytes[..*end]).as_bytes() == &bytes[*end..]
        });
        Self { bytes, next: HEADER.len(), end: end.unwrap_or_default(), hits: 0, is_stale: false }
    }

    /// The hash of a file, if it is known. Lookups have to come in order.
    pub(super) fn hash(&mut self, file: &WalkedFile) -> Option<[u8; HASH_BYTES]> {
        while let Some(entry) = CacheEntry::parse(self.bytes.get(self.next..self.end)?) {
            let order = entry.path.cmp(&file.path);
            if order.is_gt() {
                return None;
            }
            let is_hit = order.is_eq() && entry.stat == stat_bytes(&file.stat);
            let hash = entry.hash.try_into().ok();
            self.next += ENTRY_HEAD_BYTES + entry.path.len();
            self.is_stale |= !is_hit;
            self.hits += usize::from(is_hit);
            if order.is_eq() {
                return if is_hit { hash } else { None };
            }
        }
        None
    }

    /// The cache holds exactly the files that were looked up, of which there are so many.
    pub(super) fn has_exactly(&self, files: usize) -> bool {
        self.next == self.end && !self.is_stale && self.hits == files
    }

    /// The bytes to store for the next time, if they differ from the stored ones.
    pub(super) fn renewed(&self, stats: &[Stat], files: &[File], read_at: i64) -> Option<Vec<u8>> {
        let mut bytes = Vec::with_capacity(self.bytes.len().max(files.len() * 160));
        bytes.extend_from_slice(HEADER);
        for (stat, file) in stats.iter().zip(files) {
            if is_settled(file.kind(), stat, read_at) {
                let length = u32::try_from(file.path_bytes().len()).ok()?;
                bytes.extend_from_slice(&length.to_le_bytes());
                bytes.extend_from_slice(&stat_bytes(stat));
                bytes.extend_from_slice(file.hash());
                bytes.extend_from_slice(file.path_bytes());
            }
        }
        if self.bytes.get(..self.end).is_some_and(|stored| stored == bytes) {
            return None;
        }
        let check = blake3::hash(&bytes);
        bytes.extend_from_slice(check.as_bytes());
        Some(bytes)
    }
}

/// An entry of the cache.
struct CacheEntry<'c> {
    path: &'c [u8],
    stat: &'c [u8],
    hash: &'c [u8],
}

impl<'c> CacheEntry<'c> {
    /// The entry at the beginning of these bytes; `None` if they are too short.
    fn parse(bytes: &'c [u8]) -> Option<Self> {
        let (length, unread) = bytes.split_first_chunk::<4>()?;
        let (stat, unread) = unread.split_at_checked(STAT_BYTES)?;
        let (hash, unread) = unread.split_at_checked(HASH_BYTES)?;
        let path = unread.get(..usize::try_from(u32::from_le_bytes(*length)).ok()?)?;
        Some(Self { path, stat, hash })
    }
}

/// The file cannot have changed after it was read without a trace in its metadata.
fn is_settled(kind: Kind, stat: &Stat, read_at: i64) -> bool {
    let is_old = stat.mtime.max(stat.ctime) < read_at.saturating_sub(CLOCK_STEP_NANOS);
    is_old && matches!(kind, Kind::Plain | Kind::Executable | Kind::Link)
}

fn stat_bytes(stat: &Stat) -> [u8; STAT_BYTES] {
    let mut bytes = [0; STAT_BYTES];
    bytes[..4].copy_from_slice(&stat.mode.to_le_bytes());
    let times = [stat.mtime.cast_unsigned(), stat.ctime.cast_unsigned()];
    let words = [stat.size, times[0], times[1], stat.inode, stat.device];
    for (field, word) in bytes[8..].chunks_exact_mut(8).zip(words) {
        field.copy_from_slice(&word.to_le_bytes());
    }
    bytes
}

/// The present moment in nanoseconds since 1970, as files' times are given.
pub(super) fn now() -> i64 {
    let age = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(age.as_nanos()).unwrap_or(i64::MAX)
}

/// The files of a folder, which are looked up in the order of their names.
///
/// A file is read unless it is known to be unchanged since it was last read.
pub(crate) struct WrittenFiles {
    cache: StatCache,
    reader: ContentReader,
    stats: Vec<Stat>,
    files: Vec<File>,
    /// When the first file was read.
    read_at: i64,
}

impl WrittenFiles {
    /// Parses the bytes of an earlier [`Self::renewed`].
    pub(crate) fn read(stored: Option<Vec<u8>>) -> Self {
        Self {
            cache: StatCache::read(stored),
            reader: ContentReader::new(),
            stats: Vec::new(),
            files: Vec::new(),
            read_at: now(),
        }
    }

    /// The kind and hash of the file at `path`, which has this name in the workspace.
    pub(crate) fn content(
        &mut self,
        name: &[u8],
        path: &Path,
        metadata: &Metadata,
    ) -> (Kind, [u8; HASH_BYTES]) {
        let file = WalkedFile { path: name.into(), stat: Stat::new(metadata) };
        match self.cache.hash(&file) {
            Some(hash) => (file.stat.kind(), hash),
            None => self.reader.read_content(path, &file.stat),
        }
    }

    /// Remembers the file that was written under this name.
    pub(crate) fn remember(&mut self, name: &[u8], hash: [u8; HASH_BYTES], metadata: &Metadata) {
        let stat = Stat::new(metadata);
        self.files.push(File::new(name.into(), stat.kind(), hash));
        self.stats.push(stat);
    }

    /// The bytes to store, if they differ from the stored ones.
    pub(crate) fn renewed(&self) -> Option<Vec<u8>> {
        self.cache.renewed(&self.stats, &self.files, self.read_at)
    }
}
