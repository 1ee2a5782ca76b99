//! A loop in a log: a line when an iteration begins, one a check, one when it ends.

use gate_checks::Event as CheckEvent;
use jiff::Timestamp;

use super::{cause, check_line, cost_so_far, run_problem};
use crate::render::text::{clock, plain, span};
use crate::runner::{Live, LoopEvent};

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
    fn show(&self, event: LoopEvent<'_>) {
        if let Some(line) = line(&event) {
            (self.write)(&format!("gate: {line}\n"));
        }
    }
}

fn line(event: &LoopEvent<'_>) -> Option<String> {
    Some(match event {
        LoopEvent::Starts { command, note } => {
            let note = note.map(|note| format!(" ({note})")).unwrap_or_default();
            format!("starting {}{note}", plain(command))
        }
        LoopEvent::Begins { iteration, elapsed, spent } => {
            format!(
                "iteration {iteration} begins, {} elapsed{}",
                span(*elapsed),
                cost_so_far(*spent)
            )
        }
        LoopEvent::Check(CheckEvent::Finished { evidence }) => {
            format!("check {}", check_line(evidence))
        }
        LoopEvent::Ended { iteration, run } => {
            format!("iteration {iteration}: {}", run_problem(run)?)
        }
        LoopEvent::Judged { iteration, record } => {
            let verdict = record.decision.verdict.name();
            format!("iteration {iteration} ended: {verdict}: {}", cause(record))
        }
        LoopEvent::Waits { until, reason } => waiting_line(*until, reason),
        LoopEvent::Check(_) | LoopEvent::Printed(_) => return None,
    })
}

/// A line about a loop that waits, with the reason.
pub(super) fn waiting_line(until: Timestamp, reason: &str) -> String {
    format!("waiting until {}: {}", clock(until), plain(reason))
}

#[cfg(test)]
mod tests;
