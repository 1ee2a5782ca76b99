//! A database file that is open.

use std::cell::Cell;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind};
use std::ops::Range;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use gate_platform::OpenOptionsExt;
use rusqlite::config::DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE;
use rusqlite::{Connection, OpenFlags, Transaction, TransactionBehavior};

use super::super::error::StoreError;
use super::super::statements;
use super::private::{Folder, Identity, unwritable};
use super::transaction::Running;
use super::{MAX_KEPT_LOG_BYTES, fault};
use gate_fleet::durable;

/// A database file that is open.
#[derive(Debug)]
pub(super) struct OpenDatabase {
    connection: Connection,
    path: String,
    file: Identity,
    /// The connection may be used again. Not after an error, nor from the beginning of a change
    /// until its commit: the open file may be the cause.
    is_sound: Cell<bool>,
    /// The file has the additions that this gate knows, as far as its rows allow.
    pub(super) is_complete: Cell<bool>,
}

impl OpenDatabase {
    /// The folder's database. It is opened anew after a transaction that did not end well,
    /// and if the folder has another file now: a record in a removed file would be lost.
    ///
    /// # Errors
    ///
    /// A file that cannot be opened.
    pub(super) fn current<'a>(
        slot: &'a mut Option<Self>,
        folder: &Folder,
    ) -> Result<&'a Self, StoreError> {
        let file = folder.identity()?;
        let usable = slot.take().filter(|database| database.file == file && database.is_sound());
        let database = match usable {
            Some(database) => database,
            None => Self::open(folder, file)?,
        };
        Ok(slot.insert(database))
    }

    /// Copies the database as it is at one moment to a new file. Writers are not held up.
    ///
    /// # Errors
    ///
    /// A file that is there, a disk that is full, damage.
    pub(super) fn copy_to(&self, file: &Path) -> Result<(), StoreError> {
        // The file is made here, so that only its owner may read it and no other file is written
        // over. `VACUUM INTO` takes an empty file.
        let mut options = OpenOptions::new();
        options.write(true).create_new(true).mode(0o600);
        options.open(file).map_err(|error| match error.kind() {
            ErrorKind::AlreadyExists => StoreError::Exists { path: file.display().to_string() },
            _ => unwritable(file, &error.to_string()),
        })?;
        let name = file.display().to_string();
        let written = self.connection.execute("VACUUM INTO ?1", [&name]);
        written
            .map_err(|error| fault::store_error(&name, &error))
            .and_then(|_| make_durable(file))
            .inspect_err(|_| drop(fs::remove_file(file)))
    }

    /// The damage that SQLite's integrity check finds, at most ten lines.
    ///
    /// # Errors
    ///
    /// A file that cannot be read.
    pub(super) fn damage(&self) -> Result<Vec<String>, StoreError> {
        let lines = || {
            let mut statement = self.connection.prepare("PRAGMA integrity_check(10)")?;
            let lines = statement.query_map([], |row| row.get::<_, String>(0))?;
            lines.collect::<rusqlite::Result<Vec<_>>>()
        };
        match lines().map_err(|error| fault::store_error(&self.path, &error)) {
            // The file may be too damaged to be checked.
            Err(StoreError::Corrupt { reason, .. }) => Ok(vec![reason]),
            lines => Ok(lines?.into_iter().filter(|line| line != "ok").collect()),
        }
    }

    /// The next transaction may use the connection.
    pub(super) fn is_sound(&self) -> bool {
        self.is_sound.get()
    }

    fn open(folder: &Folder, file: Identity) -> Result<Self, StoreError> {
        let database = folder.database();
        let path = database.display().to_string();
        let store_error = |error: rusqlite::Error| fault::store_error(&path, &error);
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_NO_MUTEX
            | OpenFlags::SQLITE_OPEN_NOFOLLOW;
        let connection = Connection::open_with_flags(&database, flags).map_err(store_error)?;
        // SQLite's own wait would let the latest comer wait the shortest: [`LockWait`] is fair.
        connection.busy_timeout(Duration::ZERO).map_err(store_error)?;
        let keeps_log = folder.log_size() < MAX_KEPT_LOG_BYTES;
        connection
            .set_db_config(SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, keeps_log)
            .map_err(store_error)?;
        let (is_sound, is_complete) = (Cell::new(true), Cell::new(false));
        Ok(Self { connection, path, file, is_sound, is_complete })
    }

    /// Begins a transaction as soon as the file is free, and reads its schema.
    ///
    /// # Errors
    ///
    /// A file that cannot be read or written, or is no database of gate.
    pub(super) fn begin(
        &self,
        behavior: TransactionBehavior,
        wait: &LockWait<'_>,
    ) -> Result<Running<'_>, StoreError> {
        self.is_sound.set(false);
        let running = wait.retry(|| {
            let transaction = Transaction::new_unchecked(&self.connection, behavior)
                .map_err(|error| fault::store_error(&self.path, &error))?;
            let (path, is_sound) = (self.path.as_str(), &self.is_sound);
            Ok(Running { transaction, path, is_sound, version: self.version()? })
        })?;
        // A view leaves nothing behind. A change is sound only once it is committed.
        self.is_sound.set(matches!(behavior, TransactionBehavior::Deferred));
        Ok(running)
    }

    /// Lets the file keep a write-ahead log from now on.
    ///
    /// # Errors
    ///
    /// A file that cannot be written.
    pub(super) fn keep_log(&self, wait: &LockWait<'_>) -> Result<(), StoreError> {
        // The pragma returns the mode that holds now.
        let statement = "PRAGMA journal_mode = WAL";
        let mode = wait.retry(|| {
            let mode = self.connection.query_row(statement, [], |row| row.get::<_, String>(0));
            mode.map_err(|error| fault::store_error(&self.path, &error))
        });
        if mode? == "wal" {
            return Ok(());
        }
        let reason = "no write-ahead log can be kept here".to_owned();
        Err(StoreError::Unwritable { path: self.path.clone(), reason })
    }

    /// The version of the tables; 0 of an empty file.
    fn version(&self) -> Result<i64, StoreError> {
        let query = || self.connection.query_row(statements::VERSION, [], |row| row.get(0));
        let version: rusqlite::Result<Option<i64>> = match query() {
            // A file without a version is empty, or it is not gate's; or another gate filled it
            // just now: a statement that fails begins no view of the file, and the count does.
            Err(error) if fault::is_missing(&error) => {
                let statement = "SELECT count(*) FROM sqlite_master";
                let count = self.connection.query_row(statement, [], |row| row.get::<_, i64>(0));
                if count.map_err(|error| fault::store_error(&self.path, &error))? == 0 {
                    return Ok(0);
                }
                query()
            }
            version => version,
        };
        match version {
            Ok(Some(version)) => Ok(version),
            Ok(None) => Err(self.corrupt("the table gate_schema is empty")),
            Err(error) if fault::is_missing(&error) => {
                Err(self.corrupt("the table gate_schema is missing"))
            }
            Err(error) => Err(fault::store_error(&self.path, &error)),
        }
    }

    fn corrupt(&self, reason: &str) -> StoreError {
        StoreError::corrupt(format!("{}: {reason}", self.path))
    }
}

