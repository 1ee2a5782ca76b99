//! What a person sees of a loop: the agent's output live, a card an iteration,
//! and at the end why it stopped.

use std::fmt::Write as _;
use std::io::{IsTerminal, Write as _};
use std::time::Duration;

use anstyle::{AnsiColor, Style};
use jiff::Timestamp;

use super::card::card;
use super::text::{brief, plain};
use crate::record::Record;
use crate::runner::{Live, Ran, RunRecord};

/// Shows a loop on stderr: whole to a person, in a line a step elsewhere. Stdout
/// is the answer's.
pub(crate) struct Loud {
    watched: bool,
}

impl Loud {
    pub(crate) fn new(json: bool) -> Self {
        Self { watched: !json && std::io::stderr().is_terminal() }
    }

    fn say(&self, text: &str) {
        super::diagnose(text);
    }
}

impl Live for Loud {
    fn printed(&self, bytes: &[u8]) {
        if self.watched {
            // Where the terminal is gone, the files still have it.
            let _ = std::io::stderr().lock().write_all(bytes);
        }
    }

    fn ended(&self, iteration: u64, ran: &Ran) {
        let how = if ran.error.is_empty() { "ended" } else { ran.error.as_str() };
        self.say(&format!("gate: iteration {iteration}, run {}: {}\n", ran.id, plain(how)));
    }

    fn judged(&self, iteration: u64, record: &Record) {
        if self.watched {
            return self.say(&format!("\n{}\n", card(record)));
        }
        let why = record.decision.reasons.first().map_or("", |reason| reason.message.as_str());
        let verdict = record.decision.verdict.name();
        self.say(&format!("gate: iteration {iteration}: {verdict}: {}\n", plain(why)));
    }

    fn waits(&self, until: Timestamp) {
        self.say(&format!("gate: waiting for a limit to end, at {until}\n"));
    }
}

/// Why a loop stopped, and what it cost.
pub(crate) fn run_card(record: &RunRecord) -> String {
    let (color, word) =
        if record.success { (AnsiColor::Green, "DONE") } else { (AnsiColor::Red, "NOT DONE") };
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
    let seconds = Duration::from_millis(record.duration_ms).as_secs_f64();
    row("took", &format!("{seconds:.1} s"));
    if let Some(tokens) = record.tokens {
        row("tokens", &tokens.to_string());
    }
    if let Some(cost) = record.cost_usd {
        row("cost", &format!("{cost:.2} US dollars"));
    }
    row("folder", &record.folder);
    if let Some(handoff) = &record.handoff {
        row("handoff", handoff);
    }
    text
}
