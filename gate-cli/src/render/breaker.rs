//! The card of breakers for a person.

use std::fmt::Write;

use anstyle::{AnsiColor, Style};
use gate_core::decide::breaker::{BreakerState, Counters};

use super::text::brief;
use crate::memory::{BreakerStatus, OpenBreaker, SetAside};

/// The card of breakers: the state of those that were asked about, then each that
/// is not closed.
pub(crate) fn breaker_card(status: &BreakerStatus) -> String {
    let (color, meaning) = match status.state {
        BreakerState::Closed => (AnsiColor::Green, "the loop may run"),
        BreakerState::HalfOpen => (AnsiColor::Yellow, "one decision is trying whether it may"),
        BreakerState::Open => (AnsiColor::Red, "the loop is stopped, and not done"),
        BreakerState::Isolated => {
            (AnsiColor::Red, "an operator holds the loop, and it is not done")
        }
    };
    let style = Style::new().bold().fg_color(Some(color.into()));
    let name = state_name(status.state).to_uppercase();
    let mut text = format!("{style}{name}{style:#}  {meaning}\n\n");
    row(&mut text, "project", &status.project);
    if !status.task.is_empty() {
        row(&mut text, "task", &status.task);
    }
    if let Some(counters) = status.counters.as_ref().and_then(counted) {
        row(&mut text, "counters", &counters);
    }
    if let (true, Some(message)) = (status.open.is_empty(), &status.message) {
        let trip = status.trip.as_deref().unwrap_or_default();
        row(&mut text, "why", &format!("{message} ({trip})"));
        row(&mut text, "next", "look at the cause, then `gate breaker reset --reason …`");
    }
    match status.closed {
        Some(0) => row(&mut text, "reset", "nothing was open; the counters are at zero"),
        Some(1) => row(&mut text, "reset", "one breaker was open, and is closed"),
        Some(closed) => {
            row(&mut text, "reset", &format!("{closed} breakers were open, and are closed"));
        }
        None => {}
    }
    if let Some(aside) = &status.set_aside {
        row(&mut text, "set aside", &set_aside(aside));
    }
    if let Some(ledger) = &status.ledger {
        row(&mut text, "recorded", &format!("record {}", ledger.seq));
    }
    for open in &status.open {
        text.push('\n');
        open_breaker(&mut text, open);
    }
    text
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
fn open_breaker(text: &mut String, open: &OpenBreaker) {
    let elsewhere = if open.here { "" } else { ", in another work tree" };
    row(text, state_name(open.state), &format!("{}{elsewhere}", open.whose));
    let trip = open.trip.as_deref().unwrap_or("no reason recorded");
    row(text, "why", &format!("{} ({trip})", open.message.as_deref().unwrap_or_default()));
    if let Some(at) = &open.probe_at {
        row(text, "probe", &format!("one iteration may try from {at} on"));
    }
    row(text, "next", &format!("look at the cause, then `{}`", open.reset));
}

fn row(text: &mut String, label: &str, what: &str) {
    let _ = writeln!(text, "  {label:<12}{}", brief(what));
}

/// A state in words.
pub(crate) fn state_name(state: BreakerState) -> &'static str {
    match state {
        BreakerState::Closed => "closed",
        BreakerState::HalfOpen => "half open",
        BreakerState::Open => "open",
        BreakerState::Isolated => "isolated",
    }
}

/// The counters that are not zero; none if all are.
pub(super) fn counted(counters: &Counters) -> Option<String> {
    let all = [
        ("no exit", counters.no_exit),
        ("refused", counters.refused),
        ("no progress", counters.no_progress),
        ("same error", counters.same_error),
        ("inconclusive", counters.inconclusive),
        ("permission denied", counters.permission_denied),
        ("rate limited", counters.rate_limited),
    ];
    let counting = all.iter().filter(|(_, count)| *count > 0);
    let words: Vec<_> = counting.map(|(name, count)| format!("{name} {count}")).collect();
    (!words.is_empty()).then(|| words.join(", "))
}
