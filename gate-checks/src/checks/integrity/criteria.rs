//! Plans: what was to be done at the beginning still has to be there, done or open.

use std::path::Path;

use gate_core::integrity::{CRITERION, Examiner, Finding};
use gate_core::text::brief;

use crate::checks::acceptance;

/// Tells the items that a plan held and does not hold any more. Boxes may be
/// ticked, items may be added and moved.
pub(super) fn gone(file: &str, before: &[u8], now: Option<&[u8]>, examiner: &mut Examiner<'_>) {
    let items = |bytes: &[u8]| {
        let text = String::from_utf8_lossy(bytes);
        // What cannot be read holds no item; the check of the plan tells it.
        acceptance::items(Path::new(file), &text).unwrap_or_default()
    };
    let mut left = now.map(items).unwrap_or_default();
    for (line, text) in items(before) {
        match left.iter().position(|(_, other)| *other == text) {
            Some(at) => drop(left.swap_remove(at)),
            None => {
                let finding = CRITERION.finding(file);
                let message = format!("{}: {}", finding.message, brief(&text, 80));
                examiner.found(Finding { message, ..finding }.at(line.saturating_sub(1), &text));
            }
        }
    }
}
