//! Planted tests before they are planted.

use std::path::PathBuf;

use super::kind::Kind;
use super::names::Name;

/// Tests before they are planted: a new file, or an addition to one.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Draft {
    pub(super) file: PathBuf,
    /// The byte of the file before which the text goes; none for its end.
    pub(super) at: Option<usize>,
    pub(super) text: String,
    pub(super) names: Vec<Name>,
}

impl Draft {
    /// A new file, or an addition to the end of one.
    pub(super) fn new(file: PathBuf, text: String, names: impl IntoIterator<Item = Name>) -> Self {
        Self { file, at: None, text, names: names.into_iter().collect() }
    }

    /// The byte before which the text goes in a file of this length.
    pub(super) fn offset(&self, length: usize) -> usize {
        self.at.unwrap_or(length).min(length)
    }
}

/// Makes names.
pub(super) type Namer<'n> = &'n mut dyn FnMut(Kind) -> Name;
