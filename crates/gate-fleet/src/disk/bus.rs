//! A message bus on disk: many write it at once, and nobody sees half an entry.

use std::fs::File;
use std::io::{self, ErrorKind, Read as _, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use gate_core::Failure;
use gate_platform::FileExt;

use super::file::{self, Lock, unreadable, unwritable};
use super::stamp;
use crate::bus::{self, BadMessage, Contents, Message, Tail, UnknownId};
use crate::durable;

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
    /// posts for an agent refuses the types that only the runner may post ([`bus::is_runner_type`]).
    ///
    /// # Errors
    ///
    /// A message that is not allowed (code 2); a bus that is a link, that somebody locks, or that
    /// cannot be written.
    pub fn append(&self, message: Message) -> Result<Message, Failure> {
        message.check().map_err(|error| invalid(&error))?;
        let mut file = file::locked(&self.path).map_err(|error| self.unwritable(&error))?;
        let message = stamped(message)?;
        let written = self.write(&mut file, &message.to_entry());
        written.map_err(|error| self.unwritable(&error))?;
        Ok(message)
    }

    /// Reads it; a bus that is not there is empty.
    ///
    /// # Errors
    ///
    /// A bus that is a link, that somebody locks, or that cannot be read.
    pub fn read(&self) -> Result<Contents, Failure> {
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
    fn size(&self) -> u64 {
        std::fs::symlink_metadata(&self.path).map_or(0, |metadata| metadata.len())
    }

    /// The failure about a message that a caller named and that this bus does not have.
    pub fn unknown(&self, error: &UnknownId) -> Failure {
        let message = format!("{}: {error}", self.path.display());
        Failure::usage("unknown-message", message).hint("`gate bus read` lists the latest messages")
    }

    /// Writes entries at the end, in one piece, with an empty line between them. What did not fit
    /// is taken back.
    pub(super) fn write(&self, file: &mut File, entries: &str) -> io::Result<()> {
        let length = file.metadata()?.len();
        let tail = match is_bus(file, length)? {
            true => tail(file, length)?,
            false if self.in_run_folder => Tail::Body(0),
            false => return Err(io::Error::new(ErrorKind::InvalidData, "it is no message bus")),
        };
        let length = match tail {
            Tail::Body(start) => self.cut(file, start as u64, length)?,
            _ => length,
        };
        let text = format!("{}{entries}", tail.gap(length == 0));
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
    fn cut(&self, file: &mut File, start: u64, length: u64) -> io::Result<u64> {
        let mut torn = Vec::new();
        file.seek(SeekFrom::Start(start))?;
        file.take(length - start).read_to_end(&mut torn)?;
        let mut name = self.path.clone().into_os_string();
        name.push(format!(".{TORN}"));
        let mut kept = file::open_to_append(Path::new(&name))?;
        kept.write_all(&torn).and_then(|()| kept.sync_all())?;
        // Only now: if the machine stops between the two, the bytes stand in both files.
        file.set_len(start)?;
        Ok(start)
    }

    pub(super) fn unwritable(&self, error: &io::Error) -> Failure {
        unwritable("append to", &self.path, error)
    }
}

/// A message with an id and a time of this moment.
///
/// # Errors
///
/// A message that is not allowed (code 2).
pub fn stamped(message: Message) -> Result<Message, Failure> {
    message.stamped(stamp()).map_err(|error| invalid(&error))
}

fn invalid(error: &BadMessage) -> Failure {
    Failure::usage("message-invalid", error.to_string())
}

/// A reader's place on a bus.
#[derive(Clone, Debug)]
pub struct Follower<'b> {
    bus: &'b Bus,
    /// The size of the bus when it was read.
    size: u64,
    /// The id of the last message; empty if there was none.
    last_id: String,
}

impl<'b> Follower<'b> {
    /// Reads a bus, and stays behind its last message.
    ///
    /// # Errors
    ///
    /// As [`Bus::read`].
    pub fn new(bus: &'b Bus) -> Result<(Self, Contents), Failure> {
        let mut follower = Self { bus, size: 0, last_id: String::new() };
        let read = follower.read()?;
        Ok((follower, read))
    }

    /// The bus was written since it was read.
    pub fn has_news(&self) -> bool {
        self.bus.size() != self.size
    }

    /// The messages since the bus was read. If the last one of them is gone, the bus was begun
    /// anew, and all of it is new.
    ///
    /// # Errors
    ///
    /// As [`Bus::read`].
    pub fn news(&mut self) -> Result<Vec<Message>, Failure> {
        let last_id = self.last_id.clone();
        let mut messages = self.read()?.messages;
        let count = bus::since(&messages, &last_id).map_or(messages.len(), <[Message]>::len);
        Ok(messages.split_off(messages.len() - count))
    }

    fn read(&mut self) -> Result<Contents, Failure> {
        // The size comes first: what is written during the reading changes it.
        self.size = self.bus.size();
        let read = self.bus.read()?;
        self.last_id =
            read.messages.last().map(|message| message.msg_id.clone()).unwrap_or_default();
        Ok(read)
    }
}

/// A file that is empty, or has an entry at or near its beginning.
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
    let Some(line_break) = memchr::memmem::rfind(&end, ENTRY) else {
        return Ok(bus::read(&bytes(file, 0, length)?).tail);
    };
    // The empty line before the entry is a part of it.
    let entry = line_break + 1;
    Ok(match bus::read(&end[entry..]).tail {
        Tail::Body(offset) => Tail::Body(usize::try_from(start).unwrap_or(0) + entry + offset),
        tail => tail,
    })
}

fn bytes(file: &File, from: u64, to: u64) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; usize::try_from(to - from).map_err(io::Error::other)?];
    file.read_exact_at(&mut bytes, from)?;
    Ok(bytes)
}
