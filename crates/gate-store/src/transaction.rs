//! Changes of one project's ledger, and of the leases of its work items.

use std::ops::{Deref, DerefMut};

use gate_core::exit::WorkPhase;
use gate_core::ledger::{Draft, Head, Record, Sealed};
use gate_fleet::work::{ItemState, Lease, WorkItem, is_claimable};
use jiff::Timestamp;
use uuid::Uuid;

use super::error::StoreError;
use super::item::{self, Claimable, Item, LeaseColumns, LeaseRequest};
use super::marked::LedgerMark;
use super::row::Keys;
use super::sql::{SqlValue, UNFIT, checked_name};
use super::statements;
use super::view::{ASIDE, View};

/// A change of a ledger that nobody else changes meanwhile. Dropped, it is undone.
#[derive(Debug)]
pub struct Transaction<'s> {
    view: View<'s>,
    mark: Option<LedgerMark<'s>>,
    /// The last record that was appended.
    appended: Option<Head>,
}

/// A change of leases, without a record: others claim, number and append meanwhile.
#[derive(Debug)]
pub struct Leases<'s>(pub(super) View<'s>);

impl<'s> Transaction<'s> {
    pub(super) fn new(view: View<'s>, mark: Option<LedgerMark<'s>>) -> Self {
        Self { view, mark, appended: None }
    }

    /// Appends a record, numbered and tied to the record before it.
    ///
    /// # Errors
    ///
    /// A store that cannot be written, a name that cannot be kept
    /// ([`StoreError::Unfit`]), a second decision for one iteration of a run
    /// ([`StoreError::Taken`]).
    pub fn append(&mut self, draft: Draft) -> Result<Sealed, StoreError> {
        let sealed = self.head()?.follow(draft);
        let keys = Keys::new(&sealed.record);
        if !self.insert_row(&sealed, &keys)? {
            return Err(self.refused_row(&sealed.record, &keys));
        }
        self.view.head = Some(sealed.head());
        self.appended = self.view.head;
        Ok(sealed)
    }

    /// Keeps a policy's text under its digest, once.
    ///
    /// # Errors
    ///
    /// A store that cannot be written, a text that cannot be kept.
    pub fn keep_policy(&mut self, digest: &str, text: &str) -> Result<(), StoreError> {
        if text.contains('\0') {
            return Err(StoreError::Unfit { column: "text", reason: UNFIT.to_owned() });
        }
        let digest = checked_name("digest", digest)?.into();
        if self.rows(statements::HAS_POLICY, &[digest])?.is_empty() {
            self.change(statements::KEEP_POLICY, &[digest, text.into()])?;
        }
        Ok(())
    }

    /// Keeps a new work item, which the record `seq` added. Returns false if there is an item with
    /// its id.
    ///
    /// # Errors
    ///
    /// A store that cannot be written, a name that cannot be kept.
    pub fn add_item(&mut self, work: &WorkItem, seq: u64) -> Result<bool, StoreError> {
        let number = integer("seq", seq)?;
        let values = [
            self.project.into(),
            checked_name("id", &work.id)?.into(),
            work.title.as_str().into(),
            work.description.as_str().into(),
            work.state.phase.as_str().into(),
            SqlValue::Text(work.state.blocked_in.as_ref().map(WorkPhase::as_str)),
            number,
            number,
        ];
        let is_added = self.change(statements::ADD_ITEM, &values)?;
        if is_added && is_claimable(work.state.phase) {
            self.announce()?;
        }
        Ok(is_added)
    }

    /// Keeps the state of an item from the record `seq` on. Its lease is over.
    ///
    /// # Errors
    ///
    /// A store that cannot be written, an item that has [changed](StoreError::Changed).
    pub fn move_item(
        &mut self,
        item: &Item,
        new_state: &ItemState,
        seq: u64,
    ) -> Result<(), StoreError> {
        let lease = LeaseColumns::new(item);
        let values = [
            new_state.phase.as_str().into(),
            SqlValue::Text(new_state.blocked_in.as_ref().map(WorkPhase::as_str)),
            integer("transitions", new_state.transition_count)?,
            integer("seq", seq)?,
            self.project.into(),
            item.work.id.as_str().into(),
            integer("transitions", item.work.state.transition_count)?,
            lease.id.into(),
            integer("renewals", lease.renewals)?,
            lease.released.into(),
        ];
        self.update(statements::MOVE_ITEM, &item.work.id, &values)?;
        if is_claimable(new_state.phase) { self.announce() } else { Ok(()) }
    }

    /// Makes the changes durable, and marks the ledger's head.
    ///
    /// # Errors
    ///
    /// The database's first error since the beginning, even if the caller passed over it; a store
    /// that cannot be written. Nothing is kept then, except perhaps after
    /// [`StoreError::Uncertain`].
    pub fn commit(mut self) -> Result<(), StoreError> {
        let head = if self.mark.is_some() { self.head()? } else { Head::EMPTY };
        self.view.finish(self.appended)?;
        if let Some(mark) = self.mark {
            mark.advance(head);
        }
        Ok(())
    }

    /// Moves the project's rows to a name that nobody looks up.
    ///
    /// # Errors
    ///
    /// A store that cannot be written.
    pub(super) fn set_aside(&mut self) -> Result<(), StoreError> {
        let name = format!("{}{ASIDE}{})", self.project, Uuid::now_v7());
        let values = [name.as_str().into(), self.project.into()];
        self.change(statements::SET_ASIDE, &values)?;
        self.change(statements::SET_ITEMS_ASIDE, &values).map(drop)
    }

