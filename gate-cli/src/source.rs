//! Where a transcript's bytes come from.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use crate::failure::Failure;

/// How much is read at once, in bytes.
const BLOCK: usize = 256 << 10;

/// A transcript to read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// The standard input.
    Stdin,
    /// A file.
    File(PathBuf),
}

impl Source {
    /// The source that a command line names: `-` is the standard input.
    pub fn named(name: &Path, folder: &Path) -> Self {
        if name == Path::new("-") { Self::Stdin } else { Self::File(folder.join(name)) }
    }

    /// Pushes all bytes to whoever takes them, in blocks.
    pub(crate) fn feed(&self, take: &mut dyn FnMut(&[u8])) -> Result<(), Failure> {
        let fed = match self {
            Self::Stdin => feed(&mut io::stdin().lock(), take),
            Self::File(path) => File::open(path).and_then(|mut file| feed(&mut file, take)),
        };
        fed.map_err(|error| Failure::file("input-unreadable", "read", self.name(), &error))
    }

    /// All bytes, as text.
    pub(crate) fn text(&self) -> Result<String, Failure> {
        let read = match self {
            Self::Stdin => io::read_to_string(io::stdin().lock()),
            Self::File(path) => std::fs::read_to_string(path),
        };
        read.map_err(|error| Failure::file("input-unreadable", "read", self.name(), &error))
    }

    /// The file's path.
    pub(crate) fn path(&self) -> Option<&Path> {
        match self {
            Self::Stdin => None,
            Self::File(path) => Some(path),
        }
    }

    fn name(&self) -> &Path {
        self.path().unwrap_or(Path::new("the standard input"))
    }
}

fn feed(from: &mut impl Read, take: &mut dyn FnMut(&[u8])) -> io::Result<()> {
    let mut block = vec![0; BLOCK];
    loop {
        match from.read(&mut block) {
            Ok(0) => return Ok(()),
            Ok(length) => take(&block[..length]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}
