//! A file's bytes as a hash.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read};
use std::path::Path;

use gate_platform::{NO_FOLLOW, NO_TERMINAL, NON_BLOCKING, OpenOptionsExt, OsStrExt};

use super::file::Kind;
use super::file::Stat;

/// Bytes that are read from a file at once.
const READ_BYTES: usize = 256 << 10;

/// Reads files one after another into the same memory.
pub(super) struct ContentReader {
    buffer: Vec<u8>,
}

impl ContentReader {
    pub(super) fn new() -> Self {
        Self { buffer: vec![0; READ_BYTES] }
    }

    /// The kind and hash of what stands at a path. A file that cannot be read is known by its
    /// metadata.
    pub(super) fn read_content(&mut self, path: &Path, stat: &Stat) -> (Kind, [u8; 32]) {
        let kind = stat.kind();
        let hash = match kind {
            Kind::Plain | Kind::Executable => self.hash(path, stat.size),
            Kind::Link => fs::read_link(path).map(|target| hash_of(target.as_os_str().as_bytes())),
            Kind::Special => Ok(hash_of(&stat.file_type().to_le_bytes())),
            Kind::Unreadable => Err(io::ErrorKind::PermissionDenied.into()),
        };
        hash.map_or_else(|_| (Kind::Unreadable, hash_of_stat(stat)), |hash| (kind, hash))
    }

    /// The hash of a file. Most files come with one read, and are hashed at once.
    fn hash(&mut self, path: &Path, size: u64) -> io::Result<[u8; 32]> {
        let mut file = open_any(path)?;
        if size < READ_BYTES as u64 {
            let length = file.read(&mut self.buffer)?;
            if length as u64 == size {
                return Ok(hash_of(&self.buffer[..length]));
            }
            // The file has changed since it was listed.
            file = open(path)?;
        }
        let mut hasher = blake3::Hasher::new();
        self.read_pieces(&file, size, |piece| {
            hasher.update(piece);
        })?;
        Ok(hasher.finalize().into())
    }

    /// Hands over all bytes of a file, piece by piece. A piece that is not
    /// full and reaches the size that the file is said to have is the last; a
    /// file that has grown beyond it is not waited for: it may grow for ever.
    pub(super) fn read_pieces(
        &mut self,
        file: &File,
        size: u64,
        mut take: impl FnMut(&[u8]),
    ) -> io::Result<()> {
        let (mut file, mut total) = (file, 0);
        loop {
            match file.read(&mut self.buffer) {
                Ok(0) => return Ok(()),
                Ok(length) => {
                    take(&self.buffer[..length]);
                    total += length as u64;
                    if total > size {
                        return Err(io::Error::other("it grows while it is read"));
                    }
                    if total == size && length < READ_BYTES {
                        return Ok(());
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}

/// Opens a plain file: never through a link, and never one that has become a
/// pipe since, on which a reader would wait.
pub(super) fn open(path: &Path) -> io::Result<File> {
    let file = open_any(path)?;
    if file.metadata()?.is_file() { Ok(file) } else { Err(io::ErrorKind::InvalidInput.into()) }
}

/// Opens a file that was a plain one when it was listed. If it is another by now, one read of it does
/// not wait.
fn open_any(path: &Path) -> io::Result<File> {
    let flags = NO_FOLLOW | NON_BLOCKING | NO_TERMINAL;
    OpenOptions::new().read(true).custom_flags(flags).open(path)
}

fn hash_of(bytes: &[u8]) -> [u8; 32] {
    blake3::hash(bytes).into()
}

/// A hash in place of bytes that could not be read. It changes with size and time, so that a
/// change is seen without reading.
fn hash_of_stat(stat: &Stat) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new_derive_key("gate: a file that cannot be read");
    hasher.update(&stat.size.to_le_bytes());
    hasher.update(&stat.mtime.to_le_bytes());
    hasher.update(&stat.ctime.to_le_bytes());
    hasher.update(&stat.inode.to_le_bytes());
    hasher.update(&stat.mode.to_le_bytes());
    hasher.finalize().into()
}
