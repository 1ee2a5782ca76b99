//! What a person is told of stop hooks.

use std::fmt::Write;

use anstyle::{AnsiColor, Style};
use gate_core::Decision;
use gate_core::decide::policy::Judge;
use gate_core::decide::release::Released;

use super::breaker::state_name;
use super::text::{brief, plain};
use crate::commands::Status;

/// An agent was let go, and its work is not done.
pub(crate) fn let_go(agent: &str, decision: &Decision) -> String {
    let reasons: Vec<_> = decision.reasons.iter().map(|reason| plain(&reason.message)).collect();
    let next = decision.next.as_deref().unwrap_or("`gate last` shows the decision");
    format!("gate let {agent} stop, NOT done: {}; next: {}", reasons.join("; "), plain(next))
}

/// An agent was let go without a verdict that ends the work.
pub(crate) fn released(agent: &str, decision: &Decision) -> String {
    let reasons: Vec<_> = decision.reasons.iter().map(|reason| plain(&reason.message)).collect();
    let what = reasons.join("; ");
    match decision.released {
        Some(Released::Green) => format!("gate: {what}"),
        Some(Released::Red) => {
            format!("gate let {agent} stop, NOT done: {what}; `gate last` shows the failures")
        }
        _ => format!("gate let {agent} stop, not checked: {what}"),
    }
}

/// Whether stops of agents are judged here, and how.
pub(crate) fn status_card(status: &Status) -> String {
    let (color, word) =
        if status.judges { (AnsiColor::Green, "ON") } else { (AnsiColor::Yellow, "OFF") };
    let style = Style::new().bold().fg_color(Some(color.into()));
    let mut text = format!("{style}{word}{style:#}  {}\n\n", meaning(status));
    let mut row = |label: &str, what: &str| {
        let _ = writeln!(text, "  {label:<12}{}", brief(what));
    };
    row("project", &status.project);
    row("settings", status.settings.as_deref().unwrap_or("no gate.toml: `gate init` writes one"));
    let judged = match status.judge {
        Judge::Auto => "turns that changed something, and headless ones with a signal",
        Judge::Always => "all turns",
        Judge::Never => "none (hook.judge is never)",
    };
    row("judged", judged);
    row("refusals", &format!("at most {} in a row", status.max_blocks));
    let checks = status.checks.join(", ");
    row("checks", if checks.is_empty() { "none" } else { &checks });
    for open in &status.open {
        let until = match &open.probe_at {
            Some(at) => format!(", until {at}"),
            None => String::new(),
        };
        let why = open.message.as_deref().unwrap_or_default();
        row(state_name(open.state), &format!("{}{until}: {why}; `{}`", open.whose, open.reset));
    }
    if status.open.is_empty() {
        row("breakers", "all closed: nobody is held");
    }
    if let Some(last) = &status.last {
        row("last", last);
    }
    text
}

fn meaning(status: &Status) -> String {
    match (&status.off_until, status.off) {
        (Some(until), true) => format!("agents stop here without being judged, until {until}"),
        (None, true) => "agents stop here without being judged, until `gate on`".to_owned(),
        _ if status.judges => {
            "stops of agents are judged here, where a hook is installed".to_owned()
        }
        _ => "stops of agents are not judged here".to_owned(),
    }
}
