//! The store of ledgers: SQLite for one machine, PostgreSQL (the feature `postgres`) for a fleet,
//! behind one trait.
//!
//! A store keeps a ledger for each project. Both databases hold the same tables (`migrations/`),
//! and answer the same statements (`statements.rs`). Rows are read with the same distrust
//! (`row.rs`): a row has to agree with its hash and its look-up columns.

mod addition;
mod error;
mod heads;
mod item;
mod keys;
mod lookup;
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
mod upkeep;
mod view;

use std::fmt::Debug;
use std::path::{Path, PathBuf};
use std::time::Duration;

use gate_core::ledger::{Draft, Head, Sealed};
use gate_fleet::work::{ItemState, Lease, WorkItem};
use jiff::Timestamp;

pub use error::StoreError;
pub use heads::Heads;
pub use item::{Ask, Claimable, Item};
pub use keys::Keys;
pub use lookup::Lookup;
pub(crate) use loss::moved_out;
pub use loss::{Loss, open_loss};
pub use marked::{Marked, Transaction};
pub use postgres::DatabaseUrl;
#[cfg(feature = "postgres")]
pub use postgres::PostgresStore;
pub(crate) use sqlite::{SqliteStore, TOKEN_KEY};
pub use upkeep::{Added, Condition, Migrated};
pub(crate) use view::is_aside;

/// Longest wait for a store that is busy or does not answer.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// Pause between two attempts to reach a store.
pub(crate) const RETRY_INTERVAL: Duration = Duration::from_millis(250);

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
pub trait Store: Debug + Send {
    /// A consistent view of a project's ledger, until it is dropped. A store that is busy or does
    /// not answer is waited for here. A database far away answers `ahead` at once, before the
    /// answers are needed.
    ///
    /// # Errors
    ///
    /// A store that cannot be read.
    fn read_ahead<'s>(
        &'s mut self,
        project: &'s str,
        ahead: &[Lookup<'_>],
    ) -> Result<Box<dyn Reading + 's>, StoreError>;

    /// As [`Store::read_ahead`], if it is not known what is needed.
    ///
    /// # Errors
    ///
    /// A store that cannot be read.
    fn read<'s>(&'s mut self, project: &'s str) -> Result<Box<dyn Reading + 's>, StoreError> {
        self.read_ahead(project, &[])
    }

    /// As [`Store::read`], even if the ledger does not hold the head that is marked as
    /// its own. Also returns that head.
    ///
    /// # Errors
    ///
    /// A store that cannot be read.
    fn examine<'s>(
        &'s mut self,
        project: &'s str,
    ) -> Result<(Box<dyn Reading + 's>, Option<Head>), StoreError> {
        Ok((self.read(project)?, None))
    }

    /// Begins a change of a project's ledger: until it ends, nobody else numbers or
    /// appends in this project. A store that is busy or does not answer is waited for here.
    /// A database far away answers `ahead` at once.
    ///
    /// # Errors
    ///
    /// A store that cannot be written.
    fn begin_ahead<'s>(
        &'s mut self,
        project: &'s str,
        ahead: &[Lookup<'_>],
    ) -> Result<Transaction<'s>, StoreError>;

    /// As [`Store::begin_ahead`], if it is not known what is needed.
    ///
    /// # Errors
    ///
    /// A store that cannot be written.
    fn begin<'s>(&'s mut self, project: &'s str) -> Result<Transaction<'s>, StoreError> {
        self.begin_ahead(project, &[])
    }

    /// Begins a change of leases of a project's work items. Nobody waits for it: others
    /// claim, number and append meanwhile, and what was changed may stay changed if the
    /// rest fails. A lease is as durable as the database is set to make it: after a
    /// crash it may be given anew, and its earlier holder is refused.
    ///
    /// # Errors
    ///
    /// A store that cannot be written.
    fn lease<'s>(&'s mut self, project: &'s str) -> Result<Box<dyn Leasing + 's>, StoreError>;

    /// Sleeps until somebody may have made work claimable, at most so long, and returns true if it
    /// is time to look. The next call notices what was made claimable after this one began; the
    /// first one may return at once.
    ///
    /// # Errors
    ///
    /// A store that does not answer.
    fn await_work(&mut self, project: &str, at_most: Duration) -> Result<bool, StoreError>;

    /// Sets a project's ledger aside, as it is: the next record that is written
    /// here is the first of a new one, and its mark takes the place of the old
    /// one's. For a ledger that cannot be trusted any more.
    /// If the file itself is damaged, the whole file is set aside, with the ledgers of other
    /// projects in it.
    ///
    /// # Errors
    ///
    /// A store that cannot be written, or a role that may not change rows.
    fn renew(&mut self, project: &str) -> Result<(), StoreError>;

    /// Waits at most so long for a connection, each time. Statements have all of the patience.
    fn connect_within(&mut self, _limit: Duration) {}

    /// Goes on with a project's ledger as it is, although a record is missing that is marked: the
    /// mark of the next record takes the place of the old one.
    fn accept(&mut self, project: &str);

    /// Appends a record to what is left of a ledger whose end is lost: it is compared with no
    /// mark, and none is made.
    ///
    /// # Errors
    ///
    /// A store that cannot be written.
    fn note(&mut self, project: &str, draft: Draft) -> Result<(), StoreError> {
        let mut transaction = self.begin(project)?;
        transaction.append(draft)?;
        transaction.commit()
    }

    /// Copies the whole store to a new file while others write. The copy is of one moment.
    ///
    /// # Errors
    ///
    /// A file that is there, a folder that cannot be written, a database that has tools of its own
    /// for that.
    fn back_up(&mut self, to: &Path) -> Result<(), StoreError>;

    /// Name of this store: the state folder, or the database's host, port and name. Never
    /// credentials.
    fn place(&self) -> &str;
}

