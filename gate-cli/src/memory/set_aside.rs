//! Sets a ledger aside that cannot be trusted, and carries its work items over to the new
//! one.

use gate_core::exit::WorkPhase;
use gate_fleet::work::{Added, Cause, ItemState, Moved, WorkItem, kind};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use super::Memory;
use super::body::draft;
use super::work::all;
use crate::failure::Failure;
use crate::store::{Item, StoreError, Transaction};

/// The recorded reason for a blocked item in the new ledger.
const BLOCKED: &str = "it was blocked in the ledger that was set aside";

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
        let expiries = items.iter().filter_map(|item| item.lease.as_ref()?.expires_at);
        let leases = expiries.filter(|expires_at| *expires_at > now).count() as u64;
        let work_items = Some(items.len() as u64);
        let items = items.into_iter().map(|item| item.work).collect();
        LedgerContents { aside: SetAside { records, work_items, leases }, items }
    }

    /// The number of work items, and of the leased ones.
    pub(crate) fn item_counts(&mut self) -> Result<(u64, u64), Failure> {
        let (items, now) = self.items_now()?;
        let expiries = items.iter().filter_map(|item| item.lease.as_ref()?.expires_at);
        let leased = expiries.filter(|expires_at| *expires_at > now).count();
        Ok((items.len() as u64, leased as u64))
    }

    fn record_count(&mut self) -> Result<u64, StoreError> {
        let (mut view, _) = self.examine()?;
        Ok(view.head()?.seq)
    }

    /// All work items, and the time by the clock that their leases run by.
    fn items_now(&mut self) -> Result<(Vec<Item>, Timestamp), Failure> {
        let (mut view, _) = self.examine()?;
        Ok((all(&mut view, |_| true)?, view.now()?))
    }
}

/// Adds a work item to a new ledger in its phase, without its lease.
pub(super) fn take_on(
    writing: &mut Transaction<'_>,
    work: &WorkItem,
    actor: &str,
) -> Result<(), Failure> {
    let phase = match work.state.blocked_in {
        // CI has refused the item, so the implementation begins again.
        Some(WorkPhase::CiPending) => WorkPhase::Implementation,
        Some(phase) => phase,
        None => work.state.phase,
    };
    let begun = WorkItem { state: ItemState::added(phase), ..work.clone() };
    let added = writing.append(draft(kind::ADDED, None, actor, &Added::new(&begun))?)?;
    let added = added.record.seq;
    writing.add_item(&begun, added)?;
    if work.state.blocked_in.is_none() || phase == WorkPhase::Blocked {
        return Ok(());
    }
    let step = begun.state.step(&work.id, Cause::Blocked)?;
    let after = begun.state.taken(&step, actor)?;
    let moved = Moved { work: step, reason: Some(BLOCKED.to_owned()) };
    let moved = writing.append(draft(kind::MOVED, None, actor, &moved)?)?;
    let before = Item { work: begun, added, seq: added, lease: None };
    Ok(writing.move_item(&before, &after, moved.record.seq)?)
}
