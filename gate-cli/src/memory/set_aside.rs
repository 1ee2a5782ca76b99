//! Sets a ledger aside that cannot be trusted, and carries its work items over to the new
//! one.

use gate_core::exit::WorkPhase;
use gate_fleet::work::{Added, Cause, ItemState, Moved, WorkItem, kind};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use super::Memory;
use super::body::draft;
use super::work::items;
use crate::failure::Failure;
use crate::store::{Item, StoreError, Transaction};

/// The recorded reason for a blocked item in the new ledger.
const BLOCKED_REASON: &str = "it was blocked in the ledger that was set aside";

/// The ledger that a reset has set aside.
#[non_exhaustive]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SetAside {
    /// The number of records in that ledger; null if it could not be read. They stay in
    /// the store under another name.
    pub records: Option<u64>,
    /// The number of work items that the new ledger has, each in its phase; null if they
    /// could not be read.
    pub work_items: Option<u64>,
    /// The number of their leases that ended. Their holders claim again.
    pub leases: u64,
}

/// The contents of a ledger that is set aside, as far as they could be read.
pub(super) struct LedgerContents {
    pub(super) aside: SetAside,
    pub(super) items: Vec<WorkItem>,
}

impl Memory {
    /// The contents of the ledger, as far as they can be read.
    pub(super) fn contents(&mut self) -> LedgerContents {
        let records = self.record_count().ok();
        let Ok((items, now)) = self.items_now() else {
            let aside = SetAside { records, ..SetAside::default() };
            return LedgerContents { aside, items: Vec::new() };
        };
        let aside = SetAside {
            records,
            work_items: Some(items.len() as u64),
            leases: leased_count(&items, now),
        };
        LedgerContents { aside, items: items.into_iter().map(|item| item.work).collect() }
    }

    /// The number of work items, and of the leased ones.
    pub(crate) fn item_counts(&mut self) -> Result<(u64, u64), Failure> {
        let (items, now) = self.items_now()?;
        Ok((items.len() as u64, leased_count(&items, now)))
    }

    fn record_count(&mut self) -> Result<u64, StoreError> {
        let mut view = self.examine()?.view;
        Ok(view.head()?.seq)
    }

    /// All work items, and the time by the clock that their leases run by.
    fn items_now(&mut self) -> Result<(Vec<Item>, Timestamp), Failure> {
        let mut view = self.examine()?.view;
        Ok((items(&mut view, |_| true)?, view.now()?))
    }
}

fn leased_count(items: &[Item], now: Timestamp) -> u64 {
    let expiries = items.iter().filter_map(|item| item.lease.as_ref()?.expires_at);
    expiries.filter(|expires_at| *expires_at > now).count() as u64
}

/// Adds a work item to a new ledger in its phase, without its lease.
pub(super) fn take_on(
    transaction: &mut Transaction<'_>,
    work: &WorkItem,
    actor: &str,
) -> Result<(), Failure> {
    let phase = match work.state.blocked_in {
        // CI has refused the item, so the implementation begins again.
        Some(WorkPhase::CiPending) => WorkPhase::Implementation,
        Some(phase) => phase,
        None => work.state.phase,
    };
    let new_item = WorkItem { state: ItemState::added(phase), ..work.clone() };
    let added = transaction.append(draft(kind::ADDED, None, actor, &Added::new(&new_item))?)?;
    let added_seq = added.record.seq;
    transaction.add_item(&new_item, added_seq)?;
    if work.state.blocked_in.is_none() || phase == WorkPhase::Blocked {
        return Ok(());
    }
    // A blocked item is added in its phase and blocked there, so that it can be unblocked.
    let step = new_item.state.step(&work.id, Cause::Blocked)?;
    let blocked_state = new_item.state.after_step(&step, actor)?;
    let body = Moved { work: step, reason: Some(BLOCKED_REASON.to_owned()) };
    let moved = transaction.append(draft(kind::MOVED, None, actor, &body)?)?;
    let row = Item { work: new_item, added: added_seq, seq: added_seq, lease: None };
    Ok(transaction.move_item(&row, &blocked_state, moved.record.seq)?)
}