/// A project's work items, in a consistent view.
pub trait Items {
    /// The time by the clock that leases run by.
    ///
    /// # Errors
    ///
    /// A store that cannot be read.
    fn now(&mut self) -> Result<Timestamp, StoreError>;

    /// The item with this id.
    ///
    /// # Errors
    ///
    /// A store that cannot be read, or a row that contradicts itself.
    fn item(&mut self, id: &str) -> Result<Option<Item>, StoreError>;

    /// The item whose latest lease has this id.
    ///
    /// # Errors
    ///
    /// A store that cannot be read, or a row that contradicts itself.
    fn item_with_lease(&mut self, lease: &str) -> Result<Option<Item>, StoreError>;

    /// The first of these items that an actor holds at a time.
    ///
    /// # Errors
    ///
    /// A store that cannot be read, or a row that contradicts itself.
    fn item_held(
        &mut self,
        actor: &str,
        which: Claimable<'_>,
        now: Timestamp,
    ) -> Result<Option<Item>, StoreError>;

    /// At most `limit` items that were added after this record, in the order of
    /// adding.
    ///
    /// # Errors
    ///
    /// A store that cannot be read, or a row that contradicts itself.
    fn items(&mut self, after: u64, limit: usize) -> Result<Vec<Item>, StoreError>;

    /// When one of these can be claimed, if nothing else happens: in the past, if now. None if none
    /// can be claimed.
    ///
    /// # Errors
    ///
    /// A store that cannot be read.
    fn claimable_at(&mut self, which: Claimable<'_>) -> Result<Option<Timestamp>, StoreError>;
}

/// Leases of work items, which change without a record.
pub trait Leasing: Reading {
    /// Leases the next of these to the actor in `ask`; none if none can be claimed.
    ///
    /// # Errors
    ///
    /// A store that cannot be written, a name that cannot be kept.
    fn claim(&mut self, which: Claimable<'_>, ask: Ask<'_>) -> Result<Option<Item>, StoreError>;

    /// Puts a lease in the place of the one that an item was seen with. One that is
    /// released ends now.
    ///
    /// # Errors
    ///
    /// A store that cannot be written, an item that has
    /// [changed](StoreError::Changed).
    fn put_lease(&mut self, before: &Item, after: &Lease, now: Timestamp)
    -> Result<(), StoreError>;

    /// Makes the changes durable. Without this call they are undone.
    ///
    /// # Errors
    ///
    /// The database's first error since the beginning, even if the caller passed over it;
    /// a store that cannot be written. Nothing is kept then: only after
    /// [`StoreError::Uncertain`] nobody knows.
    fn commit(self: Box<Self>) -> Result<(), StoreError>;
}

/// A consistent view of one project's ledger.
///
/// Every row that is returned is consistent: its body is canonical JSON, and its look-up columns
/// are those of its body. If decisions rest on one row, its own hash was compared as well;
/// [`entry`](Reading::entry) and [`entries`](Reading::entries) leave that to the chain's
/// verification.
pub trait Reading: Items {
    /// The last record, or [`Head::EMPTY`].
    ///
    /// # Errors
    ///
    /// A store that cannot be read, or a last row that was changed.
    fn head(&mut self) -> Result<Head, StoreError>;

    /// The names of all projects in the store, in order, without ledgers that were set aside.
    ///
    /// # Errors
    ///
    /// A store that cannot be read.
    fn projects(&mut self) -> Result<Vec<String>, StoreError>;

    /// The record with this number. Its hash is not compared.
    ///
    /// # Errors
    ///
    /// A store that cannot be read, or a row that contradicts itself.
    fn entry(&mut self, seq: u64) -> Result<Option<Sealed>, StoreError>;

    /// At most `limit` records from this number on, ascending. Their hashes
    /// are not compared. Between them may be others that an older
    /// gate moved out.
    ///
    /// # Errors
    ///
    /// A store that cannot be read, or a row that contradicts itself.
    fn entries(&mut self, from: u64, limit: usize) -> Result<Vec<Sealed>, StoreError>;

