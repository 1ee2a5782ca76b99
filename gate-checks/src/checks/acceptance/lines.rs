//! The lines of places in a text.

/// Counts lines on the way through a text.
pub(super) struct Lines<'a> {
    text: &'a str,
    offset: usize,
    line: usize,
}

impl<'a> Lines<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, offset: 0, line: 1 }
    }

    /// The line of a place, from 1. Lookups in order take one pass through the text together.
    pub(super) fn at(&mut self, offset: usize) -> usize {
        if offset < self.offset {
            *self = Self::new(self.text);
        }
        let passed = self.text.as_bytes().get(self.offset..offset).unwrap_or_default();
        self.line += passed.iter().filter(|byte| **byte == b'\n').count();
        self.offset = offset;
        self.line
    }
}
