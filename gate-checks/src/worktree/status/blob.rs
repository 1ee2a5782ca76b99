//! The names that git gives to bytes, and a cache of such names.

use std::collections::HashMap;
use std::io;
use std::path::Path;

use gate_platform::OsStrExt;
use sha1::Sha1;
use sha2::{Digest, Sha256};

use crate::worktree::content::{ContentReader, open};
use crate::worktree::file::Kind;
use crate::worktree::state_dir::StateDir;

/// The first line of the cache, with the format's version.
const HEADER: &[u8] = b"gate blob names 1\n";

/// The file name of the cache.
const BLOB_CACHE_FILE: &str = "blobs";

/// A repository's way of naming objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum ObjectFormat {
    Sha1,
    Sha256,
}

impl ObjectFormat {
    /// The format of an object's name in hex digits.
    pub(super) fn detect(object: &[u8]) -> Self {
        if object.len() == 64 { Self::Sha256 } else { Self::Sha1 }
    }

    /// The name of these bytes as a blob.
    pub(super) fn blob_name(self, bytes: &[u8]) -> Vec<u8> {
        let mut hasher = BlobHasher::new(self, bytes.len() as u64);
        hasher.update(bytes);
        hasher.finish()
    }
}

/// `object` is git's name for these bytes.
pub(in crate::worktree) fn has_name(bytes: &[u8], object: &[u8]) -> bool {
    ObjectFormat::detect(object).blob_name(bytes) == object
}

/// Names a blob whose bytes come in pieces.
enum BlobHasher {
    Sha1(Box<Sha1>),
    Sha256(Box<Sha256>),
}

impl BlobHasher {
    fn new(format: ObjectFormat, length: u64) -> Self {
        let mut hasher = match format {
            ObjectFormat::Sha1 => Self::Sha1(Box::default()),
            ObjectFormat::Sha256 => Self::Sha256(Box::default()),
        };
        // Git hashes the kind and the length of an object before its bytes.
        hasher.update(format!("blob {length}\0").as_bytes());
        hasher
    }

    fn update(&mut self, piece: &[u8]) {
        match self {
            Self::Sha1(hasher) => hasher.update(piece),
            Self::Sha256(hasher) => hasher.update(piece),
        }
    }

    fn finish(self) -> Vec<u8> {
        match self {
            Self::Sha1(hasher) => hex(&hasher.finalize()),
            Self::Sha256(hasher) => hex(&hasher.finalize()),
        }
    }
}

/// The hash of a file's bytes, and their name as a blob.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct NamedBytes {
    pub(super) hash: [u8; 32],
    pub(super) name: Vec<u8>,
}

/// Reads a file or link and names its bytes.
pub(super) fn name_file(
    reader: &mut ContentReader,
    path: &Path,
    kind: Kind,
    format: ObjectFormat,
) -> io::Result<NamedBytes> {
    if kind == Kind::Link {
        let target = std::fs::read_link(path)?;
        let bytes = target.as_os_str().as_bytes();
        return Ok(NamedBytes { hash: blake3::hash(bytes).into(), name: format.blob_name(bytes) });
    }
    let file = open(path)?;
    let length = file.metadata()?.len();
    let (mut blob_hasher, mut hasher) = (BlobHasher::new(format, length), blake3::Hasher::new());
    let mut read_bytes = 0;
    reader.read_pieces(&file, length, |piece| {
        blob_hasher.update(piece);
        hasher.update(piece);
        read_bytes += piece.len() as u64;
    })?;
    // The length was hashed first: a file that changes while it is read has no name yet.
    if read_bytes != length {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(NamedBytes { hash: hasher.finalize().into(), name: blob_hasher.finish() })
}

/// The pointer that Git LFS keeps in a file's place.
pub(super) fn lfs_pointer(reader: &mut ContentReader, path: &Path) -> io::Result<String> {
    let file = open(path)?;
    let (mut hasher, mut size) = (Sha256::new(), 0);
    reader.read_pieces(&file, file.metadata()?.len(), |piece| {
        hasher.update(piece);
        size += piece.len() as u64;
    })?;
    let digest = String::from_utf8_lossy(&hex(&hasher.finalize())).into_owned();
    Ok(format!("version https://git-lfs.github.com/spec/v1\noid sha256:{digest}\nsize {size}\n"))
}

/// The names of bytes that were read once, by format and hash. A pair never
/// becomes untrue: both follow from the bytes alone.
///
/// They are kept in the order of their lookups, which is the order of the next lookups too: while
/// nothing changes, none has to be searched for.
#[derive(Debug)]
pub(super) struct BlobNames {
    /// The header, the stored records, and after them the new ones: one after the other.
    records: Vec<u8>,
    /// The byte behind the records that were stored.
    stored_end: usize,
    /// The offset of the record after the one that was looked up last.
    next: usize,
    /// The offsets of the records that were looked up, in that order.
    lookups: Vec<usize>,
    /// The offset of each record, once one is looked up out of order.
    offsets: Option<HashMap<Key, usize>>,
}

type Key = (ObjectFormat, [u8; 32]);

/// A record with a name by SHA-1.
const SHORTEST_RECORD_BYTES: usize = 1 + 32 + 40;

/// One name in the cache: a byte for the format, the hash, the name.
struct NameRecord<'r> {
    key: Key,
    name: &'r [u8],
}

