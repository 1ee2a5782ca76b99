//! The problems of a handoff, for a person and for a program.

use gate_fleet::handoff::Problem;
use serde::Serialize;

use crate::render::page::{Mark, Page};
use crate::render::text::{brief, plain};

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
    let mut page = Page::new();
    match examined.problems.len() {
        0 => page.head(Mark::Good, "HOLDS", words),
        1 => page.head(Mark::Bad, "WANTING", &format!("1 problem in {}", examined.file)),
        some => page.head(Mark::Bad, "WANTING", &format!("{some} problems in {}", examined.file)),
    }
    if !examined.problems.is_empty() {
        page.blank();
    }
    for problem in &examined.problems {
        page.item(&brief(&problem.to_string()));
    }
    page.into_text()
}
