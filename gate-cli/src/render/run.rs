//! What a person sees of a loop: the agent's output live, a card an iteration,
//! and at the end why it stopped.

use std::fmt::Write as _;
use std::io::{IsTerminal, Write as _};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use anstream::adapter::StripBytes;
use anstyle::{AnsiColor, Style};
use jiff::Timestamp;

use super::card::{card, done};
use super::text::{brief, lines, plain};
use crate::record::Record;
use crate::runner::{Live, Ran, RunRecord};
use crate::secrets;

/// Shows a loop on stderr: whole to a person, in a line a step elsewhere. Stdout
/// is the answer's.
pub(crate) struct Loud {
    watched: bool,
    shown: Mutex<Shown>,
}

/// An agent's output on its way to a terminal: pieces of any size, without what a
/// terminal obeys and without secrets, as far as one stands in one piece.
#[derive(Default)]
struct Shown {
    escapes: StripBytes,
    /// The beginning of a character.
    torn: Vec<u8>,
}

impl Shown {
    fn text(&mut self, bytes: &[u8]) -> String {
        let mut plain = std::mem::take(&mut self.torn);
        for piece in self.escapes.strip_next(bytes) {
            plain.extend_from_slice(piece);
        }
        if let Err(error) = std::str::from_utf8(&plain)
            && error.error_len().is_none()
        {
            self.torn = plain.split_off(error.valid_up_to());
        }
        lines(&secrets::masked(&String::from_utf8_lossy(&plain)))
    }
}

impl Loud {
    pub(crate) fn new(json: bool) -> Self {
        let watched = !json && std::io::stderr().is_terminal();
        Self { watched, shown: Mutex::default() }
    }

    fn say(&self, text: &str) {
        super::diagnose(text);
    }
}

impl Live for Loud {
    fn printed(&self, bytes: &[u8]) {
        if self.watched {
            let text = self.shown.lock().unwrap_or_else(PoisonError::into_inner).text(bytes);
            // Where the terminal is gone, the files still have it.
            let _ = std::io::stderr().lock().write_all(text.as_bytes());
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

#[cfg(test)]
mod tests {
    use super::Shown;

    #[test]
    fn a_terminal_is_shown_text_and_nothing_that_it_obeys() {
        let said = "a\u{1b}[2J\u{1b}]52;c;eA==\u{7}b\u{202e}ü\r\n::set-env name=A::b\n".as_bytes();
        let whole = Shown::default().text(said);
        assert_eq!(whole, "abü \n: :set-env name=A::b\n");
        for cut in 0..said.len() {
            let mut shown = Shown::default();
            let parts = shown.text(&said[..cut]) + &shown.text(&said[cut..]);
            assert!(
                !parts.contains(['\u{1b}', '\u{7}', '\u{202e}', '\u{fffd}']),
                "{cut}: {parts:?}"
            );
        }
    }
}