/// The length of a pause between two attempts, in microseconds.
const PAUSE_MICROS: Range<u32> = 1_000..9_000;

/// A wait for a lock. All pauses are of the same length on average, a newcomer's too, so that nobody
/// is left out; and each is random, so that two waiters do not pause in step.
#[derive(Debug)]
pub(super) struct LockWait<'a> {
    place: &'a str,
    until: Instant,
}

impl<'a> LockWait<'a> {
    pub(super) fn new(place: &'a str, patience: Duration) -> Self {
        Self { place, until: Instant::now() + patience }
    }

    /// Repeats an attempt until its result is another one than [`StoreError::Busy`].
    ///
    /// # Errors
    ///
    /// Those of the attempt; [`StoreError::Busy`] once the time is over.
    pub(super) fn retry<T>(
        &self,
        mut attempt: impl FnMut() -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        loop {
            match attempt() {
                Err(StoreError::Busy { .. }) if Instant::now() < self.until => {
                    thread::sleep(pause());
                }
                Err(StoreError::Busy { .. }) => {
                    return Err(StoreError::Busy { place: self.place.to_owned() });
                }
                result => return result,
            }
        }
    }
}

/// A pause of another length each time: the clock's last digits choose it.
fn pause() -> Duration {
    let nanoseconds = std::time::UNIX_EPOCH.elapsed().map_or(0, |time| time.subsec_nanos());
    // Two waiters may read nearly the same time. Knuth's multiplicative hash spreads near numbers;
    // its low bits are the weakest.
    let spread = nanoseconds.wrapping_mul(2_654_435_761) >> 8;
    let Range { start, end } = PAUSE_MICROS;
    Duration::from_micros(u64::from(start + spread % (end - start)))
}

/// Makes a copy durable, with its name: SQLite does not sync what `VACUUM INTO` writes.
fn make_durable(file: &Path) -> Result<(), StoreError> {
    let unwritable = |error: io::Error| unwritable(file, &error.to_string());
    File::open(file).and_then(|file| file.sync_all()).map_err(unwritable)?;
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
    match durable::sync_folder(folder.unwrap_or(Path::new("."))) {
        Err(error) if !is_not_for_folders(error.kind()) => Err(unwritable(error)),
        _ => Ok(()),
    }
}

/// An error of a folder that may be written and not read, or of a file system, such as a network's,
/// on which a folder cannot be synced.
fn is_not_for_folders(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::InvalidInput | ErrorKind::Unsupported | ErrorKind::PermissionDenied)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_commit_waits_for_the_disk() {
        let folder = tempfile::tempdir().unwrap();
        let folder = Folder::at(&folder.path().join("state")).unwrap();
        folder.make().unwrap();
        let opened = OpenDatabase::open(&folder, folder.identity().unwrap()).unwrap();
        opened.keep_log(&LockWait::new("", Duration::ZERO)).unwrap();
        let pragma = "synchronous";
        let setting =
            opened.connection.pragma_query_value(None, pragma, |row| row.get::<_, i64>(0));
        assert_eq!(setting.unwrap(), 2, "FULL");
    }
}
