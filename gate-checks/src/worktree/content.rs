//! A file's bytes as a hash.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::fs::OFlags;

use super::file::Kind;
use super::file::Stat;

/// Bytes that are read from a file at once.
const READ_BYTES: usize = 256 << 10;

/// Reads files one after another into the same memory.
pub(super) struct Reader {
    piece: Vec<u8>,
}

impl Reader {
    pub(super) fn new() -> Self {
        Self { piece: vec![0; READ_BYTES] }
    }

    /// The kind and hash of what stands at a path. What cannot be read is
    /// known by its stat.
    pub(super) fn look(&mut self, path: &Path, stat: &Stat) -> (Kind, [u8; 32]) {
        let kind = stat.kind();
        let hash = match kind {
            Kind::Plain | Kind::Executable => self.hash(path, stat.size),
            Kind::Link => fs::read_link(path).map(|to| hash_of(to.as_os_str().as_bytes())),
            Kind::Special => Ok(hash_of(&stat.file_type().to_le_bytes())),
            Kind::Unreadable => Err(io::ErrorKind::PermissionDenied.into()),
        };
        hash.map_or_else(|_| (Kind::Unreadable, marker(stat)), |hash| (kind, hash))
    }

    /// Of most files one read brings everything, and that is hashed at once.
    fn hash(&mut self, path: &Path, size: u64) -> io::Result<[u8; 32]> {
        let mut file = open_any(path)?;
        if size < READ_BYTES as u64 {
            let read = file.read(&mut self.piece)?;
            if read as u64 == size {
                return Ok(hash_of(&self.piece[..read]));
            }
            // The file has changed since it was found.
            file = open(path)?;
        }
        let mut hasher = blake3::Hasher::new();
        self.pieces(&file, size, |piece| {
            hasher.update(piece);
        })?;
        Ok(hasher.finalize().into())
    }

    /// Hands over all bytes of a file, piece by piece. A piece that is not
    /// full and reaches the size that the file is said to have is the last; a
    /// file that has grown beyond it is not waited for: it may grow for ever.
    pub(super) fn pieces(
        &mut self,
        file: &File,
        size: u64,
        mut take: impl FnMut(&[u8]),
    ) -> io::Result<()> {
        let (mut file, mut all) = (file, 0);
        loop {
            match file.read(&mut self.piece) {
                Ok(0) => return Ok(()),
                Ok(read) => {
                    take(&self.piece[..read]);
                    all += read as u64;
                    if all > size {
                        return Err(io::Error::other("it grows while it is read"));
                    }
                    if all == size && read < READ_BYTES {
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

/// The same of what was seen to be a plain file: at worst one read of
/// something else, which does not wait.
fn open_any(path: &Path) -> io::Result<File> {
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY).bits();
    let flags = i32::try_from(flags).unwrap_or_default();
    OpenOptions::new().read(true).custom_flags(flags).open(path)
}

fn hash_of(bytes: &[u8]) -> [u8; 32] {
    blake3::hash(bytes).into()
}

/// A hash in place of bytes that could not be read. It changes with size and time, so that a
/// change is seen without reading.
fn marker(stat: &Stat) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new_derive_key("gate: a file that cannot be read");
    hasher.update(&stat.size.to_le_bytes());
    hasher.update(&stat.mtime.to_le_bytes());
    hasher.update(&stat.ctime.to_le_bytes());
    hasher.update(&stat.inode.to_le_bytes());
    hasher.update(&stat.mode.to_le_bytes());
    hasher.finalize().into()
}