    /// At most `limit` records before this number, ascending. Their hashes are not compared.
    ///
    /// # Errors
    ///
    /// A store that cannot be read, or a row that contradicts itself.
    fn entries_before(&mut self, before: u64, limit: usize) -> Result<Vec<Sealed>, StoreError>;

    /// The latest decision of this loop (`state.loop` of its body).
    ///
    /// # Errors
    ///
    /// A store that cannot be read, or a row that was changed.
    fn latest_of_loop(&mut self, name: &str) -> Result<Option<Sealed>, StoreError>;

    /// The latest record of this loop that is no decision: a step of its breaker,
    /// or what an operator did to it.
    ///
    /// # Errors
    ///
    /// A store that cannot be read, or a row that was changed.
    fn latest_step_of_loop(&mut self, name: &str) -> Result<Option<Sealed>, StoreError>;

    /// The latest record of this task that is no loop's (`state.task` of its body,
    /// without `state.loop`; "" if no task is named).
    ///
    /// # Errors
    ///
    /// A store that cannot be read, or a row that was changed.
    fn latest_of_task(&mut self, task: &str) -> Result<Option<Sealed>, StoreError>;

    /// The latest record of this type that is no decision.
    ///
    /// # Errors
    ///
    /// A store that cannot be read, or a row that was changed.
    fn latest_of_type(&mut self, kind: &str) -> Result<Option<Sealed>, StoreError>;

    /// The latest records of this type that are no decisions, the newest first.
    ///
    /// # Errors
    ///
    /// A store that cannot be read, or a row that was changed.
    fn entries_of_type(&mut self, kind: &str, limit: usize) -> Result<Vec<Sealed>, StoreError>;

    /// The decision of this iteration of a run.
    ///
    /// # Errors
    ///
    /// A store that cannot be read, or a row that was changed.
    fn decision(&mut self, run: &str, iteration: u64) -> Result<Option<Sealed>, StoreError>;

    /// The decision with this id, or with the only id that begins so. None if several do.
    ///
    /// # Errors
    ///
    /// A store that cannot be read, or a row that was changed.
    fn decision_by_id(&mut self, id: &str) -> Result<Option<Sealed>, StoreError>;

    /// The policy that was kept under this digest.
    ///
    /// # Errors
    ///
    /// A store that cannot be read.
    fn policy(&mut self, digest: &str) -> Result<Option<String>, StoreError>;
}

/// A ledger that nobody else changes meanwhile.
pub trait Writing: Leasing {
    /// Records it: numbered, and tied to the record before it.
    ///
    /// # Errors
    ///
    /// A store that cannot be written, a name that cannot be kept
    /// ([`StoreError::Unfit`]), a second decision for one iteration of a run
    /// ([`StoreError::Taken`]).
    fn append(&mut self, draft: Draft) -> Result<Sealed, StoreError>;

    /// Keeps a policy's text under its digest, once.
    ///
    /// # Errors
    ///
    /// A store that cannot be written, a text that cannot be kept.
    fn keep_policy(&mut self, digest: &str, text: &str) -> Result<(), StoreError>;

    /// Keeps a new work item, which a record added; false if there is one with its id.
    ///
    /// # Errors
    ///
    /// A store that cannot be written, a name that cannot be kept.
    fn add_item(&mut self, work: &WorkItem, seq: u64) -> Result<bool, StoreError>;

    /// Keeps the state of an item from a record on. The lease that it had is over.
    ///
    /// # Errors
    ///
    /// A store that cannot be written, an item that has
    /// [changed](StoreError::Changed).
    fn move_item(&mut self, before: &Item, after: &ItemState, seq: u64) -> Result<(), StoreError>;
}

/// The store in this place. With a folder for marks of the ledgers' heads, a ledger that was
/// removed, cut or replaced is [`StoreError::Lost`]. Nothing is made before something is written.
/// gate waits so long for a store that is busy or does not answer, each time ([`PATIENCE`]).
///
/// # Errors
///
/// A place that cannot be used.
pub fn open(
    place: &Place,
    heads: Option<PathBuf>,
    patience: Duration,
) -> Result<Box<dyn Store>, StoreError> {
    let heads = heads.map(Heads::new);
    match place {
        Place::Folder(folder) => {
            Ok(Box::new(Marked::new(SqliteStore::open(folder, patience)?, heads)))
        }
        Place::Database(url) => postgres::open(url, heads, patience),
    }
}

/// The condition of the store in this place, apart from the records in it.
///
/// # Errors
///
/// A store that cannot be reached, tables that have no version.
pub fn condition(place: &Place, patience: Duration) -> Result<Condition, StoreError> {
    match place {
        Place::Folder(folder) => SqliteStore::open(folder, patience)?.condition(),
        Place::Database(url) => postgres::condition(url, patience),
    }
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
