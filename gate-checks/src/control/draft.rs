//! A control before it is planted.

use std::path::PathBuf;

/// A control before it is planted: a new file, or an addition to one.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Draft {
    pub(super) file: PathBuf,
    pub(super) text: String,
}
