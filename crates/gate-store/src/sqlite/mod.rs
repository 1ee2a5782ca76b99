//! The ledger of one machine: a SQLite file in the state folder.
//!
//! A write-ahead log with full synchronisation: a commit is on the disk when it
//! returns, and a process that is killed anywhere leaves all of it or nothing.
//! The log is not folded into the file at every end ([`MAX_KEPT_LOG_BYTES`]).

mod connection;
mod fault;
mod private;
mod transaction;
mod upkeep;

use std::path::Path;
use std::thread;
use std::time::Duration;

use gate_core::ledger::Head;
use rusqlite::TransactionBehavior::{Deferred, Immediate};

use self::connection::{LockWait, OpenDatabase};
pub use self::private::TOKEN_KEY;
use self::private::{Folder, unwritable};
use self::transaction::Running;
use super::error::StoreError;
use super::sql::{Database, EmptyStore, Sql};
use super::{Condition, Upcoming, addition, migration};

/// Interval at which a waiting claimer looks at the file, which notifies nobody. A look takes
/// less than a millisecond.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// A log below this size, in bytes, is left as it is when a gate ends. A record is as durable in the
/// log as in the file. Folding the log in would cost every gate three more waits for the disk, and
/// reading it again costs the next gate less than a millisecond. The gate that ends last folds a
/// larger log in.
const MAX_KEPT_LOG_BYTES: u64 = 256 * 1024;

/// A store in a SQLite file, `gate.db` in a folder that is this user's alone.
#[derive(Debug)]
pub(crate) struct SqliteStore {
    folder: Folder,
    place: String,
    patience: Duration,
    database: Option<OpenDatabase>,
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
        Ok(Self { folder, place, patience, database: None })
    }
}

/// A transaction that may write, on the newest schema.
fn prepared<'a>(
    database: &'a OpenDatabase,
    wait: &LockWait<'_>,
) -> Result<Running<'a>, StoreError> {
    let mut running = database.begin(Immediate, wait)?;
    if running.version == 0 {
        // The journal's mode cannot change inside of a transaction.
        drop(running);
        database.keep_log(wait)?;
        running = database.begin(Immediate, wait)?;
    }
    if let Some(steps) = migration::steps_from(running.version)? {
        running.run(&steps)?;
        running.version = migration::VERSION;
    }
    // A change that is not committed leaves the connection unsound: the next change opens another
    // connection, and looks again.
    if !database.is_complete.replace(true) {
        for numbered in addition::missing(&running.additions()?) {
            running.add(numbered)?;
        }
    }
    Ok(running)
}

impl Database for SqliteStore {
    /// A file answers at once, so nothing is read ahead.
    fn view<'s>(
        &'s mut self,
        _: &'s str,
        _: Option<Head>,
        _: Option<&'s Upcoming>,
    ) -> Result<Box<dyn Sql + 's>, StoreError> {
        if !self.folder.check()? {
            return Ok(Box::new(EmptyStore));
        }
        let wait = LockWait::new(&self.place, self.patience);
        let running =
            OpenDatabase::current(&mut self.database, &self.folder)?.begin(Deferred, &wait)?;
        if running.version == 0 {
            return Ok(Box::new(EmptyStore));
        }
        migration::steps_from(running.version)?;
        Ok(Box::new(running))
    }

    fn begin<'s>(
        &'s mut self,
        project: &'s str,
        _: Option<Head>,
        _: Option<&'s Upcoming>,
    ) -> Result<Box<dyn Sql + 's>, StoreError> {
        self.lease(project)
    }

    fn lease<'s>(&'s mut self, _: &'s str) -> Result<Box<dyn Sql + 's>, StoreError> {
        self.folder.make()?;
        let wait = LockWait::new(&self.place, self.patience);
        let database = OpenDatabase::current(&mut self.database, &self.folder)?;
        Ok(Box::new(prepared(database, &wait)?))
    }

    fn await_work(&mut self, _: &str, at_most: Duration) -> Result<bool, StoreError> {
        thread::sleep(at_most.min(POLL_INTERVAL));
        Ok(true)
    }

    /// The ledgers of other projects in the file go with it.
    fn set_aside(&mut self, _: StoreError) -> Result<(), StoreError> {
        self.database = None;
        self.folder.set_aside()
    }

    fn back_up(&mut self, to: &Path) -> Result<(), StoreError> {
        if !self.folder.check()? {
            return Err(unwritable(to, "there is nothing to copy: no record was written"));
        }
        OpenDatabase::current(&mut self.database, &self.folder)?.copy_to(to)
    }

    fn condition(&mut self) -> Result<Condition, StoreError> {
        self.examined()
    }

    fn place(&self) -> &str {
        &self.place
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Transaction, View};
    use super::*;

    fn begin(store: &mut SqliteStore) -> Box<dyn Sql + '_> {
        store.begin("shop", None, None).unwrap()
    }

    #[test]
    fn a_connection_is_used_again_only_after_a_good_end() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = SqliteStore::open(&folder.path().join("state"), Duration::ZERO).unwrap();
        let is_kept = |store: &SqliteStore| store.database.as_ref().unwrap().is_sound();
        begin(&mut store).commit(None).unwrap();
        assert!(is_kept(&store));
        drop(store.view("shop", None, None).unwrap());
        assert!(is_kept(&store));
        drop(begin(&mut store));
        assert!(!is_kept(&store), "a change that was not committed");
        begin(&mut store).commit(None).unwrap();
        assert!(is_kept(&store), "another connection");
        let view = View::new(begin(&mut store), "shop").unwrap();
        let mut transaction = Transaction::new(view, None);
        transaction.keep_policy("d", "\0").unwrap_err();
        transaction.commit().unwrap();
        assert!(is_kept(&store), "no error of the database");
    }
}
