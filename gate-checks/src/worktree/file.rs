//! One file of the work tree, and its metadata, read without opening it.

use std::ffi::OsStr;
use std::fs::Metadata;
use std::path::Path;

use gate_platform::{MetadataExt, OsStrExt};
use serde::{Deserialize, Serialize};

/// One file of the work tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    path: Box<[u8]>,
    kind: Kind,
    hash: [u8; 32],
}

/// The kind of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// A plain file.
    Plain,
    /// A plain file that its owner may execute.
    Executable,
    /// A symbolic link; its content is the text that it holds.
    Link,
    /// A pipe, a socket or a device; it is never opened.
    #[serde(rename = "other")]
    Special,
    /// A file or folder that could not be read. It is known by its times and
    /// size alone, and equals nothing that could be read.
    Unreadable,
}

impl File {
    pub(crate) fn new(path: Box<[u8]>, kind: Kind, hash: [u8; 32]) -> Self {
        Self { path, kind, hash }
    }

    /// The file's name, relative to the root.
    pub fn path(&self) -> &Path {
        Path::new(OsStr::from_bytes(&self.path))
    }

    /// The bytes of the file's name, relative to the root.
    pub(super) fn path_bytes(&self) -> &[u8] {
        &self.path
    }

    /// The kind of file.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// The BLAKE3 hash of the file's bytes.
    pub fn hash(&self) -> &[u8; 32] {
        &self.hash
    }
}

impl Kind {
    /// The letter for the kind in digests.
    pub(super) fn digest_letter(self) -> u8 {
        match self {
            Self::Plain => b'f',
            Self::Executable => b'x',
            Self::Link => b'l',
            Self::Special => b's',
            Self::Unreadable => b'?',
        }
    }
}

/// The bits of a mode that tell what a file is (inode(7)).
const TYPE: u32 = 0o170_000;
const FOLDER: u32 = 0o040_000;
const PLAIN: u32 = 0o100_000;
const LINK: u32 = 0o120_000;

/// The metadata that differs between two states of a file. Only the kernel sets `ctime`, and it
/// does so at every write through a file descriptor. A write to mapped memory need not set it
/// after the first such write: gate does not see that change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stat {
    pub(super) size: u64,
    /// When the bytes last changed, in nanoseconds since 1970.
    pub(super) mtime: i64,
    /// When anything last changed, in nanoseconds since 1970.
    pub(super) ctime: i64,
    pub(super) inode: u64,
    pub(super) device: u64,
    pub(super) mode: u32,
}

impl Stat {
    pub(super) fn new(metadata: &Metadata) -> Self {
        Self {
            size: metadata.size(),
            mtime: nanoseconds(metadata.mtime(), metadata.mtime_nsec()),
            ctime: nanoseconds(metadata.ctime(), metadata.ctime_nsec()),
            inode: metadata.ino(),
            device: metadata.dev(),
            mode: metadata.mode(),
        }
    }

    /// The kind of file, as far as the metadata tells.
    pub(super) fn kind(&self) -> Kind {
        match self.mode & TYPE {
            PLAIN if self.mode & 0o100 != 0 => Kind::Executable,
            PLAIN => Kind::Plain,
            LINK => Kind::Link,
            FOLDER => Kind::Unreadable,
            _ => Kind::Special,
        }
    }

    /// The part of the mode that tells files from folders, links and devices.
    pub(super) fn file_type(&self) -> u32 {
        self.mode & TYPE
    }
}

fn nanoseconds(seconds: i64, fraction: i64) -> i64 {
    seconds.saturating_mul(1_000_000_000).saturating_add(fraction)
}
