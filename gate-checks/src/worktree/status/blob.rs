//! The name that git gives a file's bytes, and a memory of such names.

use std::collections::HashMap;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use sha1::Sha1;
use sha2::{Digest, Sha256};

use crate::worktree::content::{Reader, open};
use crate::worktree::file::Kind;
use crate::worktree::state_dir::StateDir;

/// The first line of the memory, with the format's version.
const HEADER: &[u8] = b"gate blob names 1\n";

/// The file name of the memory.
const BLOB_CACHE_FILE: &str = "blobs";

/// A repository's way of naming objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Format {
    Sha1,
    Sha256,
}

impl Format {
    /// The format of an object's name in hex digits.
    pub(super) fn detect(object: &[u8]) -> Self {
        if object.len() == 64 { Self::Sha256 } else { Self::Sha1 }
    }

    /// The name of these bytes as a blob.
    pub(super) fn name(self, bytes: &[u8]) -> Vec<u8> {
        let mut naming = Naming::new(self, bytes.len() as u64);
        naming.take(bytes);
        naming.end()
    }
}

/// True if `object` is git's name for these bytes.
pub(in crate::worktree) fn named_as(bytes: &[u8], object: &[u8]) -> bool {
    Format::detect(object).name(bytes) == object
}

/// Names a blob whose bytes come in pieces.
enum Naming {
    Sha1(Box<Sha1>),
    Sha256(Box<Sha256>),
}

impl Naming {
    fn new(format: Format, length: u64) -> Self {
        let mut naming = match format {
            Format::Sha1 => Self::Sha1(Box::default()),
            Format::Sha256 => Self::Sha256(Box::default()),
        };
        naming.take(format!("blob {length}\0").as_bytes());
        naming
    }

    fn take(&mut self, piece: &[u8]) {
        match self {
            Self::Sha1(hasher) => hasher.update(piece),
            Self::Sha256(hasher) => hasher.update(piece),
        }
    }

    fn end(self) -> Vec<u8> {
        match self {
            Self::Sha1(hasher) => hex(&hasher.finalize()),
            Self::Sha256(hasher) => hex(&hasher.finalize()),
        }
    }
}

/// The hash of a file's bytes, and their name as a blob.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Named {
    pub(super) hash: [u8; 32],
    pub(super) name: Vec<u8>,
}

/// Reads a file or link and names its bytes.
pub(super) fn name_file(
    reader: &mut Reader,
    path: &Path,
    kind: Kind,
    format: Format,
) -> io::Result<Named> {
    if kind == Kind::Link {
        let target = std::fs::read_link(path)?;
        let bytes = target.as_os_str().as_bytes();
        return Ok(Named { hash: blake3::hash(bytes).into(), name: format.name(bytes) });
    }
    let file = open(path)?;
    let length = file.metadata()?.len();
    let (mut naming, mut hasher) = (Naming::new(format, length), blake3::Hasher::new());
    let mut read = 0;
    reader.pieces(&file, length, |piece| {
        naming.take(piece);
        hasher.update(piece);
        read += piece.len() as u64;
    })?;
    // A file that grows while it is read has no name yet.
    if read != length {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(Named { hash: hasher.finalize().into(), name: naming.end() })
}

/// The pointer that Git LFS keeps in a file's place.
pub(super) fn lfs_pointer(reader: &mut Reader, path: &Path) -> io::Result<String> {
    let file = open(path)?;
    let (mut hasher, mut read) = (Sha256::new(), 0);
    reader.pieces(&file, file.metadata()?.len(), |piece| {
        hasher.update(piece);
        read += piece.len() as u64;
    })?;
    let digest = String::from_utf8_lossy(&hex(&hasher.finalize())).into_owned();
    Ok(format!("version https://git-lfs.github.com/spec/v1\noid sha256:{digest}\nsize {read}\n"))
}

/// The names of bytes that were read once, by format and hash. A pair never
/// becomes untrue: both follow from the bytes alone.
///
/// They are kept in the order of their lookups, which is the order of the next lookups too: while
/// nothing changes, none has to be searched for.
#[derive(Debug)]
pub(super) struct Blobs {
    /// The header, the stored records, and after them the new ones: one after the other.
    records: Vec<u8>,
    /// The end of the records that were stored.
    kept: usize,
    /// The record after the one that was looked up last.
    next: usize,
    /// The records that were looked up.
    used: Vec<usize>,
    /// The position of each record, once one is looked up out of order.
    places: Option<HashMap<Key, usize>>,
}

type Key = (Format, [u8; 32]);

/// One name in the memory: a byte for the format, the hash, the name.
struct Record<'r> {
    key: Key,
    name: &'r [u8],
}

impl<'r> Record<'r> {
    /// The record that begins here.
    fn at(bytes: &'r [u8], at: usize) -> Option<Self> {
        let (mark, rest) = bytes.get(at..)?.split_first()?;
        let (hash, rest) = rest.split_first_chunk::<32>()?;
        let (format, length) = if *mark == 0 { (Format::Sha1, 40) } else { (Format::Sha256, 64) };
        Some(Self { key: (format, *hash), name: rest.get(..length)? })
    }

    /// The length in bytes.
    fn length(&self) -> usize {
        1 + 32 + self.name.len()
    }
}

impl Blobs {
    /// Reads the memory; a damaged one is empty.
    pub(super) fn load(state_dir: Option<&StateDir>) -> Self {
        let bytes =
            state_dir.and_then(|state_dir| state_dir.read(BLOB_CACHE_FILE)).unwrap_or_default();
        Self::from_records(whole(bytes).unwrap_or_else(|| HEADER.to_vec()))
    }

