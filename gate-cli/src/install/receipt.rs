//! Receipts of the files that gate changed, in gate's own data folder: the original bytes,
//! and the digest of the text that replaced them.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use gate_platform::{DirBuilderExt, OpenOptionsExt, set_mode};
use serde::{Deserialize, Deserializer, Serialize};

use super::disk;
use super::roots::Roots;
use super::scope::Scope;
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
    /// The file existed before.
    pub(super) existed: bool,
    /// The digest of the bytes that gate wrote.
    written: String,
    /// The digest of the original bytes.
    backup: String,
    /// The members that were made for the entry.
    pub(super) made: Vec<String>,
    /// The folders that were made for the file.
    #[serde(with = "gate_checks::path_text::list")]
    pub(super) folders: Vec<PathBuf>,
    /// The keys of trust entries; older receipts have one key or null.
    #[serde(deserialize_with = "keys")]
    pub(super) trust: Vec<String>,
}

/// A receipt, with the original bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Backup {
    pub(super) receipt: Receipt,
    pub(super) original: Vec<u8>,
}

impl Backup {
    /// For a file that gate has not changed yet.
    pub(super) fn new(agent: Agent, scope: Scope, file: &Path, original: Option<&[u8]>) -> Self {
        let receipt = Receipt {
            schema: SCHEMA.to_owned(),
            agent: agent.name().to_owned(),
            scope,
            file: file.to_owned(),
            existed: original.is_some(),
            written: String::new(),
            backup: String::new(),
            made: Vec::new(),
            folders: Vec::new(),
            trust: Vec::new(),
        };
        Self { receipt, original: original.unwrap_or_default().to_owned() }
    }

    /// The original bytes belong to the receipt.
    fn is_valid(&self) -> bool {
        self.receipt.schema == SCHEMA && self.receipt.backup == digest(&self.original)
    }

    /// These are the bytes that gate wrote.
    pub(super) fn is_written(&self, bytes: &[u8]) -> bool {
        self.receipt.written == digest(bytes)
    }

    /// With the digest of these new bytes.
    pub(super) fn with_written(mut self, bytes: &[u8]) -> Self {
        self.receipt.written = digest(bytes);
        self.receipt.backup = digest(&self.original);
        self
    }
}

fn keys<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Keys {
        Many(Vec<String>),
        One(Option<String>),
    }
    Ok(match Keys::deserialize(deserializer)? {
        Keys::Many(keys) => keys,
        Keys::One(key) => key.into_iter().collect(),
    })
}

fn digest(bytes: &[u8]) -> String {
    format!("blake3:{}", blake3::hash(bytes).to_hex())
}

/// The files of one backup.
#[derive(Clone, Debug)]
pub(super) struct BackupFiles {
    folder: PathBuf,
    name: String,
}

impl BackupFiles {
    /// The backup of a file that gate changed for an agent's settings file: of the settings themselves,
    /// or of the file that the trust in them stands in.
    pub(super) fn new(roots: &Roots, agent: Agent, settings: &Path, file: &Path) -> Self {
        let paths = [settings.as_os_str(), file.as_os_str()].map(|path| path.as_encoded_bytes());
        let key = blake3::hash(&paths.join(&0)).to_hex();
        let name = format!("{}-{}", agent.name(), &key[..16]);
        Self { folder: receipts_folder(roots), name }
    }

    pub(super) fn backup_file(&self) -> PathBuf {
        self.folder.join(format!("{}.before", self.name))
    }

    fn receipt_file(&self) -> PathBuf {
        self.folder.join(format!("{}.json", self.name))
    }

    /// The folders above a file that are gate's: folders that have to be made for it, and folders that
    /// were made for another file.
    ///
    /// # Errors
    ///
    /// Receipts that cannot be listed.
    pub(super) fn folders(&self, file: &Path) -> Result<Vec<PathBuf>, Failure> {
        let made_folders: Vec<_> =
            receipts(&self.folder)?.into_iter().flat_map(|receipt| receipt.folders).collect();
        let mut folders = Vec::new();
        for folder in file.ancestors().skip(1) {
            if folder.exists() && !made_folders.iter().any(|made_folder| made_folder == folder) {
                break;
            }
            folders.push(folder.to_owned());
        }
        folders.reverse();
        Ok(folders)
    }

    /// The stored file; `None` if gate changed nothing, or if the backup does not belong to
    /// the receipt.
    ///
    /// # Errors
    ///
    /// The receipt or the backup cannot be read.
    pub(super) fn load(&self) -> Result<Option<Backup>, Failure> {
        let (Some(json), Some(original)) =
            (disk::read(&self.receipt_file())?, disk::read(&self.backup_file())?)
        else {
            return Ok(None);
        };
        let receipt: Option<Receipt> = serde_json::from_slice(&json).ok();
        let backup = receipt.map(|receipt| Backup { receipt, original });
        Ok(backup.filter(Backup::is_valid))
    }

    /// Writes the backup, before anything is changed.
    ///
    /// # Errors
    ///
    /// The backup cannot be written.
    pub(super) fn save(&self, backup: &Backup) -> Result<(), Failure> {
        let json = serde_json::to_vec_pretty(&backup.receipt).map_err(io::Error::from);
        let saved = json.and_then(|json| {
            DirBuilder::new().recursive(true).mode(0o700).create(&self.folder)?;
            set_mode(&self.folder, 0o700)?;
            write_private(&self.backup_file(), &backup.original)?;
            // The receipt comes last: until then an older one does not fit the new backup, which
            // then counts for nothing.
            write_private(&self.receipt_file(), &json)
        });
        saved.map_err(|error| Failure::file("backup-unwritable", "write", &self.folder, &error))
    }

    pub(super) fn delete(&self) {
        // A file that stays behind is never read.
        for file in [self.receipt_file(), self.backup_file()] {
            let _ = fs::remove_file(file);
        }
        let _ = fs::remove_dir(&self.folder);
    }
}

fn receipts_folder(roots: &Roots) -> PathBuf {
    roots.data.join("installed")
}

/// The files that gate has changed, and not changed back.
///
/// # Errors
///
/// Receipts that cannot be listed.
pub(super) fn changed_files(roots: &Roots) -> Result<Vec<PathBuf>, Failure> {
    Ok(receipts(&receipts_folder(roots))?.into_iter().map(|receipt| receipt.file).collect())
}

/// All receipts in a folder. Receipts that cannot be read are passed over.
fn receipts(folder: &Path) -> Result<Vec<Receipt>, Failure> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(Failure::file("file-unreadable", "list", folder, &error)),
    };
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let files = paths.filter(|path| path.extension().is_some_and(|extension| extension == "json"));
    Ok(files.filter_map(|file| serde_json::from_slice(&fs::read(file).ok()?).ok()).collect())
}

/// Writes a file for the user's eyes alone: settings may hold keys.
fn write_private(file: &Path, bytes: &[u8]) -> io::Result<()> {
    let new_path = file.with_extension("new");
    let mut options = OpenOptions::new();
    let mut new_file =
        options.write(true).create(true).truncate(true).mode(0o600).open(&new_path)?;
    new_file.write_all(bytes)?;
    new_file.sync_all()?;
    fs::rename(&new_path, file)
}
