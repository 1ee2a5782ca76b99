//! The breaker's card for a person.

use std::fmt::Write;

use anstyle::{AnsiColor, Style};
use gate_core::decide::breaker::{BreakerState, Counters};

use super::text::brief;
use crate::memory::BreakerStatus;

/// The card of a task's breaker.
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
    let mut row = |label: &str, what: &str| {
        let _ = writeln!(text, "  {label:<12}{}", brief(what));
    };
    row("project", &status.project);
    if !status.task.is_empty() {
        row("task", &status.task);
    }
    if let (Some(trip), Some(message)) = (&status.trip, &status.message) {
        row("why", &format!("{message} ({trip})"));
    }
    if let Some(counters) = status.counters.as_ref().and_then(counted) {
        row("counters", &counters);
    }
    if let Some(at) = &status.probe_at {
        row("probe", &format!("one iteration may try from {at} on"));
    }
    if let Some(ledger) = &status.ledger {
        row("recorded", &format!("record {}", ledger.seq));
    }
    if matches!(status.state, BreakerState::Open | BreakerState::Isolated) {
        row("next", "look at the cause, then `gate breaker reset --reason …`");
    }
    text
}

/// A state in words.
pub(super) fn state_name(state: BreakerState) -> &'static str {
    match state {
        BreakerState::Closed => "closed",
        BreakerState::HalfOpen => "half open",
        BreakerState::Open => "open",
        BreakerState::Isolated => "isolated",
    }
}

/// The counters that count something; none where none does.
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
