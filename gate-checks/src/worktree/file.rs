//! One file of the work tree.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// One file of the work tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    path: Box<[u8]>,
    kind: Kind,
    hash: [u8; 32],
}

/// The kind of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A plain file.
    Plain,
    /// A plain file that its owner may execute.
    Executable,
    /// A symbolic link; its content is the text that it holds.
    Link,
    /// A pipe, a socket or a device; it is never opened.
    Special,
    /// A file or folder that could not be read. It is known by its times and
    /// size alone, and equals nothing that could be read.
    Unreadable,
}

impl File {
    pub(super) fn new(path: Box<[u8]>, kind: Kind, hash: [u8; 32]) -> Self {
        Self { path, kind, hash }
    }

    /// Its name, relative to the root.
    pub fn path(&self) -> &Path {
        Path::new(OsStr::from_bytes(&self.path))
    }

    /// The bytes of its name, relative to the root.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.path
    }

    /// The kind of file.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// The BLAKE3 hash of its bytes.
    pub fn hash(&self) -> &[u8; 32] {
        &self.hash
    }
}

impl Kind {
    pub(super) fn mark(self) -> u8 {
        match self {
            Self::Plain => b'f',
            Self::Executable => b'x',
            Self::Link => b'l',
            Self::Special => b's',
            Self::Unreadable => b'?',
        }
    }
}
