//! The name that git gives a file's bytes, and a memory of such names.

use std::collections::HashMap;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use sha1::Sha1;
use sha2::{Digest, Sha256};

use crate::worktree::content::{Reader, open};
use crate::worktree::shelf::Shelf;
use crate::worktree::snapshot::Kind;

/// The first line of the memory, with the format's version.
const HEADER: &[u8] = b"gate blob names 1\n";

/// Where the memory is kept.
const KEPT: &str = "blobs";

/// A repository's way of naming objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Format {
    Sha1,
    Sha256,
}

impl Format {
    /// The format of an object's name in hex digits.
    pub(super) fn of(object: &[u8]) -> Self {
        if object.len() == 64 { Self::Sha256 } else { Self::Sha1 }
    }

    /// The name of these bytes as a blob.
    pub(super) fn name(self, bytes: &[u8]) -> Vec<u8> {
        let mut naming = Naming::new(self, bytes.len() as u64);
        naming.take(bytes);
        naming.end()
    }
}

/// Whether git gives these bytes this name.
pub(in crate::worktree) fn named_as(bytes: &[u8], object: &[u8]) -> bool {
    Format::of(object).name(bytes) == object
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

/// What was read of a file: the hash of its bytes, and their name as a blob.
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
#[derive(Debug, Default)]
pub(super) struct Blobs {
    names: HashMap<Key, Known>,
    /// Whether there is a name that was not kept.
    is_new: bool,
}

type Key = (Format, [u8; 32]);

#[derive(Debug)]
struct Known {
    name: Vec<u8>,
    /// Whether anybody asked for it this time.
    is_used: bool,
}

impl Blobs {
    /// What was kept; nothing where it is damaged.
    pub(super) fn load(shelf: Option<&Shelf>) -> Self {
        let kept = shelf.and_then(|shelf| shelf.read(KEPT)).unwrap_or_default();
        Self { names: read(&kept).unwrap_or_default(), is_new: false }
    }

    /// The name of the bytes with this hash, where it is known.
    pub(super) fn name(&mut self, format: Format, hash: &[u8; 32]) -> Option<&[u8]> {
        let known = self.names.get_mut(&(format, *hash))?;
        known.is_used = true;
        Some(&known.name)
    }

    pub(super) fn learn(&mut self, format: Format, named: Named) {
        self.is_new = true;
        self.names.insert((format, named.hash), Known { name: named.name, is_used: true });
    }

    /// Keeps what was asked for; what nobody asked for is forgotten.
    pub(super) fn save(&self, shelf: Option<&Shelf>) {
        let Some(shelf) = shelf else { return };
        if !self.is_new && self.names.values().all(|known| known.is_used) {
            return;
        }
        let mut bytes = HEADER.to_vec();
        for ((format, hash), known) in self.names.iter().filter(|(_, known)| known.is_used) {
            bytes.push(u8::from(*format == Format::Sha256));
            bytes.extend_from_slice(hash);
            bytes.extend_from_slice(&known.name);
        }
        let check = blake3::hash(&bytes);
        bytes.extend_from_slice(check.as_bytes());
        // What cannot be kept is read again the next time.
        let _ = shelf.write(KEPT, &bytes);
    }
}

fn read(kept: &[u8]) -> Option<HashMap<Key, Known>> {
    let (body, check) = kept.split_last_chunk::<32>()?;
    let mut rest = body.strip_prefix(HEADER)?;
    if blake3::hash(body).as_bytes() != check {
        return None;
    }
    let mut names = HashMap::with_capacity(rest.len() / 73);
    while let Some((mark, after)) = rest.split_first() {
        let (hash, after) = after.split_first_chunk::<32>()?;
        let (format, length) = if *mark == 0 { (Format::Sha1, 40) } else { (Format::Sha256, 64) };
        let (name, after) = after.split_at_checked(length)?;
        names.insert((format, *hash), Known { name: name.to_vec(), is_used: false });
        rest = after;
    }
    Some(names)
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
        assert_eq!(Format::of(&sha256), Format::Sha256);
    }

    #[test]
    fn names_are_kept_and_damage_is_seen() {
        let state = tempfile::tempdir().unwrap();
        let shelf = Shelf::of(state.path(), Path::new("/somewhere"));
        let mut blobs = Blobs::default();
        let name = Format::Sha1.name(b"x");
        blobs.learn(Format::Sha1, Named { hash: [7; 32], name: name.clone() });
        blobs.save(Some(&shelf));
        let mut again = Blobs::load(Some(&shelf));
        assert_eq!(again.name(Format::Sha1, &[7; 32]), Some(name.as_slice()));
        assert_eq!(again.name(Format::Sha256, &[7; 32]), None);
        let mut bytes = shelf.read(KEPT).unwrap();
        bytes[HEADER.len() + 40] ^= 1;
        assert!(read(&bytes).is_none());
    }
}