impl<'r> NameRecord<'r> {
    /// The record that begins at an offset.
    fn at(bytes: &'r [u8], offset: usize) -> Option<Self> {
        let (format_byte, unread) = bytes.get(offset..)?.split_first()?;
        let (hash, unread) = unread.split_first_chunk::<32>()?;
        let (format, length) =
            if *format_byte == 0 { (ObjectFormat::Sha1, 40) } else { (ObjectFormat::Sha256, 64) };
        Some(Self { key: (format, *hash), name: unread.get(..length)? })
    }

    /// The length in bytes.
    fn length(&self) -> usize {
        1 + 32 + self.name.len()
    }
}

impl BlobNames {
    /// Reads the cache; a damaged one is empty.
    pub(super) fn load(state_dir: Option<&StateDir>) -> Self {
        let bytes =
            state_dir.and_then(|state_dir| state_dir.read(BLOB_CACHE_FILE)).unwrap_or_default();
        Self::from_records(verified_body(bytes).unwrap_or_else(|| HEADER.to_vec()))
    }

    fn from_records(records: Vec<u8>) -> Self {
        let stored_end = records.len();
        Self { records, stored_end, next: HEADER.len(), lookups: Vec::new(), offsets: None }
    }

    /// The name of the bytes with this hash, if it is known.
    pub(super) fn find(&mut self, format: ObjectFormat, hash: &[u8; 32]) -> Option<&[u8]> {
        let key = (format, *hash);
        let offset = match NameRecord::at(&self.records, self.next) {
            Some(record) if record.key == key => self.next,
            _ => *self.offsets().get(&key)?,
        };
        let record = NameRecord::at(&self.records, offset)?;
        self.next = offset + record.length();
        self.lookups.push(offset);
        Some(record.name)
    }

    /// Adds a name that was computed.
    pub(super) fn add(&mut self, format: ObjectFormat, named: &NamedBytes) {
        let offset = self.records.len();
        self.offsets().insert((format, named.hash), offset);
        self.records.push(u8::from(format == ObjectFormat::Sha256));
        self.records.extend_from_slice(&named.hash);
        self.records.extend_from_slice(&named.name);
    }

    /// Stores the records that were looked up, and drops the others.
    pub(super) fn save(&self, state_dir: Option<&StateDir>) {
        let Some(state_dir) = state_dir else { return };
        if self.is_as_stored() {
            return;
        }
        let mut bytes = HEADER.to_vec();
        for (offset, record) in self.looked_up() {
            bytes.extend_from_slice(&self.records[offset..offset + record.length()]);
        }
        let check = blake3::hash(&bytes);
        bytes.extend_from_slice(check.as_bytes());
        // Without the cache, files are read again the next time.
        let _ = state_dir.write(BLOB_CACHE_FILE, &bytes);
    }

    /// Exactly the stored records were looked up, in their order.
    fn is_as_stored(&self) -> bool {
        let mut end = HEADER.len();
        let is_in_order = self.looked_up().all(|(offset, record)| {
            let is_next = offset == end;
            end += record.length();
            is_next
        });
        is_in_order && end == self.stored_end
    }

    /// The records in the order of their lookups, each with its offset.
    fn looked_up(&self) -> impl Iterator<Item = (usize, NameRecord<'_>)> {
        let offsets = self.lookups.iter();
        offsets.filter_map(|offset| Some((*offset, NameRecord::at(&self.records, *offset)?)))
    }

