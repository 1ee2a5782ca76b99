//! The store of ledgers: SQLite for one machine, PostgreSQL (the feature `postgres`) for a fleet,
//! behind one type, [`Store`].
//!
//! A store keeps a ledger for each project. Both databases hold the same tables (`migrations/`),
//! and answer the same statements (`statements.rs`). Rows are read with the same distrust
//! (`row.rs`): a row has to agree with its hash and its look-up columns.

mod addition;
mod error;
mod heads;
mod item;
mod loss;
mod marked;
mod migration;
#[cfg(feature = "postgres")]
mod postgres;
#[cfg(not(feature = "postgres"))]
#[path = "postgres_absent.rs"]
mod postgres;
mod row;
mod sql;
mod sqlite;
mod statements;
#[cfg(test)]
mod tests;
mod transaction;
mod upkeep;
mod view;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::time::{Duration, Instant};

use gate_core::ledger::{Draft, Head};
use uuid::Uuid;

pub use error::StoreError;
pub use heads::MarkFile;
pub use item::{Claimable, Item, LeaseRequest};
pub use loss::Loss;
pub use loss::moved_out;
pub use postgres::DatabaseUrl;
pub use sql::Upcoming;
pub use sqlite::TOKEN_KEY;
pub use transaction::{Leases, Transaction};
pub use upkeep::{Added, Condition, Migrated};
pub use view::View;
pub use view::is_aside;

use self::loss::Losses;
use self::marked::{Expectation, LedgerMark};
use self::sql::Database;
use self::sqlite::SqliteStore;

/// The usual patience: the longest wait for a store that is busy or does not answer.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// A store's address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// A state folder, which has a SQLite file. Not in a network file system: those do not
    /// share memory between machines, which SQLite's log needs.
    Folder(PathBuf),
    /// A PostgreSQL database.
    Database(DatabaseUrl),
}

/// Keeps decisions, and all other records, in one ledger for each project.
#[derive(Debug)]
pub struct Store {
    database: Box<dyn Database>,
    /// The folder of the marks of the ledgers' heads.
    heads: Option<PathBuf>,
    /// The project whose ledger was set aside, or whose loss was accepted, and has no new record
    /// yet.
    renewed_project: Option<String>,
    upcoming: Option<Upcoming>,
}

/// A view of a ledger that is read whatever is marked.
#[derive(Debug)]
pub struct Examination<'s> {
    /// The ledger.
    pub view: View<'s>,
    /// The latest head that a machine knows; the ledger may lack it.
    pub known_head: Option<Head>,
}

impl Store {
    /// The store in this place. With a folder for marks of the ledgers' heads, a ledger that was
    /// removed, cut or replaced is [`StoreError::Lost`]. No file is made before a record is
    /// written. `patience` is the longest wait, each time, for a store that is busy or does not
    /// answer ([`PATIENCE`]).
    ///
    /// # Errors
    ///
    /// A place that cannot be used.
    pub fn open(
        place: &Place,
        heads: Option<PathBuf>,
        patience: Duration,
    ) -> Result<Self, StoreError> {
        let database = database(place, patience)?;
        Ok(Self { database, heads, renewed_project: None, upcoming: None })
    }

    /// A consistent view of a project's ledger, until it is dropped.
    ///
    /// # Errors
    ///
    /// A store that cannot be read, a ledger that does not hold the head that is marked.
    pub fn view<'s>(&'s mut self, project: &'s str) -> Result<View<'s>, StoreError> {
        let expectation = self.expectation(project);
        let sql = self.database.view(project, expectation.head(), self.upcoming.as_ref())?;
        let mut view = View::new(sql, project)?;
        expectation.compare(&mut view)?;
        Ok(view)
    }

