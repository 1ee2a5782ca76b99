//! The sources of a transcript: a file, the standard input, a message.

mod ends;

use std::io;
use std::path::{Path, PathBuf};

use gate_core::Scanner;
use gate_lens::read::{BLOCK, read_blocks, read_file};

use crate::failure::Failure;

use ends::LongFile;
pub(crate) use ends::{Beginning, HashingScanner};

/// Files from this size on, in bytes, are read from both ends.
const LONG_FILE_BYTES: u64 = 1 << 20;

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

impl From<&Path> for Source {
    fn from(path: &Path) -> Self {
        Self::File(path.to_owned())
    }
}

impl From<PathBuf> for Source {
    fn from(path: PathBuf) -> Self {
        Self::File(path)
    }
}

impl From<&str> for Source {
    fn from(text: &str) -> Self {
        Self::Message(text.to_owned())
    }
}

impl From<String> for Source {
    fn from(text: String) -> Self {
        Self::Message(text)
    }
}

impl Source {
    /// The source that a command line names: `-` is the standard input.
    pub fn named(name: &Path, folder: &Path) -> Self {
        if name == Path::new("-") { Self::Stdin } else { Self::File(folder.join(name)) }
    }

    /// Reads everything into a scanner; returns the length in bytes.
    pub(crate) fn scan(&self, scanner: &mut Scanner<'_>) -> Result<u64, Failure> {
        self.feed(&mut |bytes| scanner.push(bytes))
    }

    /// Reads the beginning of a large file whose rest need not be read whole, and everything
    /// else to its end. Of a large file whose last word is known (`brief`), a short end suffices.
    pub(crate) fn begin(
        &self,
        scanner: &mut HashingScanner<'_, '_>,
        brief: bool,
    ) -> Result<Beginning, Failure> {
        if let Self::File(path) = self
            && let Ok(length @ LONG_FILE_BYTES..) = std::fs::metadata(path).map(|file| file.len())
        {
            let begun = LongFile::open(path, length).and_then(|file| {
                if brief { file.end(scanner).map(Beginning::All) } else { file.begin(scanner) }
            });
            return begun.map_err(|error| self.unreadable(&error));
        }
        self.feed(&mut |bytes| scanner.push(bytes)).map(Beginning::All)
    }

    /// Reads the end of a large file, and what is new since an earlier reading came up to the byte
    /// `known`; returns the length in bytes.
    pub(crate) fn finish(
        &self,
        file: LongFile,
        known: Option<u64>,
        scanner: &mut HashingScanner<'_, '_>,
    ) -> Result<u64, Failure> {
        file.new_and_end(known, scanner).map_err(|error| self.unreadable(&error))
    }

    /// Passes all bytes to `take`, in blocks. Returns their number.
    pub(crate) fn feed(&self, take: &mut dyn FnMut(&[u8])) -> Result<u64, Failure> {
        match self {
            Self::Stdin => read_blocks(&mut io::stdin().lock(), BLOCK, take)
                .map_err(|error| self.unreadable(&error)),
            Self::File(path) => read_file(path, take),
            Self::Message(text) => {
                take(text.as_bytes());
                Ok(text.len() as u64)
            }
        }
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
