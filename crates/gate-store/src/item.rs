//! Work items in a store: a row each, with its latest lease.

use gate_core::exit::WorkPhase;
pub use gate_fleet::work::StoredItem as Item;
use gate_fleet::work::{ItemState, Lease, WorkItem};
use jiff::Timestamp;

use super::error::StoreError;
use super::row::Row;
use super::sql::{Cell, SqlValue};

/// A filter of claimable items.
#[derive(Clone, Copy, Debug, Default)]
pub struct Claimable<'a> {
    /// Items in this phase; else in any that agents claim.
    pub phase: Option<WorkPhase>,
    /// This item alone.
    pub id: Option<&'a str>,
}

/// A request for a lease.
#[derive(Clone, Copy, Debug)]
pub struct LeaseRequest<'a> {
    /// The id that the lease gets.
    pub lease: &'a str,
    /// The claiming actor.
    pub actor: &'a str,
    /// Now, by the store's clock.
    pub now: Timestamp,
    /// When the lease ends by itself.
    pub until: Timestamp,
}

/// The item in a row.
pub(super) fn read(cells: Vec<Cell>) -> Result<Item, StoreError> {
    let mut row = Row::new(cells);
    let (id, title, description) = (row.text("id")?, row.text("title")?, row.text("description")?);
    let phase_name = row.text("phase")?;
    let phase = phase_named(&row, "phase", &phase_name)?;
    let blocked_in = match row.maybe_text("blocked_in")? {
        Some(name) => Some(phase_named(&row, "blocked_in", &name)?),
        None => None,
    };
    let transition_count = row.number("transitions")?;
    let (added, seq) = (row.number("added")?, row.number("seq")?);
    let lease = lease(&mut row, &id)?;
    let state = ItemState { phase, blocked_in, transition_count };
    Ok(Item { work: WorkItem { id, title, description, state }, added, seq, lease })
}

fn lease(row: &mut Row, work_id: &str) -> Result<Option<Lease>, StoreError> {
    let (lease_id, actor_id) = (row.maybe_text("lease")?, row.maybe_text("actor")?);
    let issued_millis = row.maybe_number("issued_at")?;
    let expiry_millis: i64 = row.number("expires_at")?;
    let released: i64 = row.number("released")?;
    let renewal_count = row.number("renewals")?;
    let Some(lease_id) = lease_id else {
        let is_free = actor_id.is_none() && issued_millis.is_none() && expiry_millis == FREE_MILLIS;
        return if is_free { Ok(None) } else { Err(row.corrupt("lease", "it is empty")) };
    };
    let actor_id = actor_id.ok_or_else(|| row.corrupt("actor", "it is empty"))?;
    let issued_millis = issued_millis.ok_or_else(|| row.corrupt("issued_at", "it is empty"))?;
    let expiry = timestamp(row, "expires_at", expiry_millis)?;
    let issued_at = timestamp(row, "issued_at", issued_millis)?;
    Ok(Some(Lease {
        lease_id,
        work_id: work_id.to_owned(),
        actor_id,
        issued_at,
        // Of a released lease, the column holds only a time by which claims are ordered.
        expires_at: if released == 0 { Some(expiry) } else { None },
        renewal_count,
    }))
}

fn phase_named(row: &Row, column: &str, name: &str) -> Result<WorkPhase, StoreError> {
    let phase = WorkPhase::ALL.into_iter().find(|phase| phase.as_str() == name);
    phase.ok_or_else(|| row.corrupt(column, format!("`{name}` is no phase")))
}

fn timestamp(row: &Row, column: &str, millis: i64) -> Result<Timestamp, StoreError> {
    Timestamp::from_millisecond(millis)
        .map_err(|_| row.corrupt(column, format!("{millis} is out of range")))
}

/// The expiry of an item that nobody had in its phase yet, so that it is claimed first.
const FREE_MILLIS: i64 = 0;

/// The columns of an item's lease that tell whether it has changed: every change of a lease changes
/// one of them.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct LeaseColumns<'a> {
    /// The lease's id; empty without a lease.
    pub(super) id: &'a str,
    pub(super) renewals: u64,
    /// 1 if the lease was released, else 0.
    pub(super) released: i64,
}

impl<'a> LeaseColumns<'a> {
    pub(super) fn new(item: &'a Item) -> Self {
        let Some(lease) = &item.lease else { return Self::default() };
        Self {
            id: &lease.lease_id,
            renewals: lease.renewal_count,
            released: i64::from(lease.expires_at.is_none()),
        }
    }
}

impl Claimable<'_> {
    /// The parameters of a statement: phase and id, an empty one for every phase or id.
    pub(super) fn values(&self) -> [SqlValue<'_>; 2] {
        let phase = self.phase.as_ref().map_or("", WorkPhase::as_str);
        [phase.into(), self.id.unwrap_or_default().into()]
    }
}
