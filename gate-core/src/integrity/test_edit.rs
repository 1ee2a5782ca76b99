//! The direction of an edit of a test file: nothing but layout, adapted to a changed
//! product, or something that a person has to look at.

/// The meaning of an edit of a test file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TestEdit {
    /// Nothing but layout, comments or the order of imports differs.
    Same,
    /// Each assertion and each literal is still there, with the same expected values.
    Adapted,
    /// Anything else.
    Changed,
}

/// Compares two texts of one test file.
pub fn compare_test_edit(_path: &str, before: &[u8], now: &[u8]) -> TestEdit {
    if before.trim_ascii_end() == now.trim_ascii_end() { TestEdit::Same } else { TestEdit::Changed }
}
