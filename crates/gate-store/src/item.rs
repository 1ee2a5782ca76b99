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
pub struct Ask<'a> {
    /// The id that it gets.
    pub lease: &'a str,
    /// The claiming actor.
    pub actor: &'a str,
    /// Now, by the store's clock.
    pub now: Timestamp,
    /// When it ends by itself.
    pub until: Timestamp,
}

/// The item in a row.
pub(super) fn read(cells: Vec<Cell>) -> Result<Item, StoreError> {
    let mut row = Row::new(cells);
    let (id, title, description) = (row.text("id")?, row.text("title")?, row.text("description")?);
    let phase = row.text("phase")?;
    let phase = named(&row, "phase", &phase)?;
    let blocked_in = row.maybe_text("blocked_in")?;
    let blocked_in = blocked_in.map(|phase| named(&row, "blocked_in", &phase)).transpose()?;
    let transition_count = row.number("transitions")?;
    let (added, seq) = (row.number("added")?, row.number("seq")?);
    let lease = lease(&mut row, &id)?;
    let state = ItemState { phase, blocked_in, transition_count };
    Ok(Item { work: WorkItem { id, title, description, state }, added, seq, lease })
}

fn lease(row: &mut Row, work: &str) -> Result<Option<Lease>, StoreError> {
    let (lease, actor) = (row.maybe_text("lease")?, row.maybe_text("actor")?);
    let issued = row.maybe_number("issued_at")?;
    let expires: i64 = row.number("expires_at")?;
    let released: i64 = row.number("released")?;
    let renewal_count = row.number("renewals")?;
    let Some(lease_id) = lease else {
        let is_free = actor.is_none() && issued.is_none() && expires == FREE;
        return match is_free {
            true => Ok(None),
            false => Err(row.corrupt("lease", "it is empty")),
        };
    };
    let actor_id = actor.ok_or_else(|| row.corrupt("actor", "it is empty"))?;
    let issued = issued.ok_or_else(|| row.corrupt("issued_at", "it is empty"))?;
    let expires_at = moment(row, "expires_at", expires)?;
    let expires_at = (released == 0).then_some(expires_at);
    let issued_at = moment(row, "issued_at", issued)?;
    Ok(Some(Lease {
        lease_id,
        work_id: work.to_owned(),
        actor_id,
        issued_at,
        expires_at,
        renewal_count,
    }))
}

fn named(row: &Row, column: &str, name: &str) -> Result<WorkPhase, StoreError> {
    let phase = WorkPhase::ALL.into_iter().find(|phase| phase.as_str() == name);
    phase.ok_or_else(|| row.corrupt(column, format!("`{name}` is no phase")))
}

fn moment(row: &Row, column: &str, at: i64) -> Result<Timestamp, StoreError> {
    Timestamp::from_millisecond(at)
        .map_err(|_| row.corrupt(column, format!("{at} is out of range")))
}

/// When an item expires that nobody had in its phase yet.
const FREE: i64 = 0;

/// An item's lease, as its row has it: the id, the number of renewals, and 1 if it was released.
/// Every change of a lease changes one of them.
pub(super) fn leased(item: &Item) -> (&str, u64, i64) {
    item.lease.as_ref().map_or(("", 0, 0), |lease| {
        (&lease.lease_id, lease.renewal_count, i64::from(lease.expires_at.is_none()))
    })
}

impl Claimable<'_> {
    /// The parameters of a statement: phase and id, each empty if any will do.
    pub(super) fn values(&self) -> [SqlValue<'_>; 2] {
        let phase = self.phase.as_ref().map_or("", WorkPhase::as_str);
        [phase.into(), self.id.unwrap_or_default().into()]
    }
}
