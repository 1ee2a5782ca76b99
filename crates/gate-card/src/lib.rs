//! The answers of gate: cards and pages for a person, JSON for a program, remarks on stderr.
//!
//! No text of others reaches a terminal as it is: control characters and commands of a CI are taken
//! out.

mod diff;
pub mod fit;
mod lines;
pub mod markdown;
pub mod page;
#[cfg(test)]
mod tests;
pub mod text;
pub mod web;

use std::fmt::Write as _;
use std::io::Write;

use gate_core::decide::reason::WarningCode;
use gate_core::decide::situation::Released;
use gate_core::text::is_plain;
use gate_core::{Decision, Failure, Verdict};
use serde::Serialize;

pub use diff::diff;
pub use lines::{Flow, Lines};
pub use page::{Mark, Page};
pub use text::{brief, lines, local_time, span};

/// The one thing to do next, for a person.
pub fn next_step(decision: &Decision) -> Option<String> {
    if decision.verdict == Verdict::Exit && !decision.verified && !decision.forced {
        let mut warnings = decision.input.warnings.iter();
        let are_left_out = warnings.any(|warning| warning.code == WarningCode::ChecksNotRun);
        let next = if are_left_out {
            "check again without `--no-checks`"
        } else {
            "`gate init` finds checks that this project has"
        };
        return Some(next.to_owned());
    }
    if decision.released == Some(Released::Red) {
        return Some("ask the agent to fix it; its next stop is checked again".to_owned());
    }
    decision.next.clone()
}

/// Remarks of a command for the person who runs it.
pub fn notes(notes: &[String]) {
    for note in notes {
        diagnose(&format!("gate: {note}\n"));
    }
}

/// Prints an answer for a person: no line is longer than the terminal.
pub fn print_text(text: &str) -> Result<(), Failure> {
    print(&fitted(text))
}

/// An answer for a person, without a line that is longer than the terminal.
pub fn fitted(text: &str) -> String {
    fit::fitted(text, fit::stdout_columns())
}

/// Prints an answer as it is.
pub fn print(text: &str) -> Result<(), Failure> {
    let mut out = anstream::stdout().lock();
    out.write_all(text.as_bytes())
        .and_then(|()| out.flush())
        .map_err(|error| Failure::output(&error))
}

/// One JSON object, indented.
pub fn json(value: &impl Serialize) -> Result<String, Failure> {
    serde_json::to_string_pretty(value)
        .map(|text| escaped(&text) + "\n")
        .map_err(|error| unprintable(&error))
}

/// One JSON object on one line.
pub fn json_line(value: &impl Serialize) -> Result<String, Failure> {
    serde_json::to_string(value)
        .map(|text| escaped(&text) + "\n")
        .map_err(|error| unprintable(&error))
}

/// The same JSON without commands of a CI and without control characters of a terminal. They can only
/// stand in strings, so an escape keeps the meaning.
fn escaped(json: &str) -> String {
    let json = json.replace("##[", "##\\u005b");
    let is_harmless = |character: char| character == '\n' || is_plain(character);
    if json.chars().all(is_harmless) {
        return json;
    }
    let mut escaped = String::with_capacity(json.len());
    for character in json.chars() {
        if is_harmless(character) {
            escaped.push(character);
        } else {
            // Such a character is one UTF-16 unit, so one escape is enough.
            let _ = write!(escaped, "\\u{:04x}", u32::from(character));
        }
    }
    escaped
}

fn unprintable(error: &serde_json::Error) -> Failure {
    Failure::internal(
        "answer-unprintable",
        format!("the answer cannot be written as JSON: {error}"),
    )
}

/// Writes commands for a CI, which no text of others can be part of.
pub fn print_commands(commands: &str) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    out.write_all(commands.as_bytes()).map_err(|error| Failure::output(&error))
}

/// Writes commands for a CI to stderr, because stdout has JSON.
pub fn diagnose_commands(commands: &str) {
    // If stderr is gone, so is its reader.
    let _ = std::io::stderr().lock().write_all(commands.as_bytes());
}

/// Writes a text that has a form of its own, such as a diff, to stderr.
pub fn diagnose_as_is(text: &str) {
    let _ = anstream::stderr().lock().write_all(text::without_ci_commands(text).as_bytes());
}

/// Writes diagnostics. If stderr is gone, they are lost.
pub fn diagnose(text: &str) {
    let text = fit::fitted(&text::without_ci_commands(text), fit::stderr_columns());
    let _ = anstream::stderr().lock().write_all(text.as_bytes());
}
