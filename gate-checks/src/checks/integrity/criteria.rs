//! Plans: what was to be done at the beginning still has to be there, done or open.

use std::path::Path;

use gate_core::decide::policy::CheckPolicy;
use gate_core::integrity::{CRITERION, Examiner, Finding};
use gate_core::text::brief;

use crate::checks::acceptance;

/// Reports the items that a plan had and does not have any more, or has only below a heading that
/// makes them optional. Boxes may be ticked, items may be added and moved.
pub(super) fn gone(
    file: &str,
    before: &[u8],
    now: Option<&[u8]>,
    rules: &CheckPolicy,
    examiner: &mut Examiner<'_>,
) {
    let mut left = now.map(|now| items(file, now, rules)).unwrap_or_default();
    // An item that counts takes the place of one that counts first.
    let mut was = items(file, before, rules);
    was.sort_by_key(|item| item.optional);
    left.sort_by_key(|item| item.optional);
    for item in was {
        let same = left
            .iter()
            .position(|other| other.text == item.text && (item.optional || !other.optional));
        if let Some(at) = same {
            left.remove(at);
            continue;
        }
        let is_optional_now = left.iter().any(|other| other.text == item.text);
        let finding = CRITERION.finding(file);
        let what = if is_optional_now {
            "an item of the plan was made optional"
        } else {
            CRITERION.message
        };
        let message = format!("{what}: {}", brief(&item.text, 80));
        let line = item.line.saturating_sub(1);
        examiner.found(Finding { message, ..finding }.at(line, &item.text));
    }
}

/// The items of a plan. One that cannot be read has none; the check of the plan reports it.
fn items(file: &str, bytes: &[u8], rules: &CheckPolicy) -> Vec<acceptance::Item> {
    let text = String::from_utf8_lossy(bytes);
    acceptance::items(Path::new(file), &text, rules).unwrap_or_default()
}