    /// As [`Store::view`], even if the ledger does not hold the head that is marked as its own.
    ///
    /// # Errors
    ///
    /// A store that cannot be read.
    pub fn examine<'s>(&'s mut self, project: &'s str) -> Result<Examination<'s>, StoreError> {
        let marked_head = self.expectation(project).head();
        let mut view = View::new(self.database.view(project, marked_head, None)?, project)?;
        // A record that contradicts itself is for the caller to find.
        let open_loss = Losses::read(&mut view).unwrap_or_default().open;
        let reported_head = open_loss.map(|loss| loss.marked_head);
        let known_head = marked_head.into_iter().chain(reported_head).max_by_key(|head| head.seq);
        Ok(Examination { view, known_head })
    }

    /// Begins a change of a project's ledger: until it ends, nobody else numbers or
    /// appends in this project.
    ///
    /// # Errors
    ///
    /// As of [`Store::view`]; a store that cannot be written.
    pub fn begin<'s>(&'s mut self, project: &'s str) -> Result<Transaction<'s>, StoreError> {
        let expectation = self.expectation(project);
        let file = self.mark_file(project);
        let sql = self.database.begin(project, expectation.head(), self.upcoming.as_ref())?;
        let mut view = View::new(sql, project)?;
        let comparison = expectation.compare(&mut view)?;
        let renewed_project = &mut self.renewed_project;
        let mark = file.map(|file| LedgerMark { file, expectation, comparison, renewed_project });
        Ok(Transaction::new(view, mark))
    }

    /// Begins a change of leases of a project's work items. Nobody waits for it: others claim,
    /// number and append meanwhile, and a change may stay even if a later one fails. A lease is as
    /// durable as the database is set to make it: after a crash it may be given anew, and its
    /// earlier holder is refused.
    ///
    /// A claim rests on no record; the work that is done under the claim does, and is compared with
    /// the mark there.
    ///
    /// # Errors
    ///
    /// A store that cannot be written.
    pub fn lease<'s>(&'s mut self, project: &'s str) -> Result<Leases<'s>, StoreError> {
        Ok(Leases(View::new(self.database.lease(project)?, project)?))
    }

    /// Sleeps until somebody may have made work claimable, at most so long, and returns true when it
    /// is time to look. The next call notices work that became claimable after this call began; the
    /// first call may return at once.
    ///
    /// # Errors
    ///
    /// A store that does not answer.
    pub fn await_work(&mut self, project: &str, at_most: Duration) -> Result<bool, StoreError> {
        self.database.await_work(project, at_most)
    }

    /// Sets a project's ledger aside, as it is: the next record that is written here is the first of
    /// a new ledger, and its mark takes the place of the old mark. For a ledger that cannot be
    /// trusted any more.
    ///
    /// If the file itself is damaged, the whole file is set aside, with the ledgers of other
    /// projects in it.
    ///
    /// # Errors
    ///
    /// A store that cannot be written, or a role that may not change rows.
    pub fn renew(&mut self, project: &str) -> Result<(), StoreError> {
        let outcome = self.unmarked(project).and_then(|mut transaction| {
            transaction.set_aside()?;
            transaction.commit()
        });
        match outcome {
            // The rows cannot be reached.
            Err(error @ StoreError::Corrupt { .. }) => self.database.set_aside(error)?,
            outcome => outcome?,
        }
        // The mark of the old ledger stays until the new one has a record: if gate is killed
        // before, the old one is still known to be lost.
        self.accept(project);
        Ok(())
    }

    /// Goes on with a project's ledger as it is, although the marked record is missing: the mark of
    /// the next record takes the place of the old mark.
    pub fn accept(&mut self, project: &str) {
        self.renewed_project = Some(project.to_owned());
    }

    /// The loss of the ledger's end; `None` if it has the record that is marked.
    ///
    /// # Errors
    ///
    /// A store that cannot be read.
    pub fn loss(&mut self, project: &str) -> Result<Option<Loss>, StoreError> {
        match self.view(project) {
            Ok(_) => Ok(None),
            Err(StoreError::Lost { marked_head, ledger_head }) => {
                Ok(Some(Loss { marked_head, ledger_head }))
            }
            Err(error) => Err(error),
        }
    }

