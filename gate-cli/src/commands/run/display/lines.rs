//! A loop in a log: a line when an iteration begins, one a check, one when it ends.

use gate_checks::Event as CheckEvent;
use jiff::Timestamp;

use super::{check_line, cost_so_far, failed_run, first_reason};
use crate::render::text::{clock, plain, span};
use crate::runner::{Event, Live};

/// Writes lines.
pub(super) struct Lines {
    write: fn(&str),
}

impl Lines {
    pub(super) fn new(write: fn(&str)) -> Self {
        Self { write }
    }
}

impl Live for Lines {
    fn show(&self, event: Event<'_>) {
        if let Some(line) = line(&event) {
            (self.write)(&format!("gate: {line}\n"));
        }
    }
}

fn line(event: &Event<'_>) -> Option<String> {
    Some(match event {
        Event::Starts { command, note } => {
            let note = note.map(|note| format!(" ({note})")).unwrap_or_default();
            format!("starting {}{note}", plain(command))
        }
        Event::Begins { iteration, elapsed, spent } => {
            format!(
                "iteration {iteration} begins, {} elapsed{}",
                span(*elapsed),
                cost_so_far(*spent)
            )
        }
        Event::Check(CheckEvent::Finished { evidence }) => {
            format!("check {}", check_line(evidence))
        }
        Event::Ended { iteration, run } => format!("iteration {iteration}: {}", failed_run(run)?),
        Event::Judged { iteration, record } => {
            let verdict = record.decision.verdict.name();
            format!("iteration {iteration} ended: {verdict}: {}", first_reason(record))
        }
        Event::Waits { until, why } => waits(*until, why),
        Event::Check(_) | Event::Printed(_) => return None,
    })
}

/// A line about a loop that waits, with the reason.
pub(super) fn waits(until: Timestamp, why: &str) -> String {
    format!("waiting until {}: {}", clock(until), plain(why))
}

#[cfg(test)]
mod tests;
