//! Work items, for a person.

#[cfg(test)]
mod tests;

use anstyle::Style;
use gate_card::{Mark, Page, local_time};
use gate_core::exit::WorkPhase;
use gate_core::text::brief;
use jiff::Timestamp;

use super::{LeaseState, StoredItem};

/// An item and its lease, with the file of its latest handoff for a claimant.
pub fn work_card(item: &StoredItem, lease_state: LeaseState, handoff: Option<&str>) -> String {
    let (work, state) = (&item.work, &item.work.state);
    let mut page = Page::new();
    let about = format!("{} {}", brief(&work.id, 128), brief(&work.title, 100));
    page.head(mark(state.phase), state.phase.as_str(), about.trim_end());
    page.blank();
    if let Some(phase) = state.blocked_in {
        page.row("blocked in", phase.as_str());
    }
    match &item.lease {
        Some(lease) if lease_state == LeaseState::Active => {
            page.row("held by", &format!("{}{}", brief(&lease.actor_id, 128), until(item)));
            page.row("lease", &brief(&lease.lease_id, 128));
        }
        _ => page.row("held by", "nobody"),
    }
    page.rows("handoff", handoff);
    page.row("steps", &state.transition_count.to_string());
    page.row("recorded", &format!("record {}", item.seq));
    page.into_text()
}

/// The line before the card of an item that its claimant held already.
pub fn held_again(item: &StoredItem) -> String {
    format!("you hold {}{}\n", brief(&item.work.id, 128), until(item))
}

/// The end of an item's lease, in words.
fn until(item: &StoredItem) -> String {
    let ends = item.lease.as_ref().and_then(|lease| lease.expires_at);
    ends.map_or_else(String::new, |at| format!(" until {}", local_time(&at.to_string())))
}

/// The longest name of a phase, in letters.
const PHASE_WIDTH: usize = 16;

/// Items, a line each.
pub fn work_list(items: &[StoredItem], now: Timestamp) -> String {
    if items.is_empty() {
        return "no work items\n".to_owned();
    }
    let widest = items.iter().map(|item| item.work.id.chars().count()).max().unwrap_or_default();
    items.iter().map(|item| line(item, widest, now) + "\n").collect()
}

/// An item's line, with a column for the id of so many characters.
fn line(item: &StoredItem, id_width: usize, now: Timestamp) -> String {
    let (work, phase) = (&item.work, item.work.state.phase);
    let holder =
        item.active_lease(now).map(|lease| format!("held by {}", brief(&lease.actor_id, 40)));
    let (id, title) = (brief(&work.id, 128), brief(&work.title, 60));
    let about = [title, holder.unwrap_or_default()].join("  ");
    let (style, name) = (style(phase), phase.as_str());
    let pad = " ".repeat(PHASE_WIDTH.saturating_sub(name.len()));
    let line = format!("{id:<id_width$}  {style}{name}{style:#}{pad}  {}", about.trim());
    line.trim_end().to_owned()
}

fn style(phase: WorkPhase) -> Style {
    Style::new().bold().fg_color(mark(phase).color().map(Into::into))
}

fn mark(phase: WorkPhase) -> Mark {
    match phase {
        WorkPhase::Completed => Mark::Good,
        WorkPhase::Blocked => Mark::Bad,
        WorkPhase::CiPending => Mark::Unsure,
        _ => Mark::None,
    }
}
