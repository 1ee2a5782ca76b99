//! Work items, for a person.

use std::fmt::Write;

use anstyle::{AnsiColor, Style};
use gate_core::exit::WorkPhase;
use gate_core::text::brief;
use gate_core::work::LeaseState;
use jiff::Timestamp;

use crate::store::Item;

/// An item and its lease.
pub(crate) fn work_card(item: &Item, lease_state: LeaseState) -> String {
    let (work, state) = (&item.work, &item.work.state);
    let style = style(state.phase);
    let title = brief(&work.title, 100);
    let mut text = format!("{style}{}{style:#}  {} {title}", state.phase, brief(&work.id, 128));
    text.truncate(text.trim_end().len());
    text.push_str("\n\n");
    let mut row = |label: &str, what: &str| {
        let _ = writeln!(text, "  {label:<12}{what}");
    };
    if let Some(phase) = state.blocked_in {
        row("blocked in", phase.as_str());
    }
    match &item.lease {
        Some(lease) if lease_state == LeaseState::Active => {
            let until = lease.expires_at.map_or_else(String::new, |at| format!(" until {at}"));
            row("held by", &format!("{}{until}", brief(&lease.actor_id, 128)));
            row("lease", &brief(&lease.lease_id, 128));
        }
        _ => row("held by", "nobody"),
    }
    row("steps", &state.transition_count.to_string());
    row("recorded", &format!("record {}", item.seq));
    text
}

/// The longest name of a phase, in letters.
const PHASE: usize = 16;

/// Items, a line each.
pub(crate) fn work_list(items: &[Item], now: Timestamp) -> String {
    if items.is_empty() {
        return "no work items\n".to_owned();
    }
    let widest = items.iter().map(|item| item.work.id.chars().count()).max().unwrap_or_default();
    let line = |item: &Item| {
        let (work, phase) = (&item.work, item.work.state.phase);
        let held = item.lease.as_ref().filter(|lease| lease.state(now) == LeaseState::Active);
        let held = held.map(|lease| format!("held by {}", brief(&lease.actor_id, 40)));
        let (id, title) = (brief(&work.id, 128), brief(&work.title, 60));
        let rest = [title, held.unwrap_or_default()].join("  ");
        let (style, name) = (style(phase), phase.as_str());
        let pad = " ".repeat(PHASE.saturating_sub(name.len()));
        let line = format!("{id:<widest$}  {style}{name}{style:#}{pad}  {}", rest.trim());
        format!("{}\n", line.trim_end())
    };
    items.iter().map(line).collect()
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
