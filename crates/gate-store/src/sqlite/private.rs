//! The state folder and the files in it: this user's alone, and no links.

use std::fs::{self, Metadata, OpenOptions};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use gate_core::state_folder::{PANICS, SLOTS};
use gate_platform::{
    MetadataExt, NO_FOLLOW, NON_BLOCKING, OpenOptionsExt, effective_user, identity_at,
    set_file_mode,
};
use uuid::Uuid;

use super::super::error::StoreError;
use gate_fleet::durable;

/// The database's file.
const DATABASE: &str = "gate.db";

/// The file of the key from which the tokens of iterations are made.
pub const TOKEN_KEY: &str = "signal.key";

/// Suffixes of the files that SQLite writes beside the database.
const SQLITE_SUFFIXES: [&str; 3] = ["-wal", "-shm", "-journal"];

/// Names of files in gate's state folder. One of them marks a folder as gate's own.
const GATE_NAMES: [&str; 5] = [DATABASE, "trees", TOKEN_KEY, SLOTS, PANICS];

/// Permissions of others.
const OTHERS: u32 = 0o077;

/// The mode bit of a folder that many users share, such as that for temporary files.
const STICKY: u32 = 0o1000;

/// The state folder, by its real path.
#[derive(Debug)]
pub(super) struct Folder {
    path: PathBuf,
    database: PathBuf,
    log: PathBuf,
}

/// Device and inode of a file, which survive a new name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Identity(u64, u64);

