//! Captured text, made fit for a card.

use gate_core::text;

/// How many characters a row of a card has at most.
const ROW: usize = 200;

/// The whole text on one line.
pub(super) fn plain(text: &str) -> String {
    text::brief(text, usize::MAX)
}

/// The text, fit for one row of a card.
pub(super) fn brief(text: &str) -> String {
    text::brief(text, ROW)
}
