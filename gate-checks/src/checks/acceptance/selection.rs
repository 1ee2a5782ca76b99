//! The items that belong to a task.

use super::label;
use super::plan::{Item, Plan};

/// The items that a task's id selects.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Selection {
    /// The items with this id, and those within or below something with this id.
    These(Vec<Vec<Item>>),
    /// Nothing has this id, and nothing here is called by ids.
    All,
    /// Nothing has this id, though things here are called by ids.
    Nobody,
}

/// Looks for a task in plans.
pub(super) fn select(plans: &[Plan], id: &str) -> Selection {
    let chosen = plans.iter().map(|plan| plan.items.iter().filter_map(|item| chosen(item, id)));
    let chosen: Vec<Vec<Item>> = chosen.map(Iterator::collect).collect();
    if chosen.iter().any(|items| !items.is_empty()) {
        Selection::These(chosen)
    } else if plans.iter().any(|plan| plan.by_ids) {
        Selection::Nobody
    } else {
        Selection::All
    }
}

/// The item, if it belongs to the task. An item that has the id itself is not optional.
fn chosen(item: &Item, id: &str) -> Option<Item> {
    if label::is_called(&item.text, id) {
        return Some(Item { optional: false, ..item.clone() });
    }
    let within = item.within.iter().any(|text| label::is_called(text, id));
    let below = item.headings.iter().any(|heading| label::holds_word(heading, id));
    (within || below).then(|| item.clone())
}
