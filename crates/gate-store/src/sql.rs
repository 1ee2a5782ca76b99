//! The contract of a database: transactions, and the few statements in them.

use std::fmt::Debug;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::time::{Duration, Instant};

use gate_core::ledger::Head;
use jiff::Timestamp;

use super::error::StoreError;
use super::statements;
use super::upkeep::Condition;

/// The longest text that an index of PostgreSQL holds beside another one.
const MAX_NAME_BYTES: usize = 1024;

/// The decision that is going to be made.
#[derive(Clone, Debug)]
pub struct Upcoming {
    /// Its task, or empty.
    pub task: String,
    /// The name of its loop.
    pub in_loop: String,
    /// The name of the loop's last run.
    pub run: Option<String>,
    /// The caller's number of the iteration.
    pub iteration: Option<u64>,
    /// The digest of its policy.
    pub policy_digest: String,
}

/// A database: SQLite's file, or PostgreSQL.
pub(super) trait Database: Debug + Send {
    /// Begins a consistent view. A database that is busy or does not answer is waited for. A
    /// database that is far away may read ahead, at once: the marked record, and all that an
    /// upcoming decision rests on.
    fn view<'s>(
        &'s mut self,
        project: &'s str,
        marked: Option<Head>,
        upcoming: Option<&'s Upcoming>,
    ) -> Result<Box<dyn Sql + 's>, StoreError>;

    /// Begins a change of a project's ledger, which nobody else changes meanwhile.
    fn begin<'s>(
        &'s mut self,
        project: &'s str,
        marked: Option<Head>,
        upcoming: Option<&'s Upcoming>,
    ) -> Result<Box<dyn Sql + 's>, StoreError>;

    /// Begins a change of leases, for which nobody waits.
    fn lease<'s>(&'s mut self, project: &'s str) -> Result<Box<dyn Sql + 's>, StoreError>;

    /// As of [`Store::await_work`](super::Store::await_work).
    fn await_work(&mut self, project: &str, at_most: Duration) -> Result<bool, StoreError>;

    /// Sets the whole database aside, whose damage is `error`.
    fn set_aside(&mut self, error: StoreError) -> Result<(), StoreError> {
        Err(error)
    }

    /// As of [`Store::back_up`](super::Store::back_up).
    fn back_up(&mut self, to: &Path) -> Result<(), StoreError>;

    fn condition(&mut self) -> Result<Condition, StoreError>;

    /// As of [`Store::place`](super::Store::place).
    fn place(&self) -> &str;

    /// Other machines use this database, too.
    fn is_shared(&self) -> bool {
        false
    }

    /// As of [`Store::wait_in_loop`](super::Store::wait_in_loop).
    fn wait_in_loop(&mut self, _limit: Duration, _interrupt: &Arc<AtomicUsize>) {}

    /// As of [`Store::wait_for`](super::Store::wait_for).
    fn wait_for(&self, _start: Instant, _failures: u64, _message: &str) -> bool {
        false
    }
}

/// A parameter of a statement; `None` is NULL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SqlValue<'a> {
    Integer(Option<i64>),
    Text(Option<&'a str>),
}

impl From<i64> for SqlValue<'_> {
    fn from(number: i64) -> Self {
        Self::Integer(Some(number))
    }
}

impl<'a> From<&'a str> for SqlValue<'a> {
    fn from(text: &'a str) -> Self {
        Self::Text(Some(text))
    }
}

impl SqlValue<'_> {
    /// A column may hold it. For another text a database may refuse to look.
    pub(super) fn can_be_found(&self) -> bool {
        !matches!(self, SqlValue::Text(Some(text)) if checked_name("", text).is_err())
    }

    /// A number to look for, cut to the largest that a column holds.
    pub(super) fn clamped(number: u64) -> Self {
        i64::try_from(number).unwrap_or(i64::MAX).into()
    }
}

/// A value in a row that the database returned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Cell {
    Null,
    Integer(i64),
    Text(String),
    /// A value that no column of gate holds: a float, bytes, text that is not UTF-8.
    Other(&'static str),
}

/// The rows that a statement returns.
pub(super) type Rows = Vec<Vec<Cell>>;

/// A transaction in one of the databases. The statements are those of `statements.rs`, where `$1` and
/// so on stand for the values. SQLite takes `$1` for a name, and numbers the names as they appear: so
/// `$1` has to appear first, then `$2`.
pub(super) trait Sql {
    fn rows(
        &mut self,
        statement: &'static str,
        values: &[SqlValue<'_>],
    ) -> Result<Rows, StoreError>;

    /// Runs a statement that changes rows. Returns false if a unique index forbids it.
    fn change(
        &mut self,
        statement: &'static str,
        values: &[SqlValue<'_>],
    ) -> Result<bool, StoreError>;

    /// Keeps the changes, and the connection for the next transaction. Without this call, the
    /// changes are undone and the connection is closed. `head` is the last record that was
    /// appended: if the answer to the commit is lost, a database looks for that record.
    ///
    /// # Errors
    ///
    /// A database that refuses or does not answer: nothing was kept, except after
    /// [`StoreError::Uncertain`].
    fn commit(self: Box<Self>, head: Option<Head>) -> Result<(), StoreError>;

    /// The statement that claims the next work item.
    fn claim(&self) -> &'static str {
        statements::CLAIM
    }

    /// The tables are new enough to hold work items.
    fn has_items(&self) -> bool {
        true
    }

    /// The time by the clock that leases run by.
    fn now(&mut self) -> Result<Timestamp, StoreError> {
        Ok(Timestamp::now())
    }

    /// Notifies waiting claimers that work of the project can be claimed.
    fn announce(&mut self) -> Result<(), StoreError> {
        Ok(())
    }
}

/// The texts in rows of one column.
pub(super) fn texts(rows: Rows) -> Vec<String> {
    let text_in = |cell| if let Cell::Text(text) = cell { Some(text) } else { None };
    rows.into_iter().flatten().filter_map(text_in).collect()
}

/// A store that holds nothing yet, and takes nothing.
pub(super) struct EmptyStore;

impl Sql for EmptyStore {
    fn rows(&mut self, _: &'static str, _: &[SqlValue<'_>]) -> Result<Rows, StoreError> {
        Ok(Vec::new())
    }

    fn change(&mut self, _: &'static str, _: &[SqlValue<'_>]) -> Result<bool, StoreError> {
        Err(StoreError::corrupt("there are no tables"))
    }

    fn commit(self: Box<Self>, _: Option<Head>) -> Result<(), StoreError> {
        Ok(())
    }
}

/// The flaw of a text with a control character.
pub(super) const UNFIT: &str = "holds a control character, which cannot be kept";

/// A text that both databases can keep, and find again.
pub(super) fn checked_name<'t>(column: &'static str, text: &'t str) -> Result<&'t str, StoreError> {
    if text.chars().any(char::is_control) {
        return Err(StoreError::Unfit { column, reason: UNFIT.to_owned() });
    }
    if text.len() > MAX_NAME_BYTES {
        let reason = format!("is longer than {MAX_NAME_BYTES} bytes");
        return Err(StoreError::Unfit { column, reason });
    }
    Ok(text)
}
