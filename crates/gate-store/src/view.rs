//! One project's ledger inside of a transaction, whatever the database.

use gate_core::ledger::{Head, Sealed};
use jiff::Timestamp;

use super::error::StoreError;
use super::item;
use super::sql::{Cell, Rows, Sql, SqlValue, checked_name, texts};
use super::{Claimable, Item, row, statements};

/// The part of the name of a ledger that was set aside, between the project and an id.
pub(super) const ASIDE: &str = " (set aside: ";

/// The name of a ledger that was set aside.
pub fn is_aside(project: &str) -> bool {
    project.contains(ASIDE)
}

/// A consistent view of one project's ledger, until it is dropped.
///
/// Every row that is returned is consistent: its body is canonical JSON, and its look-up columns
/// repeat its body. If decisions rest on one row, its own hash was compared as well;
/// [`entry`](View::entry) and [`entries`](View::entries) leave that to the chain's verification.
/// An error of a method is a store that cannot be read, or a row that contradicts itself.
pub struct View<'s> {
    pub(super) sql: Box<dyn Sql + 's>,
    pub(super) project: &'s str,
    /// The head, once it was read: nobody else moves it meanwhile.
    pub(super) head: Option<Head>,
    /// The database's first error. Nothing is kept after an error, even if the caller passed over
    /// it.
    pub(super) first_error: Option<StoreError>,
}

impl std::fmt::Debug for View<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("View").field("project", &self.project).finish_non_exhaustive()
    }
}

impl<'s> View<'s> {
    /// # Errors
    ///
    /// A project whose name cannot be kept.
    pub(super) fn new(sql: Box<dyn Sql + 's>, project: &'s str) -> Result<Self, StoreError> {
        checked_name("project", project)?;
        Ok(Self { sql, project, head: None, first_error: None })
    }

    /// The last record, or [`Head::EMPTY`].
    pub fn head(&mut self) -> Result<Head, StoreError> {
        if let Some(head) = self.head {
            return Ok(head);
        }
        let last = self.proven(statements::HEAD, &[])?;
        Ok(*self.head.insert(last.map_or(Head::EMPTY, |last| last.head())))
    }

    /// The names of all projects in the store, in order, without ledgers that were set aside.
    pub fn projects(&mut self) -> Result<Vec<String>, StoreError> {
        let mut names = texts(self.rows(statements::PROJECTS, &[])?);
        names.retain(|name| !is_aside(name));
        Ok(names)
    }

    /// The record with this number. Its hash is not compared.
    pub fn entry(&mut self, seq: u64) -> Result<Option<Sealed>, StoreError> {
        single_record(self.find(statements::ENTRY, &[SqlValue::clamped(seq)])?)
    }

    /// At most `limit` records from `first_seq` on, ascending. Their hashes are not compared.
    /// A gap between them is records that an older gate moved out.
    pub fn entries(&mut self, first_seq: u64, limit: usize) -> Result<Vec<Sealed>, StoreError> {
        let page = [SqlValue::clamped(first_seq), SqlValue::clamped(limit as u64)];
        self.find(statements::ENTRIES, &page)?.into_iter().map(row::read).collect()
    }

    /// At most `limit` records before the number `end_seq`, ascending. Their hashes are not compared.
    pub fn entries_before(
        &mut self,
        end_seq: u64,
        limit: usize,
    ) -> Result<Vec<Sealed>, StoreError> {
        let page = [SqlValue::clamped(end_seq), SqlValue::clamped(limit as u64)];
        self.find(statements::ENTRIES_BEFORE, &page)?.into_iter().rev().map(row::read).collect()
    }

    /// The latest decision of this loop (`state.loop` of its body).
    pub fn latest_of_loop(&mut self, name: &str) -> Result<Option<Sealed>, StoreError> {
        self.proven(statements::LATEST_OF_LOOP, &[name.into()])
    }

    /// The latest record of this loop that is no decision: a step of its breaker, or an operator's
    /// act.
    pub fn latest_step_of_loop(&mut self, name: &str) -> Result<Option<Sealed>, StoreError> {
        self.proven(statements::LATEST_STEP_OF_LOOP, &[name.into()])
    }

    /// The latest record of this task outside of loops (`state.task` of its body, without
    /// `state.loop`; "" if no task is named).
    pub fn latest_of_task(&mut self, task: &str) -> Result<Option<Sealed>, StoreError> {
        self.proven(statements::LATEST_OF_TASK, &[task.into()])
    }

    /// The latest record of this type that is no decision.
    pub fn latest_of_type(&mut self, kind: &str) -> Result<Option<Sealed>, StoreError> {
        self.proven(statements::LATEST_OF_TYPE, &[kind.into(), 1.into()])
    }

    /// The latest records of this type that are no decisions, the newest first.
    pub fn entries_of_type(&mut self, kind: &str, limit: usize) -> Result<Vec<Sealed>, StoreError> {
        let values = [kind.into(), SqlValue::clamped(limit as u64)];
        let rows = self.find(statements::LATEST_OF_TYPE, &values)?;
        rows.into_iter().map(|row| row::read(row).and_then(row::proven)).collect()
    }

    /// At most `limit` records of these types after the record `last_seq`, ascending. Decisions are
    /// left out.
    pub fn entries_of_types(
        &mut self,
        kinds: [&str; 3],
        last_seq: u64,
        limit: usize,
    ) -> Result<Vec<Sealed>, StoreError> {
        let [first, second, third] = kinds.map(SqlValue::from);
        let page =
            [first, second, third, SqlValue::clamped(last_seq), SqlValue::clamped(limit as u64)];
        let rows = self.find(statements::OF_TYPES, &page)?;
        rows.into_iter().map(|row| row::read(row).and_then(row::proven)).collect()
    }

