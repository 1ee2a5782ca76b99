//! The removed things for a person.

use std::time::Duration;

use gate_core::config::Millis;
use gate_core::text::readable_size;

use super::PruneRecord;
use crate::render::{Mark, Page};

/// The longest label of the card, in characters.
const MAX_LABEL_CHARS: usize = 15;

pub(super) fn card(record: &PruneRecord, older: Duration) -> String {
    let removed = &record.removed;
    let kinds = [
        ("copies of trees", removed.copies),
        ("build output", removed.builds),
        ("logs of checks", removed.logs),
        ("folders of runs", removed.runs),
    ];
    let is_empty = kinds.iter().all(|(_, kind)| kind.count == 0);
    let mut page = Page::new().with_labels(MAX_LABEL_CHARS);
    page.text(&first_line(record, is_empty, older));
    if !is_empty || removed.in_use > 0 || !removed.failed.is_empty() {
        page.blank();
    }
    for (label, kind) in kinds.iter().filter(|(_, kind)| kind.count > 0) {
        let text = format!("{}, {}", kind.count, readable_size(kind.bytes));
        page.marked(Mark::None, label, &text);
    }
    match removed.in_use {
        0 => {}
        1 => page.marked(Mark::None, "in use", "1 copy, left alone"),
        copies => page.marked(Mark::None, "in use", &format!("{copies} copies, left alone")),
    }
    for failure in &removed.failed {
        let text = format!("{}: {}", failure.path, failure.error);
        page.marked(Mark::Bad, "not removed", &text);
    }
    if removed.copies.count > 0 && !record.dry_run {
        page.blank();
        page.text("The next check of a tree whose copy is gone builds everything anew.");
    }
    page.into_text()
}

fn first_line(record: &PruneRecord, is_empty: bool, older: Duration) -> String {
    let size = readable_size(record.bytes);
    match (is_empty, record.dry_run) {
        (true, _) if older.is_zero() => "nothing to remove".to_owned(),
        (true, _) => {
            let age = Millis(u64::try_from(older.as_millis()).unwrap_or(u64::MAX));
            format!("nothing to remove that is older than {age}")
        }
        (false, true) => format!("would free {size}"),
        (false, false) => format!("freed {size}"),
    }
}
