//! Cards and lines for a person, and JSON for a program.

mod cards;
mod remarks;

/// A text without colours.
pub(crate) fn plain(text: &str) -> String {
    anstream::adapter::strip_str(text).to_string()
}