    /// The decision of this iteration of a run.
    pub fn decision(&mut self, run: &str, iteration: u64) -> Result<Option<Sealed>, StoreError> {
        self.proven(statements::DECISION, &[run.into(), SqlValue::clamped(iteration)])
    }

    /// The decision with this id, or with the only id that begins so. `None` if several begin so.
    pub fn decision_by_id(&mut self, id: &str) -> Result<Option<Sealed>, StoreError> {
        if id.is_empty() {
            return Ok(None);
        }
        match self.proven(statements::BY_ID, &[id.into()])? {
            Some(decision) => Ok(Some(decision)),
            None => self.proven(statements::BY_BEGINNING, &[id.into()]),
        }
    }

    /// The policy that was kept under this digest.
    pub fn policy(&mut self, digest: &str) -> Result<Option<String>, StoreError> {
        if checked_name("", digest).is_err() {
            return Ok(None);
        }
        let mut rows = self.rows(statements::POLICY, &[digest.into()])?;
        match rows.pop().and_then(|mut row| row.pop()) {
            None => Ok(None),
            Some(Cell::Text(text)) => Ok(Some(text)),
            Some(_) => Err(StoreError::corrupt(format!("the policy {digest} is no text"))),
        }
    }

    pub(super) fn rows(
        &mut self,
        statement: &'static str,
        values: &[SqlValue<'_>],
    ) -> Result<Rows, StoreError> {
        let rows = self.sql.rows(statement, values);
        rows.inspect_err(|error| self.fail(error))
    }

    /// The rows that a statement finds in the project. A value that no column holds finds none.
    fn find(
        &mut self,
        statement: &'static str,
        values: &[SqlValue<'_>],
    ) -> Result<Rows, StoreError> {
        if !values.iter().all(SqlValue::can_be_found) {
            return Ok(Vec::new());
        }
        let values = [&[self.project.into()], values].concat();
        self.rows(statement, &values)
    }

    /// The only record that a statement finds, after a comparison with its hash.
    fn proven(
        &mut self,
        statement: &'static str,
        values: &[SqlValue<'_>],
    ) -> Result<Option<Sealed>, StoreError> {
        single_record(self.find(statement, values)?)?.map(row::proven).transpose()
    }

    /// Keeps the first error.
    pub(super) fn fail(&mut self, error: &StoreError) {
        self.first_error.get_or_insert_with(|| error.clone());
    }
}

/// The project's work items.
impl View<'_> {
    /// The time by the clock that leases run by.
    pub fn now(&mut self) -> Result<Timestamp, StoreError> {
        self.sql.now().inspect_err(|error| self.fail(error))
    }

    /// The item with this id.
    pub fn item(&mut self, id: &str) -> Result<Option<Item>, StoreError> {
        Ok(self.find_items(statements::ITEM, &[id.into()])?.pop())
    }

    /// The item whose latest lease has this id.
    pub fn item_with_lease(&mut self, lease: &str) -> Result<Option<Item>, StoreError> {
        Ok(self
            .find_items(statements::ITEM_WITH_LEASE, &[checked_name("lease", lease)?.into()])?
            .pop())
    }

    /// The first of these items that an actor holds at the time `now`.
    pub fn item_held(
        &mut self,
        actor: &str,
        filter: Claimable<'_>,
        now: Timestamp,
    ) -> Result<Option<Item>, StoreError> {
        let [phase, id] = filter.values();
        let values = [checked_name("actor", actor)?.into(), now.as_millisecond().into(), phase, id];
        Ok(self.find_items(statements::ITEM_HELD, &values)?.pop())
    }

    /// At most `limit` items that were added after the record `last_seq`, in the order of adding.
    pub fn items(&mut self, last_seq: u64, limit: usize) -> Result<Vec<Item>, StoreError> {
        let values = [SqlValue::clamped(last_seq), SqlValue::clamped(limit as u64)];
        self.find_items(statements::ITEMS, &values)
    }

    /// When one of these items can be claimed, if nothing else happens: a time that is over if it can
    /// be claimed now. `None` if no item will be claimable.
    pub fn claimable_at(&mut self, filter: Claimable<'_>) -> Result<Option<Timestamp>, StoreError> {
        if !self.sql.has_items() {
            return Ok(None);
        }
        match self.find(statements::CLAIMABLE_AT, &filter.values())?.pop().as_deref() {
            Some([Cell::Integer(millis)]) => Timestamp::from_millisecond(*millis)
                .map(Some)
                .map_err(|_| StoreError::corrupt(format!("`expires_at` {millis} is out of range"))),
            _ => Ok(None),
        }
    }

    fn find_items(
        &mut self,
        statement: &'static str,
        values: &[SqlValue<'_>],
    ) -> Result<Vec<Item>, StoreError> {
        if !self.sql.has_items() {
            return Ok(Vec::new());
        }
        self.find(statement, values)?.into_iter().map(item::read).collect()
    }
}

/// The record of a single row. Of several rows, none can be relied on.
fn single_record(mut rows: Rows) -> Result<Option<Sealed>, StoreError> {
    let row = rows.pop();
    if rows.is_empty() { row.map(row::read).transpose() } else { Ok(None) }
}
