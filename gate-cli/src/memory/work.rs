//! Work items: their leases, and the steps that they take.
//!
//! A claim, a renewal and a release change a row alone. A step is a record, and the row follows
//! it in the same transaction: a row does not count if no record confirms it.

mod leases;
mod verified_rows;

use gate_core::exit::{ExitHandlerError, ExitSignal, Session, WorkPhase};
use gate_core::ledger::Draft;
use gate_fleet::work::{
    Added, CI_PROCESSOR, Cause, Ended, ItemState, Lease, Moved, Step, WorkError, WorkItem,
    check_actor, is_claimable, kind,
};
use jiff::Timestamp;
use serde_json::Value;
use uuid::Uuid;

pub use self::leases::{Claim, LeaseRef};
pub(crate) use self::verified_rows::LeasedItem;
pub(super) use self::verified_rows::items;
use self::verified_rows::verified_item;
use super::Memory;
use super::body::{self, draft};
use crate::failure::Failure;
use crate::operator::Operator;
use crate::secrets;
use crate::store::{Item, Transaction};

/// Tries of a change that others get in the way of.
const MAX_TRIES: usize = 8;

/// An accepted exit signal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Submitted {
    /// The item, in its next phase.
    pub item: Item,
    /// The signal.
    pub signal: ExitSignal,
    /// The record of it.
    pub seq: u64,
}

impl Memory {
    /// Adds an item. Without an actor it is the operator's act.
    ///
    /// # Errors
    ///
    /// An item with its id, an actor's name that cannot be kept, a store that
    /// cannot be written.
    pub fn add_work(&mut self, work: &WorkItem, actor: Option<&str>) -> Result<Item, Failure> {
        let actor = actor_or_operator(actor)?;
        let added = draft(kind::ADDED, None, &actor, &Added::new(work))?;
        self.retry_record(|memory| {
            let mut transaction = memory.begin()?;
            let seq = transaction.append(added.clone())?.record.seq;
            if !transaction.add_item(work, seq)? {
                return Err(WorkError::Exists(work.id.clone()).into());
            }
            transaction.commit()?;
            Ok(Item { work: work.clone(), added: seq, seq, lease: None })
        })
    }

    /// The item with this id.
    ///
    /// # Errors
    ///
    /// No item with this id, a store that cannot be read, a row that its record
    /// contradicts.
    pub fn work(&mut self, id: &str) -> Result<Item, Failure> {
        self.retry(|memory| verified_item(&mut memory.view()?, id))
    }

    /// The selected items in the order of their adding.
    ///
    /// # Errors
    ///
    /// A store that cannot be read.
    pub fn works(&mut self, is_selected: impl Fn(&Item) -> bool) -> Result<Vec<Item>, Failure> {
        self.retry(|memory| items(&mut memory.view()?, &is_selected))
    }

    /// The time by the clock that leases run by.
    ///
    /// # Errors
    ///
    /// A store that cannot be read.
    pub fn lease_time(&mut self) -> Result<Timestamp, Failure> {
        self.retry(|memory| Ok(memory.view()?.now()?))
    }

    /// Accepts an exit signal: it is recorded, the item goes to its next phase and
    /// the lease is over, or nothing of it.
    ///
    /// # Errors
    ///
    /// Nobody's or somebody else's lease, one that is over, a signal that is
    /// invalid or of another phase. Nothing is written then.
    pub fn submit(
        &mut self,
        lease_ref: LeaseRef<'_>,
        signal: &ExitSignal,
    ) -> Result<Submitted, Failure> {
        let item = self.retry_record(|memory| {
            // A signal that is refused touches nothing, not even to undo it.
            let mut view = memory.view()?;
            let item = verified_item(&mut view, lease_ref.work)?;
            lease_ref.ended_phase(&item, signal, view.now()?)?;
            drop(view);
            retry_if_busy(|| {
                let mut transaction = memory.begin()?;
                let item = verified_item(&mut transaction, lease_ref.work)?;
                let ended = lease_ref.ended_phase(&item, signal, transaction.now()?)?;
                let draft = draft(kind::ENDED, None, lease_ref.actor, &ended)?;
                record_step(transaction, item, &ended.work, draft)
            })
        })?;
        Ok(Submitted { seq: item.seq, item, signal: signal.clone() })
    }

