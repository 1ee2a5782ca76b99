//! The edits that a pass leaves to be accepted.

use std::collections::BTreeSet;
use std::path::PathBuf;

/// The edits that a pass leaves to be accepted.
#[derive(Debug, Default)]
pub(super) struct Accepted {
    /// Edited files that decided in the place of their old texts.
    pub(super) adapted: BTreeSet<PathBuf>,
    /// The tests that passed.
    pub(super) passed: Vec<String>,
}
