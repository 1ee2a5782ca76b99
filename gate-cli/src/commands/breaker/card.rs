//! The card of breakers for a person.

#[cfg(test)]
mod tests;

use crate::memory::{BreakerStatus, OpenBreaker, SetAside};
use gate_core::decide::breaker::BreakerState;

use crate::render::card::{counters, state_name};
use crate::render::page::{Mark, Page};
use crate::render::text::local_time;

/// The card of breakers: the state of the selected ones, then each that is not closed.
pub(crate) fn breaker_card(status: &BreakerStatus) -> String {
    let (mark, meaning) = match status.state {
        BreakerState::Closed => (Mark::Good, "the loop may run"),
        BreakerState::HalfOpen => (Mark::Unsure, "one iteration may try again"),
        BreakerState::Open => (Mark::Bad, "the loop may not run; the work is not done"),
        BreakerState::Isolated => (Mark::Bad, "by an operator; the work is not done"),
    };
    let mut page = Page::new();
    page.head(mark, &state_name(status.state).to_uppercase(), meaning);
    page.blank();
    page.row("project", &status.project);
    if !status.task.is_empty() {
        page.row("task", &status.task);
    }
    if let Some(counters) = status.counters.as_ref().and_then(counters) {
        page.row("counters", &counters);
    }
    if let (true, Some(message)) = (status.open.is_empty(), &status.message) {
        let trip = status.trip.as_deref().unwrap_or_default();
        page.row("why", &format!("{message} ({trip})"));
        let reset = "look at the cause, then `gate breaker reset --reason …`";
        page.row("next", status.next.as_deref().unwrap_or(reset));
    }
    match status.closed {
        Some(0) => page.row("reset", "no loop was stopped; the counters are at zero"),
        Some(1) => page.row("reset", "one loop was stopped, and may run again"),
        Some(closed) => {
            page.row("reset", &format!("{closed} loops were stopped, and may run again"));
        }
        None => {}
    }
    if let Some(aside) = &status.set_aside {
        page.row("set aside", &set_aside(aside));
    }
    if let Some(ledger) = &status.ledger {
        page.row("recorded", &format!("record {}", ledger.seq));
    }
    for open in &status.open {
        page.blank();
        open_breaker(&mut page, open);
    }
    page.into_text()
}

/// A line about the records that were set aside with a ledger that cannot be trusted.
fn set_aside(aside: &SetAside) -> String {
    let records = match aside.records {
        Some(1) => "one record".to_owned(),
        Some(records) => format!("{records} records"),
        None => "records that could not be read".to_owned(),
    };
    let items = match aside.work_items {
        Some(0) => String::new(),
        Some(1) => "; one work item goes on".to_owned(),
        Some(items) => format!("; {items} work items go on"),
        None => "; the work items could not be read: add them again".to_owned(),
    };
    let leases = match aside.leases {
        0 => String::new(),
        1 => ", and one lease ended: its holder claims again".to_owned(),
        leases => format!(", and {leases} leases ended: their holders claim again"),
    };
    format!("{records}{items}{leases}")
}

/// A breaker that is not closed: its owner, its reason, its end, and the command that
/// closes it.
fn open_breaker(page: &mut Page, open: &OpenBreaker) {
    let place = if open.is_of_this_tree { "" } else { ", in another work tree" };
    page.row(state_name(open.state), &format!("{}{place}", open.whose));
    let cause = match (&open.message, &open.trip) {
        (Some(message), Some(trip)) => format!("{message} ({trip})"),
        (Some(text), None) | (None, Some(text)) => text.clone(),
        (None, None) => "no reason recorded".to_owned(),
    };
    page.row("why", &cause);
    if let Some(time) = &open.probe_at {
        page.row("retry", &format!("one iteration may try from {} on", local_time(time)));
    }
    page.row("next", &format!("look at the cause, then `{}`", open.reset));
}