    /// Lets a blocked item go on: in the phase that it was blocked in, or in one
    /// before it.
    ///
    /// # Errors
    ///
    /// An item that is not blocked, a phase beyond.
    pub fn unblock(
        &mut self,
        id: &str,
        to: Option<WorkPhase>,
        actor: Option<&str>,
        reason: Option<&str>,
    ) -> Result<Item, Failure> {
        let actor = actor_or_operator(actor)?;
        self.take_step(id, &actor, reason, |state| match to {
            Some(phase) => state.step_back(id, phase),
            None => state.step(id, Cause::Unblocked),
        })
    }

    /// Takes the result of continuous integration.
    ///
    /// # Errors
    ///
    /// An item that does not wait for it.
    pub fn ci(&mut self, id: &str, passed: bool, reason: Option<&str>) -> Result<Item, Failure> {
        let cause = if passed { Cause::CiPassed } else { Cause::CiFailed };
        self.take_step(id, CI_PROCESSOR, reason, |state| state.step(id, cause))
    }

    /// Takes a step that no signal makes.
    fn take_step(
        &mut self,
        id: &str,
        actor: &str,
        reason: Option<&str>,
        step: impl Fn(&ItemState) -> Result<Step, WorkError>,
    ) -> Result<Item, Failure> {
        // As with a signal, a step that is refused begins no transaction.
        step(&self.work(id)?.work.state)?;
        self.retry_record(|memory| {
            retry_if_busy(|| {
                let mut transaction = memory.begin()?;
                let item = verified_item(&mut transaction, id)?;
                let work = step(&item.work.state)?;
                let moved = Moved { work, reason: reason.map(secrets::masked) };
                let draft = draft(kind::MOVED, None, actor, &moved)?;
                record_step(transaction, item, &moved.work, draft)
            })
        })
    }

    /// The notes or the reason of the item's latest step: from the agent before, from CI, or from
    /// the person who unblocked it.
    ///
    /// # Errors
    ///
    /// A store that cannot be read.
    pub fn latest_remark(&mut self, item: &Item) -> Result<Option<String>, Failure> {
        let sealed = self.retry(|memory| Ok(memory.view()?.entry(item.seq)?))?;
        let body = sealed.as_ref().map(|sealed| &sealed.record.body);
        let notes = body.and_then(|body| body.get("event")?.get("notes"));
        let text = notes.or_else(|| body?.get("reason")).and_then(Value::as_str);
        Ok(text.map(str::to_owned))
    }
}

impl LeaseRef<'_> {
    /// The body of the record of a phase that a signal ends.
    fn ended_phase(
        &self,
        item: &Item,
        signal: &ExitSignal,
        now: Timestamp,
    ) -> Result<Ended, Failure> {
        let lease = self.lease(item)?;
        lease.check_holder(self.actor, now)?;
        let state = item.work.state;
        let session = Session {
            session_id: lease.lease_id,
            actor_id: lease.actor_id,
            active_phase: Some(state.phase).filter(|phase| is_claimable(*phase)),
        };
        let accepted = session.accept(signal.clone(), now, Uuid::now_v7()).map_err(
            |error: ExitHandlerError| Failure::usage("exit-signal-refused", error.to_string()),
        )?;
        let work = state.step(&item.work.id, signal.exit_reason.into())?;
        Ok(Ended { event: body::without_secrets(accepted.event), work })
    }
}

/// Records a step of an item, and lets the item follow. The step ends the item's lease.
fn record_step(
    mut transaction: Transaction<'_>,
    item: Item,
    step: &Step,
    draft: Draft,
) -> Result<Item, Failure> {
    let new_state = item.work.state.after_step(step, &draft.actor)?;
    let seq = transaction.append(draft)?.record.seq;
    transaction.move_item(&item, &new_state, seq)?;
    transaction.commit()?;
    let lease = item.lease.map(|lease| Lease { expires_at: None, ..lease });
    let work = WorkItem { state: new_state, ..item.work };
    Ok(Item { work, seq, lease, ..item })
}

/// Repeats a change if others have changed the item meanwhile.
fn retry_if_busy<T>(mut change: impl FnMut() -> Result<T, Failure>) -> Result<T, Failure> {
    for _ in 1..MAX_TRIES {
        match change() {
            Err(failure) if failure.code == "state-busy" => {}
            result => return result,
        }
    }
    change()
}

/// The named actor, or the operator of this process.
fn actor_or_operator(name: Option<&str>) -> Result<String, Failure> {
    let Some(name) = name else { return Ok(Operator::from_process().actor()) };
    check_actor(name)?;
    Ok(name.to_owned())
}
