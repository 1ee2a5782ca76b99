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
const PAGE_ITEMS: usize = 500;

/// A work item with a live lease.
pub(crate) struct LeasedItem {
    /// The project's id.
    pub(crate) project: String,
    pub(crate) item: WorkItem,
}

impl Memory {
    /// The first contradiction between the rows of work items and `book`, the state after their records up
    /// to number `last_seq`. A row of a later record is compared with that record.
    ///
    /// # Errors
    ///
    /// A store that cannot be read, a row that contradicts itself or its records.
    pub fn contradicted_row(
        &mut self,
        book: &ReplayedItems,
        last_seq: u64,
    ) -> Result<Option<(u64, String)>, Failure> {
        let mut view = self.examine()?.view;
        let rows = items(&mut view, |_| true)?;
        for item in &rows {
            if item.seq > last_seq {
                verify(&mut view, item)?;
            } else if let Some(problem) = contradiction(item, book.item(&item.work.id)) {
                return Ok(Some(problem));
            }
        }
        let row_ids: BTreeSet<_> = rows.iter().map(|row| row.work.id.as_str()).collect();
        let missing = book.items().find(|(id, _)| !row_ids.contains(id));
        Ok(missing.map(|(id, recorded)| (recorded.seq, item_problem(id, "has no row"))))
    }

    /// The work items with a live lease, of all projects in the store.
    ///
    /// # Errors
    ///
    /// A store that cannot be read, a row that its record contradicts.
    pub(crate) fn leased_items(&mut self) -> Result<Vec<LeasedItem>, Failure> {
        let mut view = self.examine()?.view;
        let projects = view.projects()?;
        drop(view);
        let mut leased = Vec::new();
        for project in projects {
            let mut view = self.store.examine(&project)?.view;
            let now = view.now()?;
            let is_active = |lease: &Lease| lease.state(now) == LeaseState::Active;
            let leased_items = items(&mut view, |item| item.lease.as_ref().is_some_and(is_active))?;
            drop(view);
            leased.extend(
                leased_items
                    .into_iter()
                    .map(|item| LeasedItem { project: project.clone(), item: item.work }),
            );
        }
        Ok(leased)
    }
}

fn item_problem(id: &str, problem: &str) -> String {
    format!("the work item `{id}` {problem}")
}

/// The contradiction between a row and its records, if there is one, with the record's number.
fn contradiction(item: &Item, recorded: Option<ReplayedItem>) -> Option<(u64, String)> {
    let WorkItem { id, state, .. } = &item.work;
    let Some(recorded) = recorded else {
        return Some((item.seq, item_problem(id, "has a row and no record")));
    };
    let ReplayedItem { state: ItemState { phase, .. }, added, seq, texts } = recorded;
    if (recorded.state, seq) != (*state, item.seq) {
        let problem = format!("stands in {phase}, and its row says something else");
        return Some((seq, item_problem(id, &problem)));
    }
    let is_as_added = (added, texts) == (item.added, item.work.texts());
    (!is_as_added).then(|| (added, item_problem(id, "was added otherwise than its row says")))
}

/// The selected items in the order of their adding.
pub(in super::super) fn items(
    view: &mut View<'_>,
    is_selected: impl Fn(&Item) -> bool,
) -> Result<Vec<Item>, Failure> {
    let mut selected = Vec::new();
    let mut last_added = 0;
    loop {
        let page = view.items(last_added, PAGE_ITEMS)?;
        let Some(last) = page.last() else { return Ok(selected) };
        last_added = last.added;
        selected.extend(page.into_iter().filter(&is_selected));
    }
}

/// The item with an id. Fails if its row differs from its records.
pub(super) fn verified_item(view: &mut View<'_>, id: &str) -> Result<Item, Failure> {
    let item = view.item(id)?.ok_or_else(|| WorkError::NotFound(id.to_owned()))?;
    verify(view, &item)?;
    Ok(item)
}

/// Fails if an item's row differs from its records: its phase from the latest one, or its task
/// from the one that added it.
pub(super) fn verify(view: &mut View<'_>, item: &Item) -> Result<(), Failure> {
    let WorkItem { id, state, .. } = &item.work;
    let (phase, seq) = (state.phase, item.seq);
    let latest = hashed_record(view, seq)?;
    let recorded_state =
        latest.as_ref().map(|record| ItemState::from_record(record, id)).transpose()?.flatten();
    if recorded_state != Some(*state) {
        let message =
            format!("the row of the work item `{id}` says {phase}, and record {seq} does not");
        return Err(Failure::internal("state-corrupt", message));
    }
    // The rows can be edited by others, so the texts that an agent is given are compared, too.
    let added = if item.added == seq { latest } else { hashed_record(view, item.added)? };
    if added.map(|record| item.work.is_added_by(&record)).transpose()? == Some(true) {
        return Ok(());
    }
    let seq = item.added;
    let message = format!("the row of the work item `{id}` is not what record {seq} added");
    Err(Failure::internal("state-corrupt", message))
}

/// The record with a number, if it is the one that was hashed.
fn hashed_record(view: &mut View<'_>, seq: u64) -> Result<Option<Record>, Failure> {
    let sealed = view.entry(seq)?.filter(|sealed| sealed.record.hash() == sealed.hash);
    Ok(sealed.map(|sealed| sealed.record))
}
