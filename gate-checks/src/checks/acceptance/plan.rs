//! The items of a file, and the errors of reading them.

use std::rc::Rc;

use gate_core::text::brief;
use serde::Deserialize;

use crate::checks::launch::BASH;

/// A criterion as a file has it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::checks) struct Item {
    /// The line in the file, from 1.
    pub(in crate::checks) line: usize,
    /// The first line of text, which may begin with an id.
    pub(in crate::checks) text: String,
    pub(super) done: bool,
    /// The box, if the mark in that is neither done nor blank.
    pub(super) mark: Option<String>,
    /// Below a heading whose items do not block.
    pub(in crate::checks) optional: bool,
    /// The texts of the items around this one.
    pub(super) within: Vec<Rc<str>>,
    /// The headings above.
    pub(super) headings: Rc<[Rc<str>]>,
    /// The command that the file gives it.
    pub(super) verify: Option<Verify>,
    /// The command that the baseline's file gives it.
    pub(super) baseline_verify: Option<Verify>,
}

/// The command that shows if a criterion is met.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub(crate) enum Verify {
    /// A line for `bash -euo pipefail -c`.
    Line(String),
    /// A program and its arguments.
    Argv(Vec<String>),
}

impl Verify {
    /// The command of settings. A line for bash is one, however its words are given.
    pub(super) fn from_argv(argv: &[String]) -> Self {
        match argv.split_last() {
            Some((line, words)) if words == BASH => Self::Line(line.clone()),
            _ => Self::Argv(argv.to_vec()),
        }
    }

    /// The command on one line.
    pub(in crate::checks) fn line(&self) -> String {
        match self {
            Self::Line(line) => line.clone(),
            Self::Argv(argv) => argv.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" "),
        }
    }
}

/// A word as a person would write it for a shell.
fn quoted(word: &str) -> String {
    let is_plain = |char: char| char.is_alphanumeric() || "-_./=:,@+".contains(char);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{word}'")
    }
}

/// The items of a file.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::checks) struct Plan {
    /// The format's name.
    pub(super) format: &'static str,
    pub(super) items: Vec<Item>,
    /// The items of this file have ids.
    pub(super) has_ids: bool,
}

/// An error that leaves a file's criteria unknown.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(in crate::checks) enum PlanError {
    #[error("{file}: no such file")]
    Missing { file: String },
    #[error("{file}: no file matches")]
    NoMatch { file: String },
    #[error("{file} is no glob: {cause}")]
    Glob { file: String, cause: String },
    #[error("{file}: more than {limit} files and folders to look at")]
    Endless { file: String, limit: usize },
    #[error("{file} is no regular file")]
    NoFile { file: String },
    #[error("{file} cannot be read: {cause}")]
    Unreadable { file: String, cause: String },
    #[error("{file} is longer than {limit} bytes")]
    TooLong { file: String, limit: u64 },
    #[error("{file}:{line} is not UTF-8")]
    NotText { file: String, line: usize },
    #[error("{file}:{line}: expected {expected}: {cause}")]
    Broken { file: String, line: usize, expected: &'static str, cause: String },
    #[error("{file} holds no {expected}")]
    Empty { file: String, expected: &'static str },
}

/// Counts lines on the way through a text.
pub(super) struct LineCounter<'a> {
    text: &'a str,
    /// The offset of the last lookup, in bytes, and its line.
    offset: usize,
    line: usize,
}

impl<'a> LineCounter<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, offset: 0, line: 1 }
    }

    /// The line at an offset, from 1. Lookups in order take one pass through the text together.
    pub(super) fn line_at(&mut self, offset: usize) -> usize {
        if offset < self.offset {
            *self = Self::new(self.text);
        }
        let passed = self.text.as_bytes().get(self.offset..offset).unwrap_or_default();
        self.line += passed.iter().filter(|byte| **byte == b'\n').count();
        self.offset = offset;
        self.line
    }
}

/// The most of a text from a file that is shown, in characters.
const MAX_SHOWN_CHARS: usize = 160;

/// Text from a file as a person may safely be shown it.
pub(super) fn shown(text: &str) -> String {
    brief(text, MAX_SHOWN_CHARS)
}