    /// Other machines use this store, too.
    pub fn is_shared(&self) -> bool {
        self.database.is_shared()
    }

    /// Appends the report of a loss to what is left of a ledger, unless there is one. It is compared
    /// with no mark, and none is made.
    ///
    /// # Errors
    ///
    /// A store that cannot be written.
    pub fn report_loss(&mut self, project: &str, report: Draft) -> Result<(), StoreError> {
        let mut transaction = self.unmarked(project)?;
        if Losses::read(&mut transaction)?.open.is_some() {
            return Ok(());
        }
        transaction.append(report)?;
        transaction.commit()
    }

    /// Copies the whole store to a new file while others write. The copy is of one moment.
    ///
    /// # Errors
    ///
    /// A file that is there, a folder that cannot be written, a database that has tools of its own
    /// for that.
    pub fn back_up(&mut self, to: &Path) -> Result<(), StoreError> {
        self.database.back_up(to)
    }

    /// Name of this store: the state folder, or the database's host, port and name. Never
    /// credentials.
    pub fn place(&self) -> &str {
        self.database.place()
    }

    /// Names the decision that the next views and transactions are for.
    pub fn expect(&mut self, upcoming: Upcoming) {
        self.upcoming = Some(upcoming);
    }

    /// From now on, waits at most so long for a database that does not answer, or until somebody
    /// interrupts the loop. A message tells that person of the wait.
    pub fn wait_in_loop(&mut self, limit: Duration, interrupt: &Arc<AtomicUsize>) {
        self.database.wait_in_loop(limit, interrupt);
    }

    /// Waits after an attempt that failed because the database does not answer or is busy: nothing
    /// of it was kept. The first attempt began at `start`, and `failures` failed before this one.
    /// Returns true when it is time for the next attempt, false once the wait is over for good.
    pub fn wait_for(&self, start: Instant, failures: u64, message: &str) -> bool {
        self.database.wait_for(start, failures, message)
    }

    /// A transaction that is compared with no mark, and makes none.
    fn unmarked<'s>(&'s mut self, project: &'s str) -> Result<Transaction<'s>, StoreError> {
        let sql = self.database.begin(project, None, None)?;
        Ok(Transaction::new(View::new(sql, project)?, None))
    }

    fn mark_file(&self, project: &str) -> Option<MarkFile> {
        self.heads.as_ref().map(|heads| MarkFile::new(heads, self.place(), project))
    }

    /// The mark that the ledger is compared with.
    fn expectation(&self, project: &str) -> Expectation {
        let is_renewed = self.renewed_project.as_deref() == Some(project);
        let file = if is_renewed { None } else { self.mark_file(project) };
        let mark = file.and_then(|file| file.read()).filter(|mark| mark.head.seq > 0);
        Expectation { mark, is_renewed }
    }
}

fn database(place: &Place, patience: Duration) -> Result<Box<dyn Database>, StoreError> {
    match place {
        Place::Folder(folder) => Ok(Box::new(SqliteStore::open(folder, patience)?)),
        Place::Database(url) => postgres::open(url, patience),
    }
}

/// The condition of the store in this place, apart from the records in it.
///
/// # Errors
///
/// A store that cannot be reached, tables that have no version.
pub fn condition(place: &Place, patience: Duration) -> Result<Condition, StoreError> {
    database(place, patience)?.condition()
}

/// Brings the tables of a database to this gate's version, and makes the additions that are
/// missing.
///
/// # Errors
///
/// A store that cannot be written, a role that does not own the tables, a newer store.
pub fn migrate(url: &DatabaseUrl, patience: Duration) -> Result<Migrated, StoreError> {
    postgres::migrate(url, patience)
}

/// A random number from 0 to 1. Waits that it scales do not end all at once.
pub fn random_fraction() -> f64 {
    // The last bits of a version 7 UUID are random.
    (Uuid::now_v7().as_u128() & u128::from(u32::MAX)) as f64 / f64::from(u32::MAX)
}
