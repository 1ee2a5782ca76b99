//! The sources of a transcript: a file, the standard input, a message.

mod ends;

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use gate_core::Scanner;

use crate::failure::Failure;

use ends::LongFile;
pub(crate) use ends::{Beginning, HashingScanner};

/// Bytes that are read at once.
const BLOCK: usize = 512 << 10;

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
        let fed = match self {
            Self::Stdin => feed(&mut io::stdin().lock(), BLOCK, take),
            Self::File(path) => File::open(path).and_then(|mut file| {
                let length = file.metadata()?.len();
                feed(&mut file, block_for(length), take)
            }),
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

/// The buffer for a file of this length, in bytes: a small file should not pay for a
/// large buffer. Pipes have no length.
fn block_for(length: u64) -> usize {
    match usize::try_from(length) {
        Ok(0) | Err(_) => BLOCK,
        Ok(length) => BLOCK.min(length + 1),
    }
}

/// Reads up to the end, a block at a time; returns how many bytes there were.
fn feed(from: &mut impl Read, block: usize, take: &mut dyn FnMut(&[u8])) -> io::Result<u64> {
    let mut block = vec![0; block];
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
