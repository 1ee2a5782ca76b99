//! Writes an archive: it is there whole and durable, or not at all.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;
use gate_core::ledger::{Hash, Sealed};
use tempfile::NamedTempFile;

use super::folder::unfinished;
use super::{Archive, ArchiveFolder, signature_file};
use crate::key_file;

/// The file of the secret key in the state folder.
const KEY: &str = "archive.key";

/// An archive that is being written. Dropped, it is gone.
pub(crate) struct ArchiveWriter {
    encoder: GzEncoder<Digesting>,
    folder: PathBuf,
    first: Option<u64>,
    last: Option<(Sealed, u64)>,
}

/// An archive that is on the disk.
#[derive(Debug)]
pub(crate) struct WrittenArchive {
    pub(crate) archive: Archive,
    path: PathBuf,
    /// False if the same one was there already.
    is_new: bool,
}

impl ArchiveWriter {
    /// Begins an archive in a folder.
    ///
    /// # Errors
    ///
    /// A folder that cannot be written.
    pub(crate) fn begin(folder: &ArchiveFolder) -> io::Result<Self> {
        let folder = folder.path().to_owned();
        let file = BufWriter::new(unfinished(&folder)?);
        let digesting = Digesting { file, hasher: blake3::Hasher::new(), bytes: 0 };
        let encoder = GzEncoder::new(digesting, Compression::default());
        Ok(Self { encoder, folder, first: None, last: None })
    }

    /// Adds a record. Its number is higher than those before.
    ///
    /// # Errors
    ///
    /// A disk that is full or fails.
    pub(crate) fn add(&mut self, sealed: Sealed) -> io::Result<()> {
        self.encoder.write_all(sealed.to_line().as_bytes())?;
        self.encoder.write_all(b"\n")?;
        self.first.get_or_insert(sealed.record.seq);
        let count = self.last.as_ref().map_or(0, |(_, count)| *count);
        self.last = Some((sealed, count + 1));
        Ok(())
    }

    /// Signs the archive with the key in the state folder, and writes it and the signature to the
    /// disk. None if no record was added.
    ///
    /// # Errors
    ///
    /// A disk that is full or fails, a key that cannot be used.
    pub(crate) fn finish(self, state: &Path, project: &str) -> io::Result<Option<WrittenArchive>> {
        let Self { encoder, folder, first, last } = self;
        let (Some(first), Some((last, records))) = (first, last) else { return Ok(None) };
        let Digesting { file, hasher, bytes } = encoder.finish()?;
        let file = file.into_inner().map_err(io::IntoInnerError::into_error)?;
        file.as_file().sync_all()?;
        let secret = key_file::key(state, KEY)?;
        let digest: Hash = hasher.finalize().to_hex().parse().map_err(io::Error::other)?;
        let archive = Archive {
            file: file_name(project, (first, last.record.seq), digest),
            folder: folder.display().to_string(),
            host: rustix::system::uname().nodename().to_string_lossy().into_owned(),
            project: project.to_owned(),
            first,
            last: last.record.seq,
            records,
            until: last.record.time.clone(),
            head: last.hash,
            bytes,
            digest,
            key: String::new(),
            signature: String::new(),
        }
        .signed(&secret)
        .map_err(io::Error::other)?;
        let path = folder.join(&archive.file);
        // One with this name is the same, of a call that was killed or of a copy of this ledger; or
        // a damaged one, whose place this one takes.
        let is_new = match file.persist_noclobber(&path) {
            Ok(_) => true,
            Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => {
                let there = File::open(&path).and_then(|there| super::reader::digest(&there));
                if there.ok().as_deref() != Some(&digest.to_string()) {
                    error.file.persist(&path)?;
                }
                false
            }
            Err(error) => return Err(error.error),
        };
        let mut signature = unfinished(&folder)?;
        serde_json::to_writer_pretty(&mut signature, &archive)?;
        signature.write_all(b"\n")?;
        signature.as_file().sync_all()?;
        signature.persist(signature_file(&path, &archive.key))?;
        File::open(&folder)?.sync_all()?;
        Ok(Some(WrittenArchive { archive, path, is_new }))
    }
}

impl WrittenArchive {
    /// Removes it again: no record names it. If that fails, it is a file that nobody reads.
    pub(crate) fn discard(&self) {
        if self.is_new && fs::remove_file(&self.path).is_ok() {
            let _ = fs::remove_file(signature_file(&self.path, &self.archive.key));
        }
    }
}

/// The name of an archive. It has a part of the digest, because a ledger that was set aside may
/// have archives with the same numbers.
fn file_name(project: &str, (first, last): (u64, u64), digest: Hash) -> String {
    let (project, digest) = (blake3::hash(project.as_bytes()).to_hex(), digest.to_string());
    format!("{}-{first}-{last}-{}.jsonl.gz", &project[..16], &digest[..8])
}

/// A file whose bytes are counted and digested on the way.
struct Digesting {
    file: BufWriter<NamedTempFile>,
    hasher: blake3::Hasher,
    bytes: u64,
}

impl Write for Digesting {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(bytes)?;
        self.hasher.update(&bytes[..written]);
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}
