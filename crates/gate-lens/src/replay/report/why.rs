//! The reasons for a row's verdict, in short and at length.

use std::fmt::Write;

use gate_core::decide::signal::Status;
use gate_core::scan::Command;

use crate::replay::{Judged, ReplayRecord, ReplayVerdict};
use gate_card::text::{brief, plain};

/// Words by which a command is known to test something.
const TESTS: [&str; 9] =
    ["test", "tests", "pytest", "jest", "vitest", "nextest", "rspec", "tox", "ctest"];

/// The reason, the near miss or the rest, in a few words.
pub(crate) fn short(row: &ReplayRecord) -> String {
    let mut parts = Vec::new();
    if let Some(changed) = row.changed {
        parts.push(format!("was {}", changed.from.map_or("not there", ReplayVerdict::name)));
    }
    if let Some(error) = &row.error {
        parts.push(unread(row, &error.message));
    }
    parts.extend(row.verdict.map(|verdict| reason(row, verdict)));
    parts.extend(observed(row));
    brief(&parts.join("; "))
}

/// Why it could not be read, without its name, which the row has already.
fn unread(row: &ReplayRecord, message: &str) -> String {
    let named = format!("cannot read {}: ", row.file);
    message.strip_prefix(&named).unwrap_or(message).to_owned()
}

fn reason(row: &ReplayRecord, verdict: ReplayVerdict) -> String {
    let signal = row.signal.as_ref();
    match verdict {
        ReplayVerdict::ExitIfChecksPass => format!("if {} pass", row.assumed.join(", ")),
        ReplayVerdict::Exit => signal
            .and_then(|signal| Some(format!("{}, line {}", signal.source?.name(), signal.line?)))
            .unwrap_or_else(|| "no signal required".to_owned()),
        _ => {
            let absent = signal.filter(|signal| signal.status == Status::Absent);
            match absent.and_then(|signal| signal.near_misses.last()) {
                Some(miss) => format!("almost, line {}: {}", miss.line, miss.why),
                None => {
                    row.reasons.first().map(|reason| reason.message.clone()).unwrap_or_default()
                }
            }
        }
    }
}

/// The commands that the agent itself ran: its last test, else their number.
fn observed(row: &ReplayRecord) -> Option<String> {
    let commands = row.transcript.as_ref()?.commands.as_slice();
    match (commands.iter().rev().find(|command| is_test(command)), commands.len()) {
        (_, 0) => None,
        (Some(test), _) => Some(format!("observed: `{}` ended {}", test.command, test.exit_code)),
        (None, 1) => Some("observed: 1 command".to_owned()),
        (None, many) => Some(format!("observed: {many} commands")),
    }
}

/// A word of the command is known to test. A file's name that only contains such
/// a word does not count.
fn is_test(command: &Command) -> bool {
    let mut words = command.command.split(|c: char| c.is_whitespace() || "'\"`;&|()".contains(c));
    words.any(|word| {
        let word = word.rsplit('/').next().unwrap_or(word);
        let word = word.split([':', '@']).next().unwrap_or(word);
        TESTS.contains(&word)
    })
}

/// A wrong verdict: the expected one, the actual one with its reasons, and the change that would
/// correct it.
pub(crate) fn explained(row: &ReplayRecord) -> String {
    let mut text = String::new();
    let name = if row.judged == Some(Judged::FalseExit) { "FALSE EXIT" } else { "MISSED EXIT" };
    let label = row.label.map_or("none", |label| label.name());
    let place = match (row.iteration, row.first_line) {
        (1, 1) => String::new(),
        (iteration, line) => format!(", iteration {iteration} (from line {line})"),
    };
    let _ = write!(text, "{name}  {}{place}", plain(&row.file));
    line(&mut text, "expected", &format!("label {label}"));
    let verdict = row.verdict.map_or("nothing", ReplayVerdict::name);
    let score =
        row.indicators.as_ref().map(|hits| format!(", {} of {}", hits.score, hits.threshold));
    line(&mut text, "said", &format!("{verdict}{}", score.unwrap_or_default()));
    for reason in &row.reasons {
        line(&mut text, "because", &reason.message);
    }
    if let Some(signal) = &row.signal {
        for miss in signal.near_misses.iter().rev().take(3) {
            line(&mut text, "almost", &format!("line {}: {}: {}", miss.line, miss.why, miss.text));
        }
        if row.judged == Some(Judged::FalseExit) {
            let hits = row.indicators.iter().flat_map(|indicators| &indicators.hits);
            let taken = signal.line.map(|at| format!("line {at}: the signal"));
            let hits =
                hits.map(|hit| format!("line {}: {} \"{}\"", hit.line, hit.pattern, hit.excerpt));
            for found in taken.into_iter().chain(hits).take(3) {
                line(&mut text, "found", &found);
            }
        }
    }
    if let Some(observed) = observed(row) {
        line(&mut text, "observed", observed.trim_start_matches("observed: "));
    }
    if let Some(next) = &row.next {
        line(&mut text, "next", next);
    }
    text
}

fn line(text: &mut String, label: &str, value: &str) {
    // Writing to a String cannot fail.
    let _ = write!(text, "\n  {label:<9} {}", brief(value));
}
