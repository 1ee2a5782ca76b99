//! Work items, for a person.

use std::fmt::Write;

use anstyle::{AnsiColor, Style};
use gate_core::exit::WorkPhase;
use gate_core::text::brief;
use gate_core::work::LeaseState;
use jiff::Timestamp;

use crate::store::Item;

/// An item, and its lease, which is in this state.
pub(crate) fn work_card(item: &Item, state: LeaseState) -> String {
    let (work, standing) = (&item.work, &item.work.standing);
    let style = style(standing.phase);
    let title = brief(&work.title, 100);
    let mut text = format!("{style}{}{style:#}  {} {title}", standing.phase, brief(&work.id, 128));
    text.truncate(text.trim_end().len());
    text.push_str("\n\n");
    if let Some(phase) = standing.blocked_in {
        row(&mut text, "blocked in", phase.as_str());
    }
    match &item.lease {
        Some(lease) if state == LeaseState::Active => {
            let until = lease.expires_at.map_or_else(String::new, |at| format!(" until {at}"));
            row(&mut text, "held by", &format!("{}{until}", brief(&lease.actor_id, 128)));
            row(&mut text, "lease", &brief(&lease.lease_id, 128));
        }
        _ => row(&mut text, "held by", "nobody"),
    }
    row(&mut text, "steps", &standing.transition_count.to_string());
    row(&mut text, "recorded", &format!("record {}", item.seq));
    text
}

fn row(text: &mut String, label: &str, value: &str) {
    // Writing to a String cannot fail.
    let _ = writeln!(text, "  {label:<12}{value}");
}

/// The longest name of a phase, in letters.
const PHASE_WIDTH: usize = 16;

/// Items, a line each.
pub(crate) fn work_list(items: &[Item], now: Timestamp) -> String {
    if items.is_empty() {
        return "no work items\n".to_owned();
    }
    let widest = items.iter().map(|item| item.work.id.chars().count()).max().unwrap_or_default();
    items.iter().map(|item| line(item, widest, now) + "\n").collect()
}

/// An item's line, with a column for the id of so many characters.
fn line(item: &Item, id_width: usize, now: Timestamp) -> String {
    let (work, phase) = (&item.work, item.work.standing.phase);
    let lease = item.lease.as_ref().filter(|lease| lease.state(now) == LeaseState::Active);
    let holder = lease.map(|lease| format!("held by {}", brief(&lease.actor_id, 40)));
    let (id, title) = (brief(&work.id, 128), brief(&work.title, 60));
    let rest = [title, holder.unwrap_or_default()].join("  ");
    let (style, name) = (style(phase), phase.as_str());
    let pad = " ".repeat(PHASE_WIDTH.saturating_sub(name.len()));
    let line = format!("{id:<id_width$}  {style}{name}{style:#}{pad}  {}", rest.trim());
    line.trim_end().to_owned()
}

fn style(phase: WorkPhase) -> Style {
    let color = match phase {
        WorkPhase::Completed => AnsiColor::Green,
        WorkPhase::Blocked => AnsiColor::Red,
        WorkPhase::CiPending => AnsiColor::Yellow,
        _ => return Style::new().bold(),
    };
    Style::new().bold().fg_color(Some(color.into()))
}
