//! A project's work items inside of a transaction.

use gate_core::exit::WorkPhase;
use gate_fleet::work::{ItemState, Lease, WorkItem, is_claimable};
use jiff::Timestamp;

use super::super::error::StoreError;
use super::super::item::{self, Ask, Claimable, Item};
use super::super::sql::{Cell, Sql, SqlValue};
use super::super::{Items, Leasing, statements};
use super::{View, integer, name, note};

/// The version of the schema that has items.
const SINCE: i64 = 3;

impl<S: Sql> View<'_, S> {
    /// The same, of tables with this version: before items there are none.
    pub(in super::super) fn at_version(self, version: i64) -> Self {
        Self { has_items: version >= SINCE, ..self }
    }

    /// The same view, at this time in milliseconds since 1970 by the database's clock.
    #[cfg(feature = "postgres")]
    pub(in super::super) fn at(self, now: Option<i64>) -> Self {
        Self { now, ..self }
    }

    fn item_rows(
        &mut self,
        statement: &'static str,
        given: &[SqlValue<'_>],
    ) -> Result<Vec<Vec<Cell>>, StoreError> {
        if self.has_items { self.rows(statement, given) } else { Ok(Vec::new()) }
    }

    /// Changes an item's row, which has to be as it was looked at.
    fn update(
        &mut self,
        statement: &'static str,
        id: &str,
        given: &[SqlValue<'_>],
    ) -> Result<(), StoreError> {
        if !self.rows(statement, given)?.is_empty() {
            return Ok(());
        }
        let changed = StoreError::Changed { id: id.to_owned() };
        note(&mut self.failed, &changed);
        Err(changed)
    }

    /// Notifies those who wait that something can be claimed.
    fn announce(&mut self) -> Result<(), StoreError> {
        let Some(statement) = S::DIALECT.announce else { return Ok(()) };
        self.rows(statement, &[SqlValue::Text(self.project)]).map(drop)
    }

    pub(super) fn add(&mut self, work: &WorkItem, seq: u64) -> Result<bool, StoreError> {
        let number = integer("seq", seq)?;
        let given = [
            SqlValue::Text(self.project),
            SqlValue::Text(name("id", &work.id)?),
            SqlValue::Text(&work.title),
            SqlValue::Text(&work.description),
            SqlValue::Text(work.state.phase.as_str()),
            SqlValue::MaybeText(work.state.blocked_in.as_ref().map(WorkPhase::as_str)),
            SqlValue::Integer(number),
            SqlValue::Integer(number),
        ];
        let is_added = self.change(statements::ADD_ITEM, &given)?;
        if is_added && is_claimable(work.state.phase) {
            self.announce()?;
        }
        Ok(is_added)
    }

    pub(super) fn step(
        &mut self,
        before: &Item,
        after: &ItemState,
        seq: u64,
    ) -> Result<(), StoreError> {
        let (lease, renewals, released) = before.leased();
        let given = [
            SqlValue::Text(after.phase.as_str()),
            SqlValue::MaybeText(after.blocked_in.as_ref().map(WorkPhase::as_str)),
            SqlValue::Integer(integer("transitions", after.transition_count)?),
            SqlValue::Integer(integer("seq", seq)?),
            SqlValue::Text(self.project),
            SqlValue::Text(&before.work.id),
            SqlValue::Integer(integer("transitions", before.work.state.transition_count)?),
            SqlValue::Text(lease),
            SqlValue::Integer(integer("renewals", renewals)?),
            SqlValue::Integer(released),
        ];
        self.update(statements::MOVE_ITEM, &before.work.id, &given)?;
        if is_claimable(after.phase) { self.announce() } else { Ok(()) }
    }
}

impl<S: Sql> Items for View<'_, S> {
    fn now(&mut self) -> Result<Timestamp, StoreError> {
        let Some(statement) = S::DIALECT.now else { return Ok(Timestamp::now()) };
        let row = match self.now {
            None => self.rows(statement, &[])?.pop(),
            Some(at) => Some(vec![Cell::Integer(at)]),
        };
        match row.as_deref() {
            Some([Cell::Integer(at)]) => Timestamp::from_millisecond(*at).ok(),
            _ => None,
        }
        .ok_or_else(|| StoreError::corrupt("the database has no time"))
    }

    fn item(&mut self, id: &str) -> Result<Option<Item>, StoreError> {
        if name("", id).is_err() {
            return Ok(None);
        }
        let given = [SqlValue::Text(self.project), SqlValue::Text(id)];
        self.item_rows(statements::ITEM, &given)?.pop().map(item::read).transpose()
    }

    fn item_with_lease(&mut self, lease: &str) -> Result<Option<Item>, StoreError> {
        let given = [SqlValue::Text(self.project), SqlValue::Text(name("lease", lease)?)];
        self.item_rows(statements::ITEM_WITH_LEASE, &given)?.pop().map(item::read).transpose()
    }

    fn item_held(
        &mut self,
        actor: &str,
        which: Claimable<'_>,
        now: Timestamp,
    ) -> Result<Option<Item>, StoreError> {
        let [phase, id] = which.given();
        let given = [
            SqlValue::Text(self.project),
            SqlValue::Text(name("actor", actor)?),
            SqlValue::Integer(now.as_millisecond()),
            phase,
            id,
        ];
        self.item_rows(statements::ITEM_HELD, &given)?.pop().map(item::read).transpose()
    }

    fn items(&mut self, after: u64, limit: usize) -> Result<Vec<Item>, StoreError> {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let after = integer("added", after)?;
        let given =
            [SqlValue::Text(self.project), SqlValue::Integer(after), SqlValue::Integer(limit)];
        self.item_rows(statements::ITEMS, &given)?.into_iter().map(item::read).collect()
    }

    fn claimable_at(&mut self, which: Claimable<'_>) -> Result<Option<Timestamp>, StoreError> {
        let [phase, id] = which.given();
        let given = [SqlValue::Text(self.project), phase, id];
        match self.item_rows(statements::CLAIMABLE_AT, &given)?.pop().as_deref() {
            Some([Cell::Integer(at)]) => Timestamp::from_millisecond(*at)
                .map(Some)
                .map_err(|_| StoreError::corrupt(format!("`expires_at` {at} is out of range"))),
            _ => Ok(None),
        }
    }
}

