//! The problems of a handoff, for a person and for a program.

use std::fmt::Write;

use anstyle::{AnsiColor, Style};
use gate_core::handoff::Problem;
use serde::Serialize;

use super::text::{brief, plain};

/// The result of checking a handoff.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct HandoffReport {
    /// True if there is no problem.
    pub(crate) ok: bool,
    problems: Vec<Problem>,
    #[serde(skip)]
    file: String,
}

/// A handoff that was written in another format.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct ConvertedHandoff<'c> {
    #[serde(flatten)]
    examined: &'c HandoffReport,
    format: &'static str,
    /// None if a part of it could not be read.
    text: Option<&'c str>,
}

impl HandoffReport {
    pub(crate) fn new(file: String, problems: Vec<Problem>) -> Self {
        Self { ok: problems.is_empty(), problems, file }
    }

    /// A line a problem, with the file.
    pub(crate) fn lines(&self) -> Vec<String> {
        let problems = self.problems.iter();
        problems.map(|problem| format!("{}: {}", self.file, plain(&problem.to_string()))).collect()
    }
}

impl<'c> ConvertedHandoff<'c> {
    pub(crate) fn new(
        examined: &'c HandoffReport,
        format: &'static str,
        text: Option<&'c str>,
    ) -> Self {
        Self { examined, format, text }
    }
}

/// The card of the result. `words` is its meaning if nothing is wrong.
pub(crate) fn handoff_card(examined: &HandoffReport, words: &str) -> String {
    let (word, color, meaning) = match examined.problems.len() {
        0 => ("HOLDS", AnsiColor::Green, words.to_owned()),
        1 => ("WANTING", AnsiColor::Red, format!("1 problem in {}", examined.file)),
        some => ("WANTING", AnsiColor::Red, format!("{some} problems in {}", examined.file)),
    };
    let style = Style::new().bold().fg_color(Some(color.into()));
    let mut card = format!("{style}{word}{style:#}  {}\n", brief(&meaning));
    for (at, problem) in examined.problems.iter().enumerate() {
        let gap = if at == 0 { "\n" } else { "" };
        let _ = writeln!(card, "{gap}  {}", brief(&problem.to_string()));
    }
    card
}
