//! Acceptance criteria: items that are open or done, read from files.
//!
//! What a file says is the word of whoever could write it. These readers find
//! out what it says; what that is worth is decided elsewhere.

mod beads;
mod label;
mod lines;
mod markdown;
mod nested;
mod pattern;
mod prd;
mod selection;
mod source;
mod tally;

use std::path::Path;
use std::rc::Rc;

use gate_core::text as words;

pub(super) use pattern::{Named, files};
pub(super) use tally::Tally;

/// One criterion.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Item {
    /// Its line, from 1.
    line: usize,
    /// Its first line of text, which may begin with its id.
    text: String,
    done: bool,
    /// Whether it stands below a heading that does not block.
    optional: bool,
    /// The texts of the items that it is a part of.
    within: Vec<Rc<str>>,
    /// The headings that it stands below.
    headings: Rc<[Rc<str>]>,
}

/// What a file holds.
#[derive(Debug, PartialEq, Eq)]
struct Plan {
    /// The format's name.
    format: &'static str,
    items: Vec<Item>,
    /// Whether its items are called by ids.
    by_ids: bool,
}

/// Why a file's criteria are not known.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum PlanError {
    #[error("{file}: no such file")]
    Missing { file: String },
    #[error("{file}: no file matches")]
    NoMatch { file: String },
    #[error("{file} is no glob: {why}")]
    Glob { file: String, why: String },
    #[error("{file}: more than {limit} files and folders to look at")]
    Endless { file: String, limit: usize },
    #[error("{file} is no regular file")]
    NoFile { file: String },
    #[error("{file} cannot be read: {why}")]
    Unreadable { file: String, why: String },
    #[error("{file} is longer than {limit} bytes")]
    TooLong { file: String, limit: u64 },
    #[error("{file}:{line} is not UTF-8")]
    NotText { file: String, line: usize },
    #[error("{file}:{line}: expected {expected}: {why}")]
    Broken { file: String, line: usize, expected: &'static str, why: String },
    #[error("{file} holds no {expected}")]
    Empty { file: String, expected: &'static str },
}

/// The text of a file that settings name, whatever it holds.
pub(super) fn text(named: &Named) -> Result<String, PlanError> {
    source::text(&named.path, &named.shown)
}

/// Reads a file of the format that its name says: `.json` is a list of
/// stories, `.jsonl` an issue a line, and anything else Markdown.
fn read(path: &Path, file: &str, optional: &[String]) -> Result<Plan, PlanError> {
    of_text(path, file, &source::text(path, file)?, optional)
}

fn of_text(path: &Path, file: &str, text: &str, optional: &[String]) -> Result<Plan, PlanError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    match path.extension().and_then(|it| it.to_str()) {
        Some("json") => prd::read(text, file),
        Some("jsonl") => beads::read(text, file),
        _ => Ok(markdown::read(text, optional)),
    }
}

/// The items that a file of such a name holds, with their lines, from 1.
pub(super) fn items(name: &Path, text: &str) -> Result<Vec<(usize, String)>, PlanError> {
    let plan = of_text(name, &name.display().to_string(), text, &[])?;
    Ok(plan.items.into_iter().map(|item| (item.line, item.text)).collect())
}

/// So much of a text from a file is shown.
const SHOWN: usize = 160;

/// Text from a file as a person may safely be shown it.
fn shown(text: &str) -> String {
    words::brief(text, SHOWN)
}

#[cfg(test)]
mod tests;
