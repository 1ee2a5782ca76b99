//! A work item as a store keeps it, and its JSON.

use gate_core::exit::WorkPhase;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use super::{Lease, LeaseState, WorkItem, is_claimable};

/// A work item, as it is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredItem {
    /// The item.
    pub work: WorkItem,
    /// The record that added it: items are in this order.
    pub added: u64,
    /// Its latest record, which has its phase.
    pub seq: u64,
    /// Its latest lease, live or over.
    pub lease: Option<Lease>,
}

impl StoredItem {
    /// The lease that holds at this time.
    pub fn active_lease(&self, now: Timestamp) -> Option<&Lease> {
        self.lease.as_ref().filter(|lease| lease.state(now) == LeaseState::Active)
    }
}

/// A lease, as `gate work claim --json` prints it.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LeaseRecord {
    /// The item's id.
    pub work: String,
    /// The lease's id.
    pub lease: String,
    /// The phase that the holder works on.
    pub phase: WorkPhase,
    /// The holder.
    pub actor: String,
    /// When it ends by itself (RFC 3339, UTC).
    pub expires_at: Option<String>,
    /// The file of the latest handoff that a loop over the item left, on any machine. Only
    /// `gate work claim` gives it, and only where machines share a database.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub handoff: Option<String>,
}

/// `gate.work.v1`: a work item.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct WorkRecord {
    /// Always `gate.work.v1`.
    pub schema: &'static str,
    /// The item's id.
    pub work: String,
    /// The title, in one line.
    pub title: String,
    /// The task.
    pub description: String,
    /// Its phase.
    pub phase: WorkPhase,
    /// The phase that it was blocked in.
    pub blocked_in: Option<WorkPhase>,
    /// The number of steps that it has taken.
    pub transition_count: u64,
    /// The item can be claimed now.
    pub claimable: bool,
    /// The lease that holds now.
    pub lease: Option<LeaseRecord>,
    /// The number of its latest record.
    pub seq: u64,
}

/// `gate.work.list.v1`: work items.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct WorkList {
    /// Always `gate.work.list.v1`.
    pub schema: &'static str,
    /// The items, in the order of their adding.
    pub items: Vec<WorkRecord>,
}

impl LeaseRecord {
    /// An item's lease, live or not.
    pub fn new(item: &StoredItem) -> Option<Self> {
        let lease = item.lease.as_ref()?;
        Some(Self {
            work: item.work.id.clone(),
            lease: lease.lease_id.clone(),
            phase: item.work.state.phase,
            actor: lease.actor_id.clone(),
            expires_at: lease.expires_at.map(|at| at.to_string()),
            handoff: None,
        })
    }

    /// The same with the file of the item's latest handoff.
    #[must_use]
    pub fn with_handoff(self, handoff: Option<String>) -> Self {
        Self { handoff, ..self }
    }
}

impl WorkRecord {
    /// An item as it is now.
    pub fn new(item: &StoredItem, now: Timestamp) -> Self {
        let state = item.work.state;
        let lease = item.active_lease(now);
        Self {
            schema: "gate.work.v1",
            work: item.work.id.clone(),
            title: item.work.title.clone(),
            description: item.work.description.clone(),
            phase: state.phase,
            blocked_in: state.blocked_in,
            transition_count: state.transition_count,
            claimable: lease.is_none() && is_claimable(state.phase),
            lease: lease.and_then(|_| LeaseRecord::new(item)),
            seq: item.seq,
        }
    }
}

impl WorkList {
    /// These items as they are now.
    pub fn new(items: &[StoredItem], now: Timestamp) -> Self {
        let items = items.iter().map(|item| WorkRecord::new(item, now)).collect();
        Self { schema: "gate.work.list.v1", items }
    }
}
