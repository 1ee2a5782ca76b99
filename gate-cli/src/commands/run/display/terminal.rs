//! A loop at a terminal: a line when an iteration begins, what the agent says and does,
//! each check with its time, the verdict.

use std::io::Write as _;
use std::mem;
use std::sync::{Mutex, PoisonError};

use anstyle::{AnsiColor, Style};
use gate_checks::Event as CheckEvent;
use gate_core::decide::evidence::{Evidence, Outcome};

use super::lines::waiting_line;
use super::speech::Speech;
use super::{LoopDisplay, check_line, cost_so_far, run_problem};
use crate::record::Record;
use crate::render::card::head;
use crate::render::page::Page;
use crate::render::progress::Progress;
use crate::render::text::{plain, span};
use crate::runner::{Live, LoopEvent};

/// Writes to a terminal.
pub(super) struct Terminal {
    display: LoopDisplay,
    speech: Mutex<Speech>,
    progress: Progress,
}

impl Terminal {
    pub(super) fn new(display: LoopDisplay) -> Self {
        let speech = Mutex::new(Speech::new(display.format, display.raw));
        Self { display, speech, progress: Progress::new() }
    }

    fn write(&self, text: &str) {
        // If the terminal is gone, the files still have it.
        self.progress.beside(|| {
            let _ = anstream::stderr().lock().write_all(text.as_bytes());
        });
    }

    /// Shows the last piece of the output, and begins anew.
    fn end_speech(&self) {
        let next_speech = Speech::new(self.display.format, self.display.raw);
        // The lock is not held while a slow terminal takes the text.
        let ended_speech = {
            let mut speech = self.speech.lock().unwrap_or_else(PoisonError::into_inner);
            mem::replace(&mut *speech, next_speech)
        };
        self.write(&ended_speech.end());
    }
}

impl Live for Terminal {
    fn show(&self, event: LoopEvent<'_>) {
        match event {
            LoopEvent::Printed(bytes) => {
                let text = {
                    let mut speech = self.speech.lock().unwrap_or_else(PoisonError::into_inner);
                    speech.text(bytes)
                };
                self.write(&text);
            }
            LoopEvent::Check(event) => {
                self.progress.show(event);
                if let CheckEvent::Finished { evidence } = event {
                    self.write(&check(evidence));
                }
            }
            LoopEvent::Ended { run, .. } => {
                self.end_speech();
                if let Some(problem) = run_problem(run) {
                    self.write(&format!("{problem}\n"));
                }
            }
            event => self.write(&step(&event)),
        }
    }
}

/// A step of the loop itself.
fn step(event: &LoopEvent<'_>) -> String {
    let (bold, dim) = (Style::new().bold(), Style::new().dimmed());
    match event {
        LoopEvent::Starts { command, note } => {
            let note = note.map(|note| format!("  {dim}{note}{dim:#}\n")).unwrap_or_default();
            format!("{dim}starting{dim:#} {}\n{note}", plain(command))
        }
        LoopEvent::Begins { iteration, elapsed, spent } => {
            let (elapsed, so_far) = (span(*elapsed), cost_so_far(*spent));
            format!("\n{bold}iteration {iteration}{bold:#}  {elapsed} elapsed{so_far}\n")
        }
        LoopEvent::Judged { record, .. } => verdict(record),
        LoopEvent::Waits { until, reason } => format!("{}\n", waiting_line(*until, reason)),
        LoopEvent::Printed(_) | LoopEvent::Check(_) | LoopEvent::Ended { .. } => String::new(),
    }
}

/// A check with its mark.
fn check(evidence: &Evidence) -> String {
    let (mark, color) = match evidence.outcome {
        Outcome::Pass => ('✓', AnsiColor::Green),
        Outcome::Fail | Outcome::Tamper => ('✗', AnsiColor::Red),
        Outcome::Inconclusive | Outcome::Skipped => ('!', AnsiColor::Yellow),
    };
    let style = Style::new().fg_color(Some(color.into()));
    format!("  {style}{mark}{style:#} {}\n", check_line(evidence))
}

/// The head of the decision's card, then its other reasons.
fn verdict(record: &Record) -> String {
    let mut page = Page::new();
    head(&mut page, record);
    for reason in record.decision.reasons.iter().skip(1) {
        page.row("also", &reason.message);
    }
    page.into_text()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use gate_core::decide::spent::Spent;

    use super::*;

    fn plain_step(event: &LoopEvent<'_>) -> String {
        anstream::adapter::strip_str(&step(event)).to_string()
    }

    #[test]
    fn a_person_sees_when_an_iteration_begins_and_what_was_paid_so_far() {
        let spent = Spent { cost_micro_usd: 1_480_000, ..Spent::default() };
        let elapsed = Duration::from_secs(724);
        let begins = LoopEvent::Begins { iteration: 3, elapsed, spent: Some(&spent) };
        assert_eq!(plain_step(&begins), "\niteration 3  12m 4s elapsed, $1.48 so far\n");
        let first = LoopEvent::Begins { iteration: 1, elapsed: Duration::ZERO, spent: None };
        assert_eq!(plain_step(&first), "\niteration 1  0.0s elapsed\n");
    }

    #[test]
    fn a_person_sees_how_the_agent_is_started() {
        let starts = LoopEvent::Starts { command: "claude -p", note: Some("all is allowed") };
        assert_eq!(plain_step(&starts), "starting claude -p\n  all is allowed\n");
    }
}
