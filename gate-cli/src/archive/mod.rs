//! Archives: old decisions of a ledger that have left its store.
//!
//! An archive is a compressed export (`.jsonl.gz`) of the archived records, in their order. The
//! ledger's record about it has its digest and a signature. A store whose records have a gap is
//! whole together with its archives.

mod folder;
mod reader;
mod signature;
mod writer;

use std::fmt;
use std::path::{Path, PathBuf};

use gate_core::ledger::{Hash, Sealed};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::failure::Failure;

pub(crate) use folder::ArchiveFolder;
pub(crate) use reader::Archives;
pub(crate) use writer::{ArchiveWriter, WrittenArchive};

/// The folder of the archives in the state folder.
pub(crate) const FOLDER: &str = "archive";

/// The suffix of the file with an archive's signature.
const SIGNATURE: &str = "sig";

/// An archive, as the record about it and the file with its signature have it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Archive {
    /// The name of the file.
    pub(crate) file: String,
    /// The folder that it was written to.
    pub(crate) folder: String,
    /// The machine that wrote it.
    pub(crate) host: String,
    /// The project's id.
    pub(crate) project: String,
    /// The number of the first archived record.
    pub(crate) first: u64,
    /// The number of the last archived record.
    pub(crate) last: u64,
    /// The number of archived records.
    pub(crate) records: u64,
    /// When the last archived record was written (RFC 3339, UTC).
    pub(crate) until: String,
    /// The hash of the last archived record.
    pub(crate) head: Hash,
    /// The size of the file, in bytes.
    pub(crate) bytes: u64,
    /// The BLAKE3 of the file, in hexadecimal digits.
    pub(crate) digest: Hash,
    /// The public Ed25519 key that verifies the signature, in hexadecimal digits.
    pub(crate) key: String,
    /// The Ed25519 signature, in hexadecimal digits.
    pub(crate) signature: String,
}

/// An archive that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{records} archived, and {} {what}", .file.display())]
pub(crate) struct BadArchive {
    /// The archived records, in words.
    records: ArchivedRecords,
    /// The file.
    pub(crate) file: PathBuf,
    /// The fault of the file.
    what: String,
}

/// The first and the last of archived records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ArchivedRecords {
    first: u64,
    last: u64,
}

impl fmt::Display for ArchivedRecords {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { first, last } = self;
        if first == last {
            return write!(f, "record {first} is");
        }
        write!(f, "decisions from record {first} to {last} are")
    }
}

impl From<BadArchive> for Failure {
    fn from(bad: BadArchive) -> Self {
        let failure = Self::internal("archive-unusable", bad.to_string());
        Self { file: Some(bad.file.display().to_string()), ..failure }
    }
}

impl Archive {
    /// The archive that a record names; none if it is another record.
    pub(crate) fn named_by(sealed: &Sealed) -> Option<Self> {
        let archive: &Value = sealed.record.body.get("archive")?;
        Self::deserialize(archive).ok()
    }

    /// Its file: in the folder of this state, where an operator may have put it, else where it
    /// was written.
    fn path(&self, state: Option<&Path>) -> PathBuf {
        // A path in the record must not lead elsewhere: only the file's name counts.
        let name = Path::new(&self.file).file_name().unwrap_or_default();
        let here = state.map(|state| state.join(FOLDER).join(name)).filter(|here| here.is_file());
        here.unwrap_or_else(|| Path::new(&self.folder).join(name))
    }

    fn bad(&self, file: &Path, what: impl Into<String>) -> BadArchive {
        let records = ArchivedRecords { first: self.first, last: self.last };
        BadArchive { records, file: file.to_owned(), what: what.into() }
    }
}

/// The file with the signature of an archive. It has a part of the key's digits, because copies of
/// a ledger on two machines may have the same archive in one folder.
fn signature_file(archive: &Path, key: &str) -> PathBuf {
    let mut name = archive.as_os_str().to_owned();
    name.push(format!(".{}.{SIGNATURE}", key.get(..8).unwrap_or(key)));
    name.into()
}