impl Folder {
    /// The folder with this path. It need not exist.
    ///
    /// # Errors
    ///
    /// A path that is relative to a working folder that is gone.
    pub(super) fn at(path: &Path) -> Result<Self, StoreError> {
        let path = real_path(path).map_err(|error| unwritable(path, &error.to_string()))?;
        let database = path.join(DATABASE);
        let log = path.join(format!("{DATABASE}-wal"));
        Ok(Self { path, database, log })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn database(&self) -> PathBuf {
        self.database.clone()
    }

    /// Size of the log in bytes; 0 if there is none.
    pub(super) fn log_size(&self) -> u64 {
        fs::symlink_metadata(&self.log).map_or(0, |metadata| metadata.len())
    }

    /// The identity of the database's file now.
    ///
    /// # Errors
    ///
    /// A file that is gone.
    pub(super) fn identity(&self) -> Result<Identity, StoreError> {
        let metadata =
            metadata(&self.database)?.ok_or_else(|| unwritable(&self.database, "it is gone"))?;
        let (device, number) = identity_at(&self.database, &metadata)
            .map_err(|error| unwritable(&self.database, &error.to_string()))?;
        Ok(Identity(device, number))
    }

    /// Looks for the database, closes folder and files to others, and returns true if there is a
    /// database. Nothing is made.
    ///
    /// # Errors
    ///
    /// A folder or file that is a link, another user's or of another kind.
    pub(super) fn check(&self) -> Result<bool, StoreError> {
        match metadata(&self.path)? {
            None => Ok(false),
            Some(folder) => {
                self.check_folder(&folder)?;
                self.check_files()
            }
        }
    }

    /// Makes the folder and an empty database if they are missing.
    ///
    /// # Errors
    ///
    /// As [`check`](Self::check), and what cannot be made.
    pub(super) fn make(&self) -> Result<(), StoreError> {
        if self.check()? {
            return Ok(());
        }
        durable::make_folder(&self.path)
            .map_err(|error| unwritable(&self.path, &error.to_string()))?;
        // The folder is durable before the file exists: a gate that finds the file relies on it.
        // SQLite's first commit makes the names in the folder durable.
        match OpenOptions::new().write(true).create_new(true).mode(0o600).open(&self.database) {
            Err(error) if error.kind() != ErrorKind::AlreadyExists => {
                Err(unwritable(&self.database, &error.to_string()))
            }
            _ => self.check().map(drop),
        }
    }

    /// The folder and its files that others may enter, read or write. [`check`](Self::check)
    /// closes them.
    pub(super) fn open_to_others(&self) -> Vec<PathBuf> {
        let sqlite_files =
            SQLITE_SUFFIXES.map(|suffix| self.path.join(format!("{DATABASE}{suffix}")));
        let paths = [self.path.clone(), self.database.clone()].into_iter().chain(sqlite_files);
        let is_open = |path: &PathBuf| {
            fs::symlink_metadata(path).is_ok_and(|metadata| metadata.mode() & OTHERS != 0)
        };
        paths.filter(is_open).collect()
    }

    /// The free space of the disk, in bytes.
    pub(super) fn free_bytes(&self) -> Option<u64> {
        gate_platform::free_bytes(&self.path)
    }

    /// The size of the database and its log, in bytes.
    pub(super) fn bytes(&self) -> u64 {
        let file = fs::symlink_metadata(&self.database).map_or(0, |metadata| metadata.len());
        file + self.log_size()
    }

    /// Gives the database, and SQLite's files beside it, another name.
    ///
    /// # Errors
    ///
    /// A folder that cannot be written.
    pub(super) fn set_aside(&self) -> Result<(), StoreError> {
        let lost_name = format!("{DATABASE}.lost-{}", Uuid::now_v7());
        // The log goes first: one that stayed behind would be read as that of the next database.
        for suffix in SQLITE_SUFFIXES.into_iter().chain([""]) {
            let file = self.path.join(format!("{DATABASE}{suffix}"));
            match fs::rename(&file, self.path.join(format!("{lost_name}{suffix}"))) {
                Err(error) if error.kind() != ErrorKind::NotFound => {
                    return Err(unwritable(&file, &error.to_string()));
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn check_folder(&self, folder: &Metadata) -> Result<(), StoreError> {
        if !folder.is_dir() {
            return Err(unwritable(&self.path, "a folder is expected, and no link to one"));
        }
        check_owner(&self.path, folder)?;
        if folder.mode() & OTHERS != 0 { self.lock_others_out(folder) } else { Ok(()) }
    }

    /// A state folder that others may enter is closed to them: people who make it by hand rarely
    /// think of that, and a loop should not stop for it. A folder that many share, or that holds
    /// other things than gate's, is refused: to close it would lock others out of what is theirs.
    fn lock_others_out(&self, folder: &Metadata) -> Result<(), StoreError> {
        let reason = "others may enter it, and it is not gate's alone: name another folder";
        if folder.mode() & STICKY != 0 || !self.is_gates().unwrap_or(false) {
            return Err(unwritable(&self.path, reason));
        }
        close(&self.path, 0o700)
    }

    /// The folder is empty, or holds gate's own files.
    fn is_gates(&self) -> io::Result<bool> {
        let is_empty = fs::read_dir(&self.path)?.next().is_none();
        Ok(is_empty || GATE_NAMES.iter().any(|name| self.path.join(name).exists()))
    }

    fn check_files(&self) -> Result<bool, StoreError> {
        for suffix in SQLITE_SUFFIXES {
            check_file(&self.path.join(format!("{DATABASE}{suffix}")))?;
        }
        check_file(&self.database)
    }
}

/// Returns true if the file exists. It has to be this user's, and is closed to others.
fn check_file(path: &Path) -> Result<bool, StoreError> {
    let Some(file) = metadata(path)? else { return Ok(false) };
    if !file.is_file() {
        return Err(unwritable(path, "a file is expected, and no link to one"));
    }
    check_owner(path, &file)?;
    if file.mode() & OTHERS != 0 {
        close(path, 0o600)?;
    }
    Ok(true)
}

fn check_owner(path: &Path, metadata: &Metadata) -> Result<(), StoreError> {
    let is_mine = metadata.uid() == effective_user();
    if is_mine { Ok(()) } else { Err(unwritable(path, "it belongs to somebody else")) }
}

/// The metadata at a path, without following a link; `None` if the path is free.
fn metadata(path: &Path) -> Result<Option<Metadata>, StoreError> {
    match fs::symlink_metadata(path) {
        Ok(metadata) => Ok(Some(metadata)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(unwritable(path, &error.to_string())),
    }
}

/// Takes others' permissions away, without following a link: somebody may have put one at the path
/// since it was checked.
fn close(path: &Path, mode: u32) -> Result<(), StoreError> {
    let file = OpenOptions::new().read(true).custom_flags(NO_FOLLOW | NON_BLOCKING).open(path);
    file.and_then(|file| set_file_mode(&file, mode))
        .map_err(|error| unwritable(path, &error.to_string()))
}

pub(super) fn unwritable(path: &Path, reason: &str) -> StoreError {
    StoreError::Unwritable { path: path.display().to_string(), reason: reason.to_owned() }
}

/// The path without links, except in its last name and in parts that do not exist yet. A link in the
/// last name is for [`Folder::check`] to refuse.
fn real_path(path: &Path) -> io::Result<PathBuf> {
    let path = std::path::absolute(path)?;
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
        return fs::canonicalize(path);
    };
    match fs::canonicalize(parent) {
        Ok(parent) => Ok(parent.join(name)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(real_path(parent)?.join(name)),
        Err(error) => Err(error),
    }
}
