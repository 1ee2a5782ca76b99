//! A message bus on disk: many write it at once, and nobody sees half an entry.

use std::fs::File;
use std::io::{self, ErrorKind, Read as _, Seek, SeekFrom, Write};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};

use gate_fleet::bus::{self, BadMessage, Message, Read, Tail, UnknownId};

use super::file::{self, Lock, unreadable, unwritable};
use super::stamp;
use crate::failure::Failure;
use gate_fleet::durable;

/// The end of a bus is first read up to this many bytes.
const END: u64 = 256 << 10;

/// The beginning of an entry that a program wrote, after another entry.
const ENTRY: &[u8] = b"\n\n---\nmsg_id: MSG-";

/// The extension of the file with what was cut off a bus.
const TORN: &str = "torn";

/// A bus.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bus {
    path: PathBuf,
    /// The file can be nothing else than a bus, so other text in it is put away.
    in_run_folder: bool,
}

impl Bus {
    /// The bus in this file, which need not be there.
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), in_run_folder: false }
    }

    /// The bus of a task or a project. An agent may have written over it.
    pub(super) fn in_run_folder(path: PathBuf) -> Self {
        Self { path, in_run_folder: true }
    }

    /// Its file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Appends a message: it is there whole and durable when this returns, or it is not there. Its
    /// id and time are given under the lock, so that they grow as the file does. A caller that
    /// posts for an agent refuses the types that only the runner may post ([`bus::is_runners`]).
    ///
    /// # Errors
    ///
    /// A message that is not allowed (code 2); a bus that is a link, that somebody locks, or that
    /// cannot be written.
    pub fn append(&self, message: Message) -> Result<Message, Failure> {
        let invalid = |error: BadMessage| Failure::usage("message-invalid", error.to_string());
        message.check().map_err(invalid)?;
        let mut file = self.locked().map_err(|error| self.unwritable(&error))?;
        let message = message.stamped(stamp()).map_err(invalid)?;
        let written = self.write(&mut file, &message.to_entry());
        written.map_err(|error| self.unwritable(&error))?;
        Ok(message)
    }

    /// Reads it; a bus that is not there is empty.
    ///
    /// # Errors
    ///
    /// A bus that is a link, that somebody locks, or that cannot be read.
    pub fn read(&self) -> Result<Read, Failure> {
        let bytes = self.bytes().map_err(|error| unreadable(&self.path, &error))?;
        Ok(bus::read(&bytes))
    }

    fn bytes(&self) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        if let Some(mut file) = file::open_to_read(&self.path)? {
            Lock::Shared.take(&file)?;
            file.read_to_end(&mut bytes)?;
        }
        Ok(bytes)
    }

    /// The length in bytes, which changes with every write.
    pub(crate) fn size(&self) -> u64 {
        std::fs::symlink_metadata(&self.path).map_or(0, |metadata| metadata.len())
    }

    pub(crate) fn unknown(&self, error: &UnknownId) -> Failure {
        let message = format!("{}: {error}", self.path.display());
        Failure::usage("unknown-message", message).hint("`gate bus read` lists the latest messages")
    }

    /// The file, locked. If it was put away during the wait for its lock, the one that is there
    /// now.
    fn locked(&self) -> io::Result<File> {
        loop {
            let file = file::open_to_append(&self.path)?;
            Lock::Alone.take(&file)?;
            let (mine, there) = (file.metadata()?, std::fs::symlink_metadata(&self.path));
            if there.is_ok_and(|there| (there.dev(), there.ino()) == (mine.dev(), mine.ino())) {
                return Ok(file);
            }
        }
    }

    /// Writes an entry at the end, in one piece. What did not fit is taken back.
    fn write(&self, file: &mut File, entry: &str) -> io::Result<()> {
        let length = file.metadata()?.len();
        let tail = match is_bus(file, length)? {
            true => tail(file, length)?,
            false if self.in_run_folder => Tail::Body(0),
            false => return Err(io::Error::new(ErrorKind::InvalidData, "it is no message bus")),
        };
        let length = match tail {
            Tail::Body(at) => self.cut(file, at as u64, length)?,
            _ => length,
        };
        let text = format!("{}{entry}", tail.gap(length == 0));
        let written = file.write_all(text.as_bytes()).and_then(|()| file.sync_all());
        if written.is_err() {
            file.set_len(length)?;
        }
        if length == 0 {
            durable::sync_folder(self.path.parent().unwrap_or(Path::new(".")))?;
        }
        written
    }

    /// Takes what is no whole entry away from the end; its bytes are kept elsewhere.
    fn cut(&self, file: &mut File, at: u64, length: u64) -> io::Result<u64> {
        let mut half = Vec::new();
        file.seek(SeekFrom::Start(at))?;
        file.take(length - at).read_to_end(&mut half)?;
        let mut name = self.path.clone().into_os_string();
        name.push(format!(".{TORN}"));
        let mut kept = file::open_to_append(Path::new(&name))?;
        kept.write_all(&half).and_then(|()| kept.sync_all())?;
        file.set_len(at)?;
        Ok(at)
    }

    fn unwritable(&self, error: &io::Error) -> Failure {
        unwritable("append to", &self.path, error)
    }
}

/// True if the file is empty, or if an entry is at or near its beginning.
fn is_bus(file: &File, length: u64) -> io::Result<bool> {
    let head = bytes(file, 0, length.min(END))?;
    let head = head.trim_ascii_start();
    Ok(head.is_empty() || head.starts_with(b"---") || !bus::read(head).messages.is_empty())
}

/// The end of a bus. Of a long bus only the part from the last plain entry on is parsed.
fn tail(file: &File, length: u64) -> io::Result<Tail> {
    let start = length.saturating_sub(END);
    let end = bytes(file, start, length)?;
    if start == 0 {
        return Ok(bus::read(&end).tail);
    }
    let Some(found) = memchr::memmem::rfind(&end, ENTRY) else {
        return Ok(bus::read(&bytes(file, 0, length)?).tail);
    };
    // The empty line before the entry is a part of it.
    let from = found + 1;
    Ok(match bus::read(&end[from..]).tail {
        Tail::Body(at) => Tail::Body(usize::try_from(start).unwrap_or(0) + from + at),
        tail => tail,
    })
}

fn bytes(file: &File, from: u64, to: u64) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; usize::try_from(to - from).map_err(io::Error::other)?];
    file.read_exact_at(&mut bytes, from)?;
    Ok(bytes)
}
