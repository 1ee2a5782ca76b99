//! The copy that a backup made takes the place of the database.
//!
//! Its pages are written over those of the database in one transaction, so gates that have the
//! file open go on with the new content. A file that took the other one's place would leave them
//! with a log that belongs to neither.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use gate_core::ledger::Head;
use rusqlite::TransactionBehavior::Deferred;
use rusqlite::backup::{Backup, StepResult};
use rusqlite::{Connection, OpenFlags};
use tempfile::TempDir;

use super::super::error::StoreError;
use super::super::sql::{Sql, SqlValue, texts};
use super::super::{migration, row, statements};
use super::connection::{Opened, Schema, copy_to, damage};
use super::lock::LockWait;
use super::private::{Folder, unwritable};
use super::transaction::Running;
use super::{INTEGRITY_CHECK, SqliteStore, fault};
use crate::durable;

/// The beginning of the names of folders with copies.
const PREFIX: &str = "restore-";

/// The age at which such a folder is one that a killed gate left behind.
const LEFTOVER_AGE: Duration = Duration::from_secs(24 * 60 * 60);

/// The name that a copy of the database has while it is made.
const BEFORE: &str = "before.db";

/// A copy of a backup in the state folder, whose pages and version are sound.
#[derive(Debug)]
pub struct Staged {
    folder: TempDir,
}

impl Staged {
    /// A state folder with the copy.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }
}

/// A database that was replaced.
#[derive(Debug)]
pub struct Replaced {
    /// The file that has what was there before; none if nothing was.
    pub aside: Option<PathBuf>,
    /// The last record of each project before, if it could be read.
    pub before: Vec<(String, Head)>,
}

impl SqliteStore {
    /// Copies a backup into the state folder, and checks the copy.
    ///
    /// # Errors
    ///
    /// A file that is damaged, none of gate's, or a newer gate's; a full disk.
    pub fn stage(&mut self, file: &Path) -> Result<Staged, StoreError> {
        self.folder.make()?;
        remove_leftovers(self.folder.path());
        let folder = tempfile::Builder::new().prefix(PREFIX).tempdir_in(self.folder.path());
        let folder = folder.map_err(|error| unwritable(self.folder.path(), &error.to_string()))?;
        let path = file.display().to_string();
        let named = |error: rusqlite::Error| fault::store_error(&path, &error);
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let backup = Connection::open_with_flags(file, flags).map_err(named)?;
        if let Some(first) = damage(&backup, &path, INTEGRITY_CHECK)?.first() {
            return Err(StoreError::corrupt(format!("{path}: {first}")));
        }
        let version = backup.query_row(statements::VERSION, [], |row| row.get::<_, Option<i64>>(0));
        match version {
            Err(error) if fault::is_missing(&error) => {
                let what =
                    format!("{path}: the table gate_schema is missing: it is no store of gate");
                return Err(StoreError::corrupt(what));
            }
            version => migration::from(version.map_err(named)?.unwrap_or_default())?,
        };
        let staged = Folder::at(folder.path())?;
        copy_to(&backup, &staged.database())?;
        let wait = LockWait::new(&path, self.patience);
        let mut slot = None;
        Opened::current(&mut slot, &staged)?.keep_log(&wait)?;
        Ok(Staged { folder })
    }

    /// Lets a copy take the place of the database, and keeps what was there.
    ///
    /// # Errors
    ///
    /// A folder or file that cannot be written. The database is as it was then.
    pub fn replace(&mut self, staged: &Staged) -> Result<Replaced, StoreError> {
        self.folder.make()?;
        let replaced = match self.overwrite(staged) {
            // The pages cannot be read, so the whole file goes.
            Err(StoreError::Corrupt { .. }) => {
                self.opened = None;
                let aside = self.folder.set_aside()?;
                let database = self.folder.database();
                fs::rename(Folder::at(staged.folder())?.database(), &database)
                    .and_then(|()| durable::sync_folder(self.folder.path()))
                    .map_err(|error| unwritable(&database, &error.to_string()))?;
                Ok(Replaced { aside: Some(aside), before: Vec::new() })
            }
            replaced => replaced,
        };
        self.opened = None;
        replaced
    }

    /// Writes the pages of a copy over those of the database.
    fn overwrite(&mut self, staged: &Staged) -> Result<Replaced, StoreError> {
        let (path, wait) = (&self.place, LockWait::new(&self.place, self.patience));
        let named = |error: rusqlite::Error| fault::store_error(path, &error);
        let opened = Opened::current(&mut self.opened, &self.folder)?;
        opened.keep_log(&wait)?;
        let from = connection(&Folder::at(staged.folder())?).map_err(named)?;
        let mut to = connection(&self.folder).map_err(named)?;
        let backup = Backup::new(&from, &mut to).map_err(named)?;
        // With the first page nobody else can write any more.
        step(&backup, 1, &wait, path)?;
        let (mut running, schema) = opened.begin(Deferred, &wait)?;
        let (mut aside, mut before) = (None, Vec::new());
        if schema != Schema::Empty {
            before = heads(&mut running)?;
            drop(running);
            // A file that is only half there has no such name.
            let (whole, file) = (staged.folder().join(BEFORE), self.folder.aside());
            opened.copy_to(&whole)?;
            // The name has to be on the disk before the database is overwritten.
            fs::rename(&whole, &file)
                .and_then(|()| durable::sync_folder(self.folder.path()))
                .map_err(|error| unwritable(&file, &error.to_string()))?;
            aside = Some(file);
        }
        let written = step(&backup, -1, &wait, path);
        if let (Err(_), Some(file)) = (&written, &aside) {
            let _ = fs::remove_file(file);
        }
        written.map(|()| Replaced { aside, before })
    }
}

/// Removes the folders that killed gates left behind. What cannot be removed stays.
fn remove_leftovers(state: &Path) {
    for entry in fs::read_dir(state).into_iter().flatten().flatten() {
        let is_copy = entry.file_name().to_string_lossy().starts_with(PREFIX);
        let changed = entry.metadata().and_then(|metadata| metadata.modified());
        let is_old = changed.is_ok_and(|at| at.elapsed().is_ok_and(|age| age > LEFTOVER_AGE));
        if is_copy && is_old {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

fn connection(folder: &Folder) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    Connection::open_with_flags(folder.database(), flags)
}

/// Copies so many pages, or all that are left, once nobody else writes.
fn step(
    backup: &Backup<'_, '_>,
    pages: i32,
    wait: &LockWait<'_>,
    path: &str,
) -> Result<(), StoreError> {
    wait.retry(|| match backup.step(pages) {
        Ok(StepResult::Done | StepResult::More) => Ok(()),
        Ok(_) => Err(StoreError::Busy { place: path.to_owned() }),
        Err(error) => Err(fault::store_error(path, &error)),
    })
}

/// The last record of each project.
fn heads(running: &mut Running<'_>) -> Result<Vec<(String, Head)>, StoreError> {
    let projects = texts(running.rows(statements::PROJECTS, &[])?);
    let mut heads = Vec::new();
    for project in projects {
        let last = running.rows(statements::HEAD, &[SqlValue::Text(&project)])?.pop();
        // A damaged row does not keep anybody from restoring.
        if let Some(Ok(last)) = last.map(row::read) {
            heads.push((project, last.head()));
        }
    }
    Ok(heads)
}
