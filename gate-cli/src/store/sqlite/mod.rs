//! The ledger of one machine: a SQLite file in the state folder.
//!
//! A write-ahead log with full synchronisation: a commit is on the disk when it
//! returns, and a process that is killed anywhere leaves all of it or nothing.
//! The log is not folded into the file at every end ([`MAX_KEPT_LOG_BYTES`]).

mod connection;
mod fault;
mod lock;
mod private;
mod transaction;

use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use rusqlite::TransactionBehavior::{Deferred, Immediate};

use self::connection::{Opened, Schema};
use self::lock::LockWait;
use self::private::Folder;
pub(crate) use self::private::TOKEN_KEY;
use self::transaction::Running;
use super::error::StoreError;
use super::sql::Nothing;
use super::view::View;
use super::{Hand, Look, Store, Work, migration};

/// Interval at which a waiting claimer looks at the file, which notifies nobody. A look takes
/// less than a millisecond.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// A log below this size, in bytes, is left as it is when a gate ends. It is
/// as durable there as in the file, and folding it in would cost every gate
/// three more waits for the disk; reading it again costs the next gate less
/// than a millisecond. A larger one is folded in by whoever ends last.
const MAX_KEPT_LOG_BYTES: u64 = 256 * 1024;

/// A store in a SQLite file, `gate.db` in a folder that is this user's alone.
#[derive(Debug)]
pub struct SqliteStore {
    folder: Folder,
    place: String,
    patience: Duration,
    opened: Option<Opened>,
}

impl SqliteStore {
    /// The store in this folder. Nothing is made or opened yet.
    ///
    /// # Errors
    ///
    /// A folder that has no absolute path.
    pub fn open(folder: &Path, patience: Duration) -> Result<Self, StoreError> {
        let folder = Folder::at(folder)?;
        let place = folder.path().display().to_string();
        Ok(Self { folder, place, patience, opened: None })
    }

    /// The database's file.
    pub fn file(&self) -> PathBuf {
        self.folder.database()
    }

    fn look(&mut self, project: &str, look: &mut Look<'_>) -> Result<(), StoreError> {
        if !self.folder.check()? {
            return look(&mut View::new(Nothing, project)?);
        }
        let wait = LockWait::new(&self.place, self.patience);
        let opened = Opened::current(&mut self.opened, &self.folder)?;
        match opened.begin(Deferred, &wait)? {
            (_, Schema::Empty) => look(&mut View::new(Nothing, project)?),
            (running, Schema::Version(version)) => {
                migration::from(version)?;
                look(&mut View::new(running, project)?.at_version(version))
            }
        }
    }

    fn work(
        &mut self,
        project: &str,
        work: impl FnOnce(&mut View<'_, Running<'_>>) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        self.folder.make()?;
        let wait = LockWait::new(&self.place, self.patience);
        let opened = Opened::current(&mut self.opened, &self.folder)?;
        let running = prepared(opened, &wait)?;
        let mut view = View::new(running, project)?;
        work(&mut view)?;
        view.finish()?.commit()
    }

    /// Sets the rows aside; where they cannot be reached, the file.
    fn set_aside(&mut self, project: &str) -> Result<(), StoreError> {
        if !self.folder.check()? {
            return Ok(());
        }
        match self.work(project, |view| view.set_aside()) {
            Err(StoreError::Corrupt { .. }) => {
                self.opened = None;
                self.folder.set_aside()
            }
            done => done,
        }
    }
}

/// A transaction that may write, on the newest schema.
fn prepared<'a>(opened: &'a Opened, wait: &LockWait<'_>) -> Result<Running<'a>, StoreError> {
    let (mut running, mut schema) = opened.begin(Immediate, wait)?;
    if schema == Schema::Empty {
        drop(running);
        opened.keep_log(wait)?;
        (running, schema) = opened.begin(Immediate, wait)?;
    }
    if let Some(steps) = migration::from(schema.number())? {
        running.run(&steps)?;
    }
    Ok(running)
}

impl Store for SqliteStore {
    fn read(&mut self, project: &str, look: &mut Look<'_>) -> Result<(), StoreError> {
        let done = self.look(project, look);
        self.forget_after(done)
    }

    fn write(&mut self, project: &str, work: &mut Work<'_>) -> Result<(), StoreError> {
        let done = self.work(project, |view| work(view));
        self.forget_after(done)
    }

    fn lease(&mut self, project: &str, work: &mut Hand<'_>) -> Result<(), StoreError> {
        let done = self.work(project, |view| work(view));
        self.forget_after(done)
    }

    fn await_work(&mut self, _: &str, at_most: Duration) -> Result<bool, StoreError> {
        thread::sleep(at_most.min(POLL_INTERVAL));
        Ok(true)
    }

    fn renew(&mut self, project: &str) -> Result<(), StoreError> {
        let done = self.set_aside(project);
        self.forget_after(done)
    }

    fn place(&self) -> &str {
        &self.place
    }
}

impl SqliteStore {
    /// Closes the file after an error: the open file may be the cause.
    fn forget_after(&mut self, done: Result<(), StoreError>) -> Result<(), StoreError> {
        done.inspect_err(|_| self.opened = None)
    }
}
