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
mod upkeep;

use std::path::Path;
use std::thread;
use std::time::Duration;

use rusqlite::TransactionBehavior::{Deferred, Immediate};

use self::connection::{Opened, Schema};
use self::lock::LockWait;
pub(crate) use self::private::TOKEN_KEY;
use self::private::{Folder, unwritable};
use self::transaction::Running;
use super::error::StoreError;
use super::sql::Nothing;
use super::view::View;
use super::{Leasing, Lookup, Reading, Store, Transaction, addition, migration};

/// Interval at which a waiting claimer looks at the file, which notifies nobody. A look takes
/// less than a millisecond.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// A log below this size, in bytes, is left as it is when a gate ends. It is
/// as durable there as in the file, and folding it in would cost every gate
/// three more waits for the disk; reading it again costs the next gate less
/// than a millisecond. The gate that ends last folds in a larger one.
const MAX_KEPT_LOG_BYTES: u64 = 256 * 1024;

/// A store in a SQLite file, `gate.db` in a folder that is this user's alone.
#[derive(Debug)]
pub(crate) struct SqliteStore {
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
    pub(crate) fn open(folder: &Path, patience: Duration) -> Result<Self, StoreError> {
        let folder = Folder::at(folder)?;
        let place = folder.path().display().to_string();
        Ok(Self { folder, place, patience, opened: None })
    }

    /// A view that may write, on the newest schema.
    fn view<'s>(&'s mut self, project: &'s str) -> Result<View<'s, Running<'s>>, StoreError> {
        self.folder.make()?;
        let wait = LockWait::new(&self.place, self.patience);
        let opened = Opened::current(&mut self.opened, &self.folder)?;
        View::new(prepared(opened, &wait)?, project)
    }

    fn set_rows_aside(&mut self, project: &str) -> Result<(), StoreError> {
        let mut view = self.view(project)?;
        view.set_aside()?;
        view.finish()
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
    // A change that is not committed leaves the connection unsound, and the next one looks again.
    if !opened.is_complete.replace(true) {
        for numbered in addition::missing(&running.additions()?) {
            running.add(numbered)?;
        }
    }
    Ok(running)
}

impl Store for SqliteStore {
    /// Each answer is there at once, so nothing is read ahead.
    fn read_ahead<'s>(
        &'s mut self,
        project: &'s str,
        _: &[Lookup<'_>],
    ) -> Result<Box<dyn Reading + 's>, StoreError> {
        if !self.folder.check()? {
            return Ok(Box::new(View::new(Nothing, project)?));
        }
        let wait = LockWait::new(&self.place, self.patience);
        let opened = Opened::current(&mut self.opened, &self.folder)?;
        match opened.begin(Deferred, &wait)? {
            (_, Schema::Empty) => Ok(Box::new(View::new(Nothing, project)?)),
            (running, Schema::Version(version)) => {
                migration::from(version)?;
                Ok(Box::new(View::new(running, project)?.at_version(version)))
            }
        }
    }

    fn begin_ahead<'s>(
        &'s mut self,
        project: &'s str,
        _: &[Lookup<'_>],
    ) -> Result<Transaction<'s>, StoreError> {
        Ok(Transaction::new(self.view(project)?))
    }

    fn lease<'s>(&'s mut self, project: &'s str) -> Result<Box<dyn Leasing + 's>, StoreError> {
        Ok(Box::new(self.view(project)?))
    }

    fn await_work(&mut self, _: &str, at_most: Duration) -> Result<bool, StoreError> {
        thread::sleep(at_most.min(POLL_INTERVAL));
        Ok(true)
    }

    fn renew(&mut self, project: &str) -> Result<(), StoreError> {
        if !self.folder.check()? {
            return Ok(());
        }
        match self.set_rows_aside(project) {
            // The rows cannot be reached, so the whole file goes.
            Err(StoreError::Corrupt { .. }) => {
                self.opened = None;
                self.folder.set_aside()
            }
            done => done,
        }
    }

    fn back_up(&mut self, to: &Path) -> Result<(), StoreError> {
        if !self.folder.check()? {
            return Err(unwritable(to, "there is nothing to copy: no record was written"));
        }
        Opened::current(&mut self.opened, &self.folder)?.copy_to(to)
    }

    /// Does nothing: this store has no marks.
    fn accept(&mut self, _project: &str) {}

    fn place(&self) -> &str {
        &self.place
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_connection_is_used_again_only_after_a_good_end() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = SqliteStore::open(&folder.path().join("state"), Duration::ZERO).unwrap();
        let is_kept = |store: &SqliteStore| store.opened.as_ref().unwrap().is_sound();
        store.begin("shop").unwrap().commit().unwrap();
        assert!(is_kept(&store));
        drop(store.read("shop").unwrap());
        assert!(is_kept(&store));
        drop(store.begin("shop").unwrap());
        assert!(!is_kept(&store), "a change that was not committed");
        store.begin("shop").unwrap().commit().unwrap();
        assert!(is_kept(&store), "another connection");
        let mut transaction = store.begin("shop").unwrap();
        transaction.keep_policy("d", "\0").unwrap_err();
        transaction.commit().unwrap();
        assert!(is_kept(&store), "no error of the database");
    }
}
