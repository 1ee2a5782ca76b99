//! Receipts of the files that gate changed, in gate's own data folder: the original bytes,
//! and the digest of the text that replaced them.

use std::fs::{self, DirBuilder, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Deserializer, Serialize};

use super::{Roots, Scope, disk};
use crate::agent::Agent;
use crate::failure::Failure;

const SCHEMA: &str = "gate.installed.v1";

/// Gate's change to a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Receipt {
    schema: String,
    agent: String,
    scope: Scope,
    #[serde(with = "gate_checks::path_text")]
    file: PathBuf,
    /// True if the file was there.
    pub(super) existed: bool,
    /// The digest of what was written.
    written: String,
    /// The digest of the bytes as they were.
    backup: String,
    /// The members that were made for the entry.
    pub(super) made: Vec<String>,
    /// The folders that were made for the file.
    #[serde(with = "gate_checks::path_text::list")]
    pub(super) folders: Vec<PathBuf>,
    /// The keys of words of trust; older receipts know one, or none.
    #[serde(deserialize_with = "keys")]
    pub(super) trust: Vec<String>,
}

/// A receipt, with the bytes as they were.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Kept {
    pub(super) receipt: Receipt,
    pub(super) before: Vec<u8>,
}

impl Kept {
    /// Of a file that nothing was done to yet.
    pub(super) fn new(agent: Agent, scope: Scope, file: &Path, before: Option<&[u8]>) -> Self {
        let receipt = Receipt {
            schema: SCHEMA.to_owned(),
            agent: agent.name().to_owned(),
            scope,
            file: file.to_owned(),
            existed: before.is_some(),
            written: String::new(),
            backup: String::new(),
            made: Vec::new(),
            folders: Vec::new(),
            trust: Vec::new(),
        };
        Self { receipt, before: before.unwrap_or_default().to_owned() }
    }

    /// True if these bytes are what gate wrote.
    pub(super) fn wrote(&self, bytes: &[u8]) -> bool {
        self.receipt.written == digest(bytes)
    }

    /// With what is written now.
    pub(super) fn writing(mut self, bytes: &[u8]) -> Self {
        self.receipt.written = digest(bytes);
        self.receipt.backup = digest(&self.before);
        self
    }
}

fn keys<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Keys {
        Many(Vec<String>),
        One(Option<String>),
    }
    Ok(match Keys::deserialize(from)? {
        Keys::Many(keys) => keys,
        Keys::One(key) => key.into_iter().collect(),
    })
}

fn digest(bytes: &[u8]) -> String {
    format!("blake3:{}", blake3::hash(bytes).to_hex())
}

/// Folder of one file's receipts.
#[derive(Clone, Debug)]
pub(super) struct Shelf {
    folder: PathBuf,
    name: String,
}

impl Shelf {
    /// For what an agent's settings file made gate do to a file: to itself, or
    /// to the one that its trust stands in.
    pub(super) fn new(roots: &Roots, agent: Agent, settings: &Path, file: &Path) -> Self {
        let both = [settings.as_os_str(), file.as_os_str()].map(|path| path.as_encoded_bytes());
        let key = blake3::hash(&both.join(&0)).to_hex();
        let name = format!("{}-{}", agent.name(), &key[..16]);
        Self { folder: roots.data.join("installed"), name }
    }

    /// The backup's file.
    pub(super) fn backup(&self) -> PathBuf {
        self.folder.join(format!("{}.before", self.name))
    }

    fn receipt(&self) -> PathBuf {
        self.folder.join(format!("{}.json", self.name))
    }

    /// The folders above a file that are gate's: those that have to be made
    /// for it, and those that were made for another.
    ///
    /// # Errors
    ///
    /// The receipts are there and cannot be listed.
    pub(super) fn folders(&self, file: &Path) -> Result<Vec<PathBuf>, Failure> {
        let made = self.all_made()?;
        let is_ours = |folder: &&Path| !folder.exists() || made.iter().any(|made| made == folder);
        let mut folders: Vec<_> =
            file.ancestors().skip(1).take_while(is_ours).map(Path::to_owned).collect();
        folders.reverse();
        Ok(folders)
    }

    fn all_made(&self) -> Result<Vec<PathBuf>, Failure> {
        let entries = match fs::read_dir(&self.folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => {
                return Err(Failure::file("file-unreadable", "list", &self.folder, &error));
            }
        };
        let files = entries.filter_map(|entry| Some(entry.ok()?.path()));
        let receipts =
            files.filter(|file| file.extension().is_some_and(|extension| extension == "json"));
        let read = |file: PathBuf| serde_json::from_slice::<Receipt>(&fs::read(file).ok()?).ok();
        Ok(receipts.filter_map(read).flat_map(|receipt| receipt.folders).collect())
    }

    /// The stored file; `None` if gate changed nothing, or if the backup does not belong to
    /// the receipt.
    ///
    /// # Errors
    ///
    /// The receipt or the backup cannot be read.
    pub(super) fn load(&self) -> Result<Option<Kept>, Failure> {
        let (Some(receipt), Some(before)) =
            (disk::read(&self.receipt())?, disk::read(&self.backup())?)
        else {
            return Ok(None);
        };
        let receipt: Option<Receipt> = serde_json::from_slice(&receipt).ok();
        let holds =
            |receipt: &Receipt| receipt.schema == SCHEMA && receipt.backup == digest(&before);
        Ok(receipt.filter(holds).map(|receipt| Kept { receipt, before }))
    }

    /// Keeps it, before anything is changed.
    ///
    /// # Errors
    ///
    /// It cannot be written.
    pub(super) fn keep(&self, kept: &Kept) -> Result<(), Failure> {
        let receipt = serde_json::to_vec_pretty(&kept.receipt).map_err(io::Error::from);
        let kept = receipt.and_then(|receipt| {
            DirBuilder::new().recursive(true).mode(0o700).create(&self.folder)?;
            fs::set_permissions(&self.folder, Permissions::from_mode(0o700))?;
            private(&self.backup(), &kept.before)?;
            private(&self.receipt(), &receipt)
        });
        kept.map_err(|error| Failure::file("backup-unwritable", "write", &self.folder, &error))
    }

    /// Forgets it.
    pub(super) fn forget(&self) {
        // What stays behind is no more than a file that nobody asks for.
        for file in [self.receipt(), self.backup()] {
            let _ = fs::remove_file(file);
        }
        let _ = fs::remove_dir(&self.folder);
    }
}

/// For the user's eyes alone: settings may hold keys.
fn private(file: &Path, bytes: &[u8]) -> io::Result<()> {
    let beside = file.with_extension("new");
    let mut options = OpenOptions::new();
    let mut new = options.write(true).create(true).truncate(true).mode(0o600).open(&beside)?;
    new.write_all(bytes)?;
    new.sync_all()?;
    fs::rename(&beside, file)
}
