//! Rows of work items, compared with the records that they rest on.

use std::collections::BTreeSet;

use gate_core::ledger::Record;
use gate_fleet::work::{
    ItemState, Lease, LeaseState, ReplayedItem, ReplayedItems, WorkError, WorkItem,
};

use crate::failure::Failure;
use crate::memory::Memory;
use crate::store::{Item, View};

/// Items that are read at once.
const PAGE: usize = 500;

impl Memory {
    /// The first contradiction between the rows of work items and `book`, which their records up
    /// to number `followed` come to. A row of a later record is compared with that record.
    ///
    /// # Errors
    ///
    /// A store that cannot be read, a row that contradicts itself or its records.
    pub fn misplaced(
        &mut self,
        book: &ReplayedItems,
        followed: u64,
    ) -> Result<Option<(u64, String)>, Failure> {
        let (mut view, _) = self.examine()?;
        let rows = all(&mut view, |_| true)?;
        for item in &rows {
            if item.seq > followed {
                holds(&mut view, item)?;
            } else if let Some(wrong) = contradicts(item, book.item(&item.work.id)) {
                return Ok(Some(wrong));
            }
        }
        let rows: BTreeSet<_> = rows.iter().map(|row| row.work.id.as_str()).collect();
        let missing = book.items().find(|(id, _)| !rows.contains(id));
        Ok(missing.map(|(id, entry)| (entry.seq, about_item(id, "has no row"))))
    }

    /// The work items with a live lease, of all projects in the store, each with its project.
    ///
    /// # Errors
    ///
    /// A store that cannot be read, a row that its record contradicts.
    pub(crate) fn leased_items(&mut self) -> Result<Vec<(String, WorkItem)>, Failure> {
        let (mut view, _) = self.examine()?;
        let projects = view.projects()?;
        drop(view);
        let mut leased = Vec::new();
        for project in projects {
            let (mut view, _) = self.store.examine(&project)?;
            let now = view.now()?;
            let is_live = |lease: &Lease| lease.state(now) == LeaseState::Active;
            let items = all(&mut view, |item| item.lease.as_ref().is_some_and(is_live))?;
            drop(view);
            leased.extend(items.into_iter().map(|item| (project.clone(), item.work)));
        }
        Ok(leased)
    }
}

fn about_item(id: &str, what: &str) -> String {
    format!("the work item `{id}` {what}")
}

/// The contradiction between a row and its records, if there is one.
fn contradicts(item: &Item, recorded: Option<ReplayedItem>) -> Option<(u64, String)> {
    let WorkItem { id, state, .. } = &item.work;
    let Some(recorded) = recorded else {
        return Some((item.seq, about_item(id, "has a row and no record")));
    };
    let ReplayedItem { state: ItemState { phase, .. }, added, seq, texts } = recorded;
    if (recorded.state, seq) != (*state, item.seq) {
        let what = format!("stands in {phase}, and its row says something else");
        return Some((seq, about_item(id, &what)));
    }
    let is_as_added = (added, texts) == (item.added, item.work.texts());
    (!is_as_added).then(|| (added, about_item(id, "was added otherwise than its row says")))
}

/// The items in the order of their adding, those that are wanted.
pub(in super::super) fn all(
    reading: &mut View<'_>,
    wanted: impl Fn(&Item) -> bool,
) -> Result<Vec<Item>, Failure> {
    let (mut all, mut after) = (Vec::new(), 0);
    loop {
        let page = reading.items(after, PAGE)?;
        let Some(last) = page.last() else { return Ok(all) };
        after = last.added;
        all.extend(page.into_iter().filter(&wanted));
    }
}

/// The item with an id. Fails if its row differs from its records.
pub(super) fn found(reading: &mut View<'_>, id: &str) -> Result<Item, Failure> {
    let item = reading.item(id)?.ok_or_else(|| WorkError::NotFound(id.to_owned()))?;
    holds(reading, &item)?;
    Ok(item)
}

/// Fails if an item's row differs from its records: its phase from the latest one, or its task
/// from the one that added it.
pub(super) fn holds(reading: &mut View<'_>, item: &Item) -> Result<(), Failure> {
    let WorkItem { id, state, .. } = &item.work;
    let (phase, seq) = (state.phase, item.seq);
    let latest = proven(reading, seq)?;
    let recorded =
        latest.as_ref().map(|record| ItemState::recorded(record, id)).transpose()?.flatten();
    if recorded != Some(*state) {
        let message =
            format!("the row of the work item `{id}` says {phase}, and record {seq} does not");
        return Err(Failure::internal("state-corrupt", message));
    }
    let first = if item.added == seq { latest } else { proven(reading, item.added)? };
    if first.map(|record| item.work.is_added_by(&record)).transpose()? == Some(true) {
        return Ok(());
    }
    let added = item.added;
    let message = format!("the row of the work item `{id}` is not what record {added} added");
    Err(Failure::internal("state-corrupt", message))
}

/// The record with a number, if it is the one that was hashed.
fn proven(reading: &mut View<'_>, seq: u64) -> Result<Option<Record>, Failure> {
    let sealed = reading.entry(seq)?.filter(|sealed| sealed.record.hash() == sealed.hash);
    Ok(sealed.map(|sealed| sealed.record))
}
