//! Where a transcript's bytes come from.

#[cfg(unix)]
mod large;

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use gate_core::Scanner;

use crate::failure::Failure;

/// How much is read at once, in bytes.
const BLOCK: usize = 256 << 10;

/// How the end of a file is read.
pub(crate) struct End<'w> {
    /// At most so many processors.
    pub(crate) processors: Option<usize>,
    /// The byte that an earlier reading has come to, where there was one.
    pub(crate) read_before: &'w mut dyn FnMut(&Scanner<'_>) -> Option<u64>,
    /// Whether little suffices, because the last word is known.
    pub(crate) brief: bool,
}

/// A transcript to read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// The standard input.
    Stdin,
    /// A file.
    File(PathBuf),
    /// A message by itself.
    Message(String),
}

impl Source {
    /// The source that a command line names: `-` is the standard input.
    pub fn named(name: &Path, folder: &Path) -> Self {
        if name == Path::new("-") { Self::Stdin } else { Self::File(folder.join(name)) }
    }

    /// Reads all there is into a scanner, on at most so many processors. Says how
    /// many bytes there were.
    pub(crate) fn scan(
        &self,
        scanner: &mut Scanner<'_>,
        processors: Option<usize>,
    ) -> Result<u64, Failure> {
        #[cfg(unix)]
        if let Self::File(path) = self {
            let read = File::open(path).and_then(|file| large::scan(&file, scanner, processors));
            return read.map_err(|error| self.unreadable(&error));
        }
        self.feed(&mut |bytes| scanner.push(bytes))
    }

    /// Has the beginning and the end pushed into a scanner, and what lies between
    /// sifted or skipped: all that comes behind the byte that an earlier reading
    /// has come to is read. Says how many bytes there were.
    pub(crate) fn scan_end(
        &self,
        scanner: &mut Scanner<'_>,
        end: End<'_>,
        push: &mut dyn FnMut(&mut Scanner<'_>, &[u8]),
    ) -> Result<u64, Failure> {
        #[cfg(unix)]
        if let Self::File(path) = self {
            let read = File::open(path).and_then(|file| match end.brief {
                true => large::scan_brief(&file, scanner, push),
                false => large::scan_end(&file, scanner, end, push),
            });
            return read.map_err(|error| self.unreadable(&error));
        }
        self.feed(&mut |bytes| push(scanner, bytes))
    }

    /// Pushes all bytes to whoever takes them, in blocks. Says how many there were.
    pub(crate) fn feed(&self, take: &mut dyn FnMut(&[u8])) -> Result<u64, Failure> {
        let fed = match self {
            Self::Stdin => feed(&mut io::stdin().lock(), u64::MAX, take),
            Self::File(path) => {
                File::open(path).and_then(|mut file| feed(&mut file, u64::MAX, take))
            }
            Self::Message(text) => {
                take(text.as_bytes());
                Ok(text.len() as u64)
            }
        };
        fed.map_err(|error| self.unreadable(&error))
    }

    /// All bytes, as text.
    pub(crate) fn text(&self) -> Result<String, Failure> {
        let read = match self {
            Self::Stdin => io::read_to_string(io::stdin().lock()),
            Self::File(path) => std::fs::read_to_string(path),
            Self::Message(text) => Ok(text.clone()),
        };
        read.map_err(|error| self.unreadable(&error))
    }

    /// The file's path.
    pub(crate) fn path(&self) -> Option<&Path> {
        match self {
            Self::Stdin | Self::Message(_) => None,
            Self::File(path) => Some(path),
        }
    }

    fn unreadable(&self, error: &io::Error) -> Failure {
        Failure::file("input-unreadable", "read", self.name(), error)
    }

    fn name(&self) -> &Path {
        let unnamed = match self {
            Self::Message(_) => "the message",
            Self::Stdin | Self::File(_) => "the standard input",
        };
        self.path().unwrap_or(Path::new(unnamed))
    }
}

/// Reads on to the end, `expected` bytes or so.
fn feed(from: &mut impl Read, expected: u64, take: &mut dyn FnMut(&[u8])) -> io::Result<u64> {
    let mut block =
        vec![0; usize::try_from(expected.saturating_add(1)).unwrap_or(BLOCK).min(BLOCK)];
    let mut bytes = 0;
    loop {
        match from.read(&mut block) {
            Ok(0) => return Ok(bytes),
            Ok(length) => {
                take(&block[..length]);
                bytes += length as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}
