//! An expression as a table: which state follows on which byte.
//!
//! A match is seen one byte late, so that the byte after it can be looked at
//! (`\b`, `$`); the end of the text counts as one more byte.

use std::ops::Range;

use super::prepared::{HEAD, number16, slice};

/// A table within the prepared bytes. A state is the place of its row; in a large
/// table it is the row's number. State 0 is dead; those up to `matching` say that
/// a match has just ended.
#[derive(Clone, Copy, Debug)]
pub(super) struct Table {
    classes: &'static [u8; 256],
    rows: &'static [[u8; 2]],
    columns: usize,
    /// How long a row is, where states are numbers of rows.
    row: Option<usize>,
    matching: u16,
    starts: [u16; 4],
}

/// Marks the columns of a table whose states are numbers of rows.
const BY_NUMBER: usize = 1 << 15;

impl Table {
    /// The table that begins at this byte of the prepared bytes, with a class for
    /// each byte. Its head has numbers of two bytes: columns of a row, last
    /// matching state, and the state to begin in after nothing, a line break, a
    /// letter, another byte.
    pub(super) fn at(bytes: &'static [u8], at: usize, head: &[u8; HEAD]) -> Option<Self> {
        let number = |index: usize| number16(head, 2 * index);
        let classes = slice(bytes, at, 256)?.first_chunk()?;
        let (rows, _) = bytes.get(at + 256..)?.as_chunks();
        let starts = [number(2)?, number(3)?, number(4)?, number(5)?];
        let (marked, matching) = (usize::from(number(0)?), number(1)?);
        let columns = marked & !BY_NUMBER;
        let row = (marked != columns).then_some(columns);
        Some(Self { classes, rows, columns, row, matching, starts })
    }

    /// Where the leftmost match from a byte on ends; where it ends at the
    /// earliest, if only its being there matters.
    pub(super) fn end(&self, text: &[u8], from: usize, earliest: bool) -> Option<usize> {
        match self.row {
            None => self.end_by(text, from, earliest, usize::from),
            Some(row) => self.end_by(text, from, earliest, |state| usize::from(state) * row),
        }
    }

    /// The same, with the place of a state's row.
    #[inline]
    fn end_by(
        &self,
        text: &[u8],
        from: usize,
        earliest: bool,
        place: impl Fn(u16) -> usize,
    ) -> Option<usize> {
        let (mut state, mut found) = (self.start(from.checked_sub(1).map(|at| text[at])), None);
        for (at, byte) in text.iter().enumerate().skip(from) {
            state = self.entry(place(state) + self.class(*byte));
            if state <= self.matching {
                if state == 0 {
                    return found;
                }
                found = Some(at);
                if earliest {
                    return found;
                }
            }
        }
        if self.ends(state) { Some(text.len()) } else { found }
    }

    /// Where the match that lies in this range and ends with it begins; the
    /// table is that of the expression read backwards.
    pub(super) fn begin(&self, text: &[u8], within: Range<usize>) -> Option<usize> {
        let (mut state, mut found) = (self.start(text.get(within.end).copied()), None);
        for at in within.clone().rev() {
            state = self.next(state, self.class(text[at]));
            if state <= self.matching {
                if state == 0 {
                    return found;
                }
                found = Some(at + 1);
            }
        }
        let whole = match within.start.checked_sub(1) {
            Some(before) => self.is_match(self.next(state, self.class(text[before]))),
            None => self.ends(state),
        };
        if whole { Some(within.start) } else { found }
    }

    fn start(&self, beside: Option<u8>) -> u16 {
        match beside {
            None => self.starts[0],
            Some(b'\n') => self.starts[1],
            Some(byte) if byte == b'_' || byte.is_ascii_alphanumeric() => self.starts[2],
            Some(_) => self.starts[3],
        }
    }

    fn class(&self, byte: u8) -> usize {
        usize::from(self.classes[usize::from(byte)])
    }

    /// Whether a match ends with the text.
    fn ends(&self, state: u16) -> bool {
        self.is_match(self.next(state, self.columns - 1))
    }

    fn is_match(&self, state: u16) -> bool {
        state != 0 && state <= self.matching
    }

    fn next(&self, state: u16, class: usize) -> u16 {
        self.entry(usize::from(state) * self.row.unwrap_or(1) + class)
    }

    fn entry(&self, place: usize) -> u16 {
        self.rows.get(place).map_or(0, |next| u16::from_le_bytes(*next))
    }
}