impl<S: Sql> Leasing for View<'_, S> {
    fn claim(&mut self, which: Claimable<'_>, ask: Ask<'_>) -> Result<Option<Item>, StoreError> {
        let [phase, id] = which.given();
        let given = [
            SqlValue::Text(name("lease", ask.lease)?),
            SqlValue::Text(name("actor", ask.actor)?),
            SqlValue::Integer(ask.now.as_millisecond()),
            SqlValue::Integer(ask.until.as_millisecond()),
            SqlValue::Text(self.project),
            phase,
            id,
        ];
        self.rows(S::DIALECT.claim, &given)?.pop().map(item::read).transpose()
    }

    fn put_lease(
        &mut self,
        before: &Item,
        after: &Lease,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let (lease, renewals, released) = before.leased();
        let ends = after.expires_at.unwrap_or(now);
        let given = [
            SqlValue::Integer(ends.as_millisecond()),
            SqlValue::Integer(integer("renewals", after.renewal_count)?),
            SqlValue::Integer(i64::from(after.expires_at.is_none())),
            SqlValue::Text(self.project),
            SqlValue::Text(&before.work.id),
            SqlValue::Text(lease),
            SqlValue::Integer(integer("renewals", renewals)?),
            SqlValue::Integer(released),
        ];
        self.update(statements::PUT_LEASE, &before.work.id, &given)?;
        if after.expires_at.is_none() { self.announce() } else { Ok(()) }
    }

    fn commit(self: Box<Self>) -> Result<(), StoreError> {
        self.finish()
    }
}