    fn insert_row(&mut self, sealed: &Sealed, keys: &Keys) -> Result<bool, StoreError> {
        let Sealed { record, hash } = sealed;
        let (body, prev, hash) =
            (record.body.canonical(), record.prev.to_string(), hash.to_string());
        let values = [
            self.project.into(),
            integer("seq", record.seq)?,
            i64::from(record.v).into(),
            checked_name("time", &record.time)?.into(),
            checked_name("type", &record.kind)?.into(),
            maybe_name("run", record.run.as_ref())?,
            checked_name("actor", &record.actor)?.into(),
            body.as_str().into(),
            prev.as_str().into(),
            hash.as_str().into(),
            maybe_name("task", keys.task.as_ref())?,
            maybe_name("loop", keys.in_loop.as_ref())?,
            match keys.iteration {
                Some(iteration) => integer("iteration", iteration)?,
                None => SqlValue::Integer(None),
            },
            maybe_name("decision_id", keys.decision_id.as_ref())?,
        ];
        self.change(statements::APPEND, &values)
    }

    /// The error of a row that a unique index refused: its iteration has a decision, or, against
    /// every lock, somebody else took its number. A database may accept no further statement in
    /// this transaction, so that nothing of it is kept.
    fn refused_row(&mut self, record: &Record, keys: &Keys) -> StoreError {
        let error = match (&record.run, keys.iteration, &keys.decision_id) {
            (Some(run), Some(iteration), Some(_)) => {
                StoreError::Taken { run: run.clone(), iteration }
            }
            _ => StoreError::corrupt(format!("record {} is there already", record.seq)),
        };
        self.fail(&error);
        error
    }
}

impl Leases<'_> {
    /// Leases the next of the claimable items to the actor of the request; `None` if no item can be
    /// claimed.
    ///
    /// # Errors
    ///
    /// A store that cannot be written, a name that cannot be kept.
    pub fn claim(
        &mut self,
        filter: Claimable<'_>,
        request: LeaseRequest<'_>,
    ) -> Result<Option<Item>, StoreError> {
        let [phase, id] = filter.values();
        let values = [
            checked_name("lease", request.lease)?.into(),
            checked_name("actor", request.actor)?.into(),
            request.now.as_millisecond().into(),
            request.until.as_millisecond().into(),
            self.project.into(),
            phase,
            id,
        ];
        let statement = self.sql.claim();
        self.rows(statement, &values)?.pop().map(item::read).transpose()
    }

    /// Puts a new lease in the place of the one that `item` was read with. A lease that is released
    /// ends now.
    ///
    /// # Errors
    ///
    /// A store that cannot be written, an item that has [changed](StoreError::Changed).
    pub fn put_lease(
        &mut self,
        item: &Item,
        new_lease: &Lease,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let old_lease = LeaseColumns::new(item);
        let values = [
            new_lease.expires_at.unwrap_or(now).as_millisecond().into(),
            integer("renewals", new_lease.renewal_count)?,
            i64::from(new_lease.expires_at.is_none()).into(),
            self.project.into(),
            item.work.id.as_str().into(),
            old_lease.id.into(),
            integer("renewals", old_lease.renewals)?,
            old_lease.released.into(),
        ];
        self.update(statements::PUT_LEASE, &item.work.id, &values)?;
        if new_lease.expires_at.is_none() { self.announce() } else { Ok(()) }
    }

    /// Makes the changes durable. Without this call they may stay, or be undone.
    ///
    /// # Errors
    ///
    /// As of [`Transaction::commit`].
    pub fn commit(self) -> Result<(), StoreError> {
        self.0.finish(None)
    }
}

/// The statements that change rows.
impl View<'_> {
    fn change(
        &mut self,
        statement: &'static str,
        values: &[SqlValue<'_>],
    ) -> Result<bool, StoreError> {
        self.sql.change(statement, values).inspect_err(|error| self.fail(error))
    }

    /// Changes an item's row, which has to be as it was read: the statement returns a row then.
    fn update(
        &mut self,
        statement: &'static str,
        id: &str,
        values: &[SqlValue<'_>],
    ) -> Result<(), StoreError> {
        if !self.rows(statement, values)?.is_empty() {
            return Ok(());
        }
        let changed = StoreError::Changed { id: id.to_owned() };
        self.fail(&changed);
        Err(changed)
    }

    fn announce(&mut self) -> Result<(), StoreError> {
        self.sql.announce().inspect_err(|error| self.fail(error))
    }

    /// Commits, unless the database has returned an error: its first one.
    fn finish(self, appended: Option<Head>) -> Result<(), StoreError> {
        match self.first_error {
            Some(error) => Err(error),
            None => self.sql.commit(appended),
        }
    }
}

impl<'s> Deref for Transaction<'s> {
    type Target = View<'s>;

    fn deref(&self) -> &View<'s> {
        &self.view
    }
}

impl DerefMut for Transaction<'_> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.view
    }
}

impl<'s> Deref for Leases<'s> {
    type Target = View<'s>;

    fn deref(&self) -> &View<'s> {
        &self.0
    }
}

impl DerefMut for Leases<'_> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.0
    }
}

fn maybe_name<'t>(
    column: &'static str,
    text: Option<&'t String>,
) -> Result<SqlValue<'t>, StoreError> {
    Ok(SqlValue::Text(text.map(|text| checked_name(column, text)).transpose()?))
}

fn integer(column: &'static str, number: u64) -> Result<SqlValue<'static>, StoreError> {
    match i64::try_from(number) {
        Ok(number) => Ok(number.into()),
        Err(_) => Err(StoreError::Unfit { column, reason: format!("{number} is too large") }),
    }
}
