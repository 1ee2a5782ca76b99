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
    let kinds = kinds.iter().filter(|(_, kind)| kind.count > 0);
    let mut rows: Vec<_> = kinds
        .map(|(label, kind)| {
            (Mark::None, *label, format!("{}, {}", kind.count, readable_size(kind.bytes)))
        })
        .collect();
    let mut page = Page::new().with_labels(MAX_LABEL_CHARS);
    page.text(&first_line(record, rows.is_empty(), older));
    match removed.in_use {
        0 => {}
        1 => rows.push((Mark::None, "in use", "1 copy, left alone".to_owned())),
        more => rows.push((Mark::None, "in use", format!("{more} copies, left alone"))),
    }
    for failure in &removed.failed {
        rows.push((Mark::Bad, "not removed", format!("{}: {}", failure.path, failure.error)));
    }
    if !rows.is_empty() {
        page.blank();
    }
    for (mark, label, text) in &rows {
        page.marked(*mark, label, text);
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
