//! A ledger that is set aside because it cannot be trusted, and the work items that go
//! on without it.

use gate_core::exit::WorkPhase;
use gate_core::work::{Added, Cause, ItemState, Moved, WorkItem, kind};
use schemars::JsonSchema;
use serde::Serialize;

use super::work::{all, draft};
use super::{Memory, body};
use crate::failure::Failure;
use crate::store::{Item, Writing};

/// Why an item is blocked in the new ledger.
const BLOCKED: &str = "it was blocked in the ledger that was set aside";

/// What a reset has set aside.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SetAside {
    /// How many records the ledger still had; none where that could not be read. They
    /// stay in the store, under a name of their own.
    pub records: Option<u64>,
    /// How many work items go on in the new ledger, each in its phase; none where they
    /// could not be read.
    pub work_items: Option<u64>,
    /// How many leases of them ended: whoever had one claims again.
    pub leases: u64,
}

/// What is set aside, and the work items that go on.
pub(super) struct Kept {
    pub(super) aside: SetAside,
    pub(super) items: Vec<WorkItem>,
}

impl Memory {
    /// What the ledger holds at this moment, as far as it can be read.
    pub(super) fn kept(&mut self) -> Kept {
        let records = self.examine(|reading, _| Ok(reading.head()?.seq)).ok();
        let looked = self.examine(|reading, _| Ok((all(reading, |_| true)?, reading.now()?)));
        let (items, leases) = match looked {
            Ok((items, now)) => {
                let is_leased = |item: &&Item| {
                    let until = item.lease.as_ref().and_then(|lease| lease.expires_at);
                    until.is_some_and(|until| until > now)
                };
                let leases = items.iter().filter(is_leased).count();
                (Some(items), leases)
            }
            Err(_) => (None, 0),
        };
        let count = |it: usize| u64::try_from(it).unwrap_or(u64::MAX);
        let work_items = items.as_ref().map(|items| count(items.len()));
        let items = items.unwrap_or_default().into_iter().map(|item| item.work).collect();
        Kept { aside: SetAside { records, work_items, leases: count(leases) }, items }
    }
}

/// Takes a work item on into a new ledger, in its phase. Its lease is over.
pub(super) fn take_on(
    writing: &mut dyn Writing,
    work: &WorkItem,
    actor: &str,
) -> Result<(), Failure> {
    let phase = match work.state.blocked_in {
        // What CI has refused is implemented again.
        Some(WorkPhase::CiPending) => WorkPhase::Implementation,
        Some(phase) => phase,
        None => work.state.phase,
    };
    let begun = WorkItem { state: ItemState::added(phase), ..work.clone() };
    let added = writing.append(draft(kind::ADDED, actor, body::body(&Added::new(&begun))?))?;
    let added = added.record.seq;
    writing.add_item(&begun, added)?;
    if work.state.blocked_in.is_none() || phase == WorkPhase::Blocked {
        return Ok(());
    }
    let step = begun.state.step(&work.id, Cause::Blocked)?;
    let after = begun.state.taken(&step, actor)?;
    let moved = Moved { work: step, reason: Some(BLOCKED.to_owned()) };
    let moved = writing.append(draft(kind::MOVED, actor, body::body(&moved)?))?;
    let before = Item { work: begun, added, seq: added, lease: None };
    Ok(writing.move_item(&before, &after, moved.record.seq)?)
}