    fn from_records(records: Vec<u8>) -> Self {
        let (kept, next) = (records.len(), HEADER.len());
        Self { records, kept, next, used: Vec::new(), places: None }
    }

    /// The name of the bytes with this hash, if it is known.
    pub(super) fn name(&mut self, format: Format, hash: &[u8; 32]) -> Option<&[u8]> {
        let key = (format, *hash);
        let at = match Record::at(&self.records, self.next) {
            Some(record) if record.key == key => self.next,
            _ => *self.places().get(&key)?,
        };
        let record = Record::at(&self.records, at)?;
        self.next = at + record.length();
        self.used.push(at);
        Some(record.name)
    }

    pub(super) fn learn(&mut self, format: Format, named: &Named) {
        let at = self.records.len();
        self.places().insert((format, named.hash), at);
        self.records.push(u8::from(format == Format::Sha256));
        self.records.extend_from_slice(&named.hash);
        self.records.extend_from_slice(&named.name);
    }

    /// Keeps the records that were looked up, and drops the others.
    pub(super) fn save(&self, state_dir: Option<&StateDir>) {
        let Some(state_dir) = state_dir else { return };
        if self.is_as_kept() {
            return;
        }
        let mut bytes = HEADER.to_vec();
        for (at, record) in self.in_order() {
            bytes.extend_from_slice(&self.records[at..at + record.length()]);
        }
        let check = blake3::hash(&bytes);
        bytes.extend_from_slice(check.as_bytes());
        // What cannot be kept is read again the next time.
        let _ = state_dir.write(BLOB_CACHE_FILE, &bytes);
    }

    /// True if exactly the stored records were looked up, in their order.
    fn is_as_kept(&self) -> bool {
        let mut end = HEADER.len();
        let all = self.in_order().all(|(at, record)| {
            let is_next = at == end;
            end += record.length();
            is_next
        });
        all && end == self.kept
    }

    /// The records in the order of their lookups, each with its offset.
    fn in_order(&self) -> impl Iterator<Item = (usize, Record<'_>)> {
        self.used.iter().filter_map(|at| Some((*at, Record::at(&self.records, *at)?)))
    }

    fn places(&mut self) -> &mut HashMap<Key, usize> {
        let records = &self.records;
        self.places.get_or_insert_with(|| {
            let mut places = HashMap::with_capacity(records.len() / 73);
            let mut at = HEADER.len();
            while let Some(record) = Record::at(records, at) {
                places.insert(record.key, at);
                at += record.length();
            }
            places
        })
    }
}

/// A memory without its checksum; none if it is damaged.
fn whole(mut kept: Vec<u8>) -> Option<Vec<u8>> {
    let (body, check) = kept.split_last_chunk::<32>()?;
    let is_whole = body.starts_with(HEADER) && blake3::hash(body).as_bytes() == check;
    let end = body.len();
    kept.truncate(end);
    is_whole.then_some(kept)
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
        let sha1 = Format::Sha1.name(b"hello\n");
        assert_eq!(sha1, b"ce013625030ba8dba906f756967f9e9ca394464a");
        let sha256 = Format::Sha256.name(b"");
        assert_eq!(sha256, b"473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813");
        assert_eq!(Format::detect(&sha256), Format::Sha256);
    }

    #[test]
    fn names_are_kept_and_damage_is_seen() {
        let state = tempfile::tempdir().unwrap();
        let state_dir = StateDir::new(state.path(), Path::new("/somewhere"));
        let mut blobs = Blobs::load(Some(&state_dir));
        let name = Format::Sha1.name(b"x");
        blobs.learn(Format::Sha1, &Named { hash: [7; 32], name: name.clone() });
        assert!(blobs.name(Format::Sha1, &[7; 32]).is_some());
        blobs.save(Some(&state_dir));
        let mut again = Blobs::load(Some(&state_dir));
        assert_eq!(again.name(Format::Sha1, &[7; 32]), Some(name.as_slice()));
        assert_eq!(again.name(Format::Sha256, &[7; 32]), None);
        let mut bytes = state_dir.read(BLOB_CACHE_FILE).unwrap();
        bytes[HEADER.len() + 40] ^= 1;
        assert!(whole(bytes).is_none());
    }

    #[test]
    fn names_are_found_in_any_order_and_searched_only_out_of_order() {
        let state = tempfile::tempdir().unwrap();
        let state_dir = StateDir::new(state.path(), Path::new("/somewhere"));
        let name = |at: u8| Format::Sha1.name(&[at]);
        let look_up = |order: &[u8], learned: Option<u8>| {
            let mut blobs = Blobs::load(Some(&state_dir));
            for at in order {
                if learned == Some(*at) {
                    assert_eq!(blobs.name(Format::Sha1, &[*at; 32]), None);
                    blobs.learn(Format::Sha1, &Named { hash: [*at; 32], name: name(*at) });
                }
                assert_eq!(blobs.name(Format::Sha1, &[*at; 32]), Some(name(*at).as_slice()));
            }
            blobs.save(Some(&state_dir));
            blobs.places.is_some()
        };
        for new in 1..=4 {
            look_up(&(1..=new).collect::<Vec<_>>(), Some(new));
        }
        assert!(!look_up(&[1, 2, 3, 4], None));
        assert!(look_up(&[1, 4, 2], None));
        let kept = state_dir.read(BLOB_CACHE_FILE).unwrap();
        assert!(!look_up(&[1, 4, 2], None));
        assert_eq!(state_dir.read(BLOB_CACHE_FILE).unwrap(), kept);
        // Two files of the same bytes, and one that is not looked up any more.
        assert!(look_up(&[1, 2, 2], None));
        assert!(!look_up(&[1, 2, 2], None));
        look_up(&[4], Some(4));
    }
}
