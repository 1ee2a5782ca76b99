//! A file in a baseline: its name, the mark of its bytes, the bytes.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use gate_platform::{OsStrExt, set_mode, symlink};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::error::BaselineError;
use crate::path_text;
use crate::worktree::{File, Kind};

/// A file as the baseline has it.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredFile {
    /// The file's bytes; of a link, its target.
    pub bytes: Vec<u8>,
    /// A plain file, an executable one, or a link.
    pub kind: Kind,
}

/// A file's name relative to the root, stored as [`path_text`] writes it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Name(pub(super) Vec<u8>);

/// The identity of a file's content, by which it is compared without its bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Mark {
    /// BLAKE3 of the bytes, in hex digits.
    pub(super) hash: String,
    pub(super) kind: Kind,
}

impl StoredFile {
    /// Writes the file to a path, and makes the folders above. A file that stands there is replaced.
    pub(crate) fn write(&self, path: &Path) -> Result<(), BaselineError> {
        self.try_write(path).map_err(|source| BaselineError::Io { path: path.to_owned(), source })
    }

    fn try_write(&self, path: &Path) -> io::Result<()> {
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        match fs::remove_file(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        if self.kind == Kind::Link {
            return symlink(OsStr::from_bytes(&self.bytes), path);
        }
        fs::write(path, &self.bytes)?;
        let mode = if self.kind == Kind::Executable { 0o755 } else { 0o644 };
        set_mode(path, mode)
    }
}

impl Mark {
    pub(super) fn new(file: &File) -> Self {
        let hash = blake3::Hash::from_bytes(*file.hash()).to_hex().to_string();
        let kind = match file.kind() {
            Kind::Unreadable => Kind::Special,
            kind => kind,
        };
        Self { hash, kind }
    }

    pub(super) fn is_of(&self, bytes: &[u8]) -> bool {
        blake3::hash(bytes).to_hex().as_str() == self.hash
    }
}

impl Name {
    pub(super) fn new(path: &Path) -> Self {
        Self(bytes(path).to_vec())
    }

    pub(super) fn path(&self) -> PathBuf {
        path(&self.0)
    }
}

impl Serialize for Name {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        path_text::serialize(&self.path(), serializer)
    }
}

impl<'de> Deserialize<'de> for Name {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        match path_text::path(&text) {
            Some(path) => Ok(Self::new(&path)),
            None => Err(D::Error::custom("a name in hex digits was expected")),
        }
    }
}

/// A path's bytes.
pub(super) fn bytes(path: &Path) -> &[u8] {
    path.as_os_str().as_bytes()
}

/// Bytes as a path.
pub(super) fn path(bytes: &[u8]) -> PathBuf {
    PathBuf::from(OsStr::from_bytes(bytes))
}

/// The text with a carriage return before each line break that has none.
pub(super) fn with_returns(text: &[u8]) -> Vec<u8> {
    let mut with_returns = Vec::with_capacity(text.len() + text.len() / 32);
    for byte in text {
        if *byte == b'\n' && with_returns.last() != Some(&b'\r') {
            with_returns.push(b'\r');
        }
        with_returns.push(*byte);
    }
    with_returns
}

#[cfg(test)]
mod tests;
