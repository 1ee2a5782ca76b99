//! A loop on stderr: in full at a terminal, in a line a step elsewhere; at the end a card that
//! says why it stopped.

mod lines;
mod speech;
mod terminal;

use std::fmt::Write as _;
use std::io::IsTerminal;
use std::sync::Arc;
use std::time::Duration;

use anstyle::{AnsiColor, Style};
use gate_checks::Events;
use gate_core::decide::evidence::{Evidence, Outcome};
use gate_core::decide::spent::Spent;
use gate_core::read::Forced;

use super::card::done;
use super::text::{brief, plain, span};
use crate::record::Record;
use crate::runner::{Event, Live, RunRecord};
use crate::secrets;
use lines::Lines;
use terminal::Terminal;

/// The form in which a loop is shown.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Showing {
    /// The format of the agent's output.
    pub(crate) format: Option<Forced>,
    /// Show the agent's output as it is.
    pub(crate) raw: bool,
    /// A program reads the answer, so that a line a step is enough.
    pub(crate) json: bool,
}

/// Shows a loop on stderr. Stdout is the answer's.
#[derive(Clone)]
pub(crate) struct Shown(Arc<dyn Live + Send + Sync>);

impl Shown {
    pub(crate) fn new(showing: Showing) -> Self {
        if !showing.json && std::io::stderr().is_terminal() {
            Self(Arc::new(Terminal::new(showing)))
        } else {
            Self(Arc::new(Lines::new(super::diagnose)))
        }
    }

    /// A listener for the events of checks.
    pub(crate) fn checks(&self) -> Events {
        let shown = self.clone();
        Events::to(move |event| shown.show(Event::Check(&event)))
    }
}

impl Live for Shown {
    fn show(&self, event: Event<'_>) {
        self.0.show(event);
    }
}

/// The cost of a loop so far; empty if no transcript tells it.
fn so_far(spent: Option<&Spent>) -> String {
    match spent {
        Some(spent) if spent.cost_micro_usd > 0 => {
            format!(", ${:.2} so far", spent.cost_micro_usd as f64 / 1e6)
        }
        Some(spent) if spent.tokens > 0 => format!(", {} tokens so far", spent.tokens),
        _ => String::new(),
    }
}

/// A check with its outcome and its time.
fn checked(evidence: &Evidence) -> String {
    let outcome = match evidence.outcome {
        Outcome::Pass => "pass",
        Outcome::Fail => "fail",
        Outcome::Inconclusive => "inconclusive",
        Outcome::Tamper => "tampered with",
        Outcome::Skipped => "did not run",
    };
    let summary = if evidence.summary.is_empty() { "" } else { ": " };
    let time = span(Duration::from_millis(evidence.duration_ms));
    let text = format!("{}: {outcome}{summary}{} ({time})", evidence.check, evidence.summary);
    brief(&secrets::masked(&text))
}

/// Why a decision is what it is, in a line.
fn why(record: &Record) -> String {
    plain(record.decision.reasons.first().map_or("", |reason| reason.message.as_str()))
}

/// Why a loop stopped, and what it cost.
pub(crate) fn run_card(record: &RunRecord) -> String {
    let (color, word) = match (record.success, record.verified) {
        (true, Some(false)) => (AnsiColor::Yellow, done(false)),
        (true, _) => (AnsiColor::Green, done(true)),
        (false, _) => (AnsiColor::Red, "NOT DONE"),
    };
    let style = Style::new().bold().fg_color(Some(color.into()));
    let mut text = format!("{style}{word}{style:#}  {}\n\n", brief(&record.message));
    let mut row = |label: &str, what: &str| {
        let _ = writeln!(text, "  {label:<12}{}", brief(what));
    };
    if let Some(work) = &record.work {
        let next = work.next_phase.map_or("as it was", |phase| phase.as_str());
        row("work item", &format!("{}: {}, now {next}", work.work, work.phase));
    }
    if !record.task.is_empty() {
        row("task", &record.task);
    }
    row("iterations", &record.iterations.to_string());
    let took = Duration::from_millis(record.duration_ms);
    row("took", &span(took));
    if let Some(tokens) = record.tokens {
        row("tokens", &tokens.to_string());
    }
    if let Some(cost) = record.cost_usd {
        row("cost", &format!("${cost:.2}"));
    }
    row("folder", &record.folder);
    if let Some(handoff) = &record.handoff {
        row("handoff", handoff);
    }
    if !record.denied.is_empty() {
        row("denied", &record.denied.join(", "));
        row("", "allow more with `--allow`, or in `[run.agents.NAME] args` of gate.toml");
    }
    if let Some(command) = &record.resume {
        // Whole, whatever its length: it is there to be copied.
        let _ = writeln!(text, "  {:<12}{}", "go on with", plain(command));
    }
    text
}