    fn offsets(&mut self) -> &mut HashMap<Key, usize> {
        let records = &self.records;
        self.offsets.get_or_insert_with(|| {
            let mut offsets = HashMap::with_capacity(records.len() / SHORTEST_RECORD_BYTES);
            let mut offset = HEADER.len();
            while let Some(record) = NameRecord::at(records, offset) {
                offsets.insert(record.key, offset);
                offset += record.length();
            }
            offsets
        })
    }
}

/// A stored cache without its checksum; `None` if it is damaged.
fn verified_body(mut bytes: Vec<u8>) -> Option<Vec<u8>> {
    let (body, check) = bytes.split_last_chunk::<32>()?;
    let is_whole = body.starts_with(HEADER) && blake3::hash(body).as_bytes() == check;
    let end = body.len();
    bytes.truncate(end);
    is_whole.then_some(bytes)
}

fn hex(bytes: &[u8]) -> Vec<u8> {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digits = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    digits.map(|digit| DIGITS[usize::from(digit)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_that_git_gives() {
        let sha1 = ObjectFormat::Sha1.blob_name(b"hello\n");
        assert_eq!(sha1, b"ce013625030ba8dba906f756967f9e9ca394464a");
        let sha256 = ObjectFormat::Sha256.blob_name(b"");
        assert_eq!(sha256, b"473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813");
        assert_eq!(ObjectFormat::detect(&sha256), ObjectFormat::Sha256);
    }

    #[test]
    fn names_are_kept_and_damage_is_seen() {
        let state = tempfile::tempdir().unwrap();
        let state_dir = StateDir::new(state.path(), Path::new("/somewhere"));
        let mut names = BlobNames::load(Some(&state_dir));
        let name = ObjectFormat::Sha1.blob_name(b"x");
        names.add(ObjectFormat::Sha1, &NamedBytes { hash: [7; 32], name: name.clone() });
        assert!(names.find(ObjectFormat::Sha1, &[7; 32]).is_some());
        names.save(Some(&state_dir));
        let mut reloaded = BlobNames::load(Some(&state_dir));
        assert_eq!(reloaded.find(ObjectFormat::Sha1, &[7; 32]), Some(name.as_slice()));
        assert_eq!(reloaded.find(ObjectFormat::Sha256, &[7; 32]), None);
        let mut bytes = state_dir.read(BLOB_CACHE_FILE).unwrap();
        bytes[HEADER.len() + 40] ^= 1;
        assert!(verified_body(bytes).is_none());
    }

    #[test]
    fn names_are_found_in_any_order_and_searched_only_out_of_order() {
        let state = tempfile::tempdir().unwrap();
        let state_dir = StateDir::new(state.path(), Path::new("/somewhere"));
        let name = |byte: u8| ObjectFormat::Sha1.blob_name(&[byte]);
        let look_up = |order: &[u8], learned: Option<u8>| {
            let mut names = BlobNames::load(Some(&state_dir));
            for byte in order {
                if learned == Some(*byte) {
                    assert_eq!(names.find(ObjectFormat::Sha1, &[*byte; 32]), None);
                    names.add(
                        ObjectFormat::Sha1,
                        &NamedBytes { hash: [*byte; 32], name: name(*byte) },
                    );
                }
                assert_eq!(
                    names.find(ObjectFormat::Sha1, &[*byte; 32]),
                    Some(name(*byte).as_slice())
                );
            }
            names.save(Some(&state_dir));
            names.offsets.is_some()
        };
        for new in 1..=4 {
            look_up(&(1..=new).collect::<Vec<_>>(), Some(new));
        }
        assert!(!look_up(&[1, 2, 3, 4], None));
        assert!(look_up(&[1, 4, 2], None));
        let stored = state_dir.read(BLOB_CACHE_FILE).unwrap();
        assert!(!look_up(&[1, 4, 2], None));
        assert_eq!(state_dir.read(BLOB_CACHE_FILE).unwrap(), stored);
        // Two files of the same bytes, and one that is not looked up any more.
        assert!(look_up(&[1, 2, 2], None));
        assert!(!look_up(&[1, 2, 2], None));
        look_up(&[4], Some(4));
    }
}
