//! An expression as a table: which state follows on which byte.
//!
//! A match is seen one byte late, so that the byte after it can be looked at
//! (`\b`, `$`); the end of the text counts as one more byte.

use std::ops::Range;

use super::prepared::{HEAD, Parts, number16};

/// A table within the prepared bytes. A state is the place of its row; in a large
/// table it is the row's number. State 0 is dead; those up to `matching` say that
/// a match has just ended. Rows that few texts lead to stand apart.
#[derive(Clone, Copy, Debug)]
pub(super) struct Table {
    classes: &'static [u8; 256],
    near: &'static [[u8; 2]],
    far: &'static [[u8; 2]],
    columns: usize,
    /// How long a row is, where states are numbers of rows.
    row: Option<usize>,
    matching: u16,
    starts: [u16; 4],
}

/// Marks the columns of a table whose states are numbers of rows.
const BY_NUMBER: usize = 1 << 15;

/// A table that finds where matches end, wherever they begin.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ends {
    table: Table,
    /// For each byte, one bit for each kind of byte before it after which a match
    /// may begin with it (none, a line break, a letter, another), and above those
    /// one bit for its own kind.
    beginnings: &'static [u8; 256],
    /// States up to this one are dead or matching, or one to begin in.
    idle: u16,
}

impl Ends {
    /// The table in these of the prepared bytes: a class for each byte, the
    /// beginnings, and the rows.
    pub(super) fn at(parts: Parts, head: &[u8; HEAD]) -> Option<Self> {
        let (classes, rest) = parts.near.split_first_chunk()?;
        let (beginnings, near) = rest.split_first_chunk()?;
        let table = Table::of(classes, Parts { near, ..parts }, head)?;
        let idle = table.starts.into_iter().fold(table.matching, u16::max);
        Some(Self { table, beginnings, idle })
    }

    /// Where the leftmost match from a byte on ends; where it ends at the
    /// earliest, if only its being there matters.
    pub(super) fn first(&self, text: &[u8], from: usize, earliest: bool) -> Option<usize> {
        self.search(text, from, text.len(), earliest).ok()
    }

    /// Looks for a match that begins from a byte on, and at the latest with
    /// another one: nothing where there is one, and otherwise behind that byte the
    /// place before which none begins.
    pub(super) fn none_before(&self, text: &[u8], from: usize, last: usize) -> Option<usize> {
        self.search(text, from, last, true).err()
    }

    /// Where the leftmost match that begins from a byte on ends, or a later one;
    /// or the place behind the last byte to begin with before which none begins.
    fn search(
        &self,
        text: &[u8],
        from: usize,
        last: usize,
        earliest: bool,
    ) -> Result<usize, usize> {
        match self.table.row {
            None => self.search_by(text, from, last, earliest, usize::from),
            Some(row) => self.search_by(text, from, last, earliest, |it| usize::from(it) * row),
        }
    }

    /// The same, with the place of a state's row.
    #[inline]
    fn search_by(
        &self,
        text: &[u8],
        from: usize,
        last: usize,
        earliest: bool,
        place: impl Fn(u16) -> usize,
    ) -> Result<usize, usize> {
        let (table, mut at, mut found) = (&self.table, from, Err(usize::MAX));
        loop {
            // Nothing has begun before this byte.
            at = self.beginning(text, at).unwrap_or(text.len());
            if at > last {
                return found.or(Err(at));
            }
            let mut state = table.start(at.checked_sub(1).map(|at| text[at]));
            loop {
                let Some(byte) = text.get(at) else {
                    return if table.ends(state) { Ok(at) } else { found };
                };
                state = table.entry(place(state) + table.class(*byte));
                if state <= self.idle {
                    if state == 0 {
                        return found;
                    }
                    if state <= table.matching {
                        found = Ok(at);
                        if earliest {
                            return found;
                        }
                    } else if state == table.start(Some(*byte)) {
                        break;
                    }
                }
                at += 1;
            }
            at += 1;
        }
    }

    /// The first byte from one on with which a match may begin.
    fn beginning(&self, text: &[u8], from: usize) -> Option<usize> {
        let of = |byte: &u8| self.beginnings[usize::from(*byte)];
        let mut before = from.checked_sub(1).map_or(NONE, |at| of(&text[at]) >> KINDS);
        let mut begins = |byte| {
            let own = of(byte);
            let begins = own & before != 0;
            before = own >> KINDS;
            begins
        };
        text[from..].iter().position(&mut begins).map(|skipped| from + skipped)
    }
}

/// How many kinds of bytes a search can begin behind, and the bit for none.
const KINDS: u32 = 4;
const NONE: u8 = 1;

impl Table {
    /// The table in these of the prepared bytes: a class for each byte, and the rows.
    /// Its head has numbers of two bytes: columns of a row, last matching state, and
    /// the state to begin in after nothing, a line break, a letter, another byte.
    pub(super) fn at(parts: Parts, head: &[u8; HEAD]) -> Option<Self> {
        let (classes, near) = parts.near.split_first_chunk()?;
        Self::of(classes, Parts { near, ..parts }, head)
    }

    /// The table with these classes and rows.
    fn of(classes: &'static [u8; 256], rows: Parts, head: &[u8; HEAD]) -> Option<Self> {
        let number = |index: usize| number16(head, 2 * index);
        let ((near, _), (far, _)) = (rows.near.as_chunks(), rows.far.as_chunks());
        let starts = [number(2)?, number(3)?, number(4)?, number(5)?];
        let (marked, matching) = (usize::from(number(0)?), number(1)?);
        let columns = marked & !BY_NUMBER;
        let row = (marked != columns).then_some(columns);
        Some(Self { classes, near, far, columns, row, matching, starts })
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
        let far = || self.far.get(place - self.near.len());
        self.near.get(place).or_else(far).map_or(0, |next| u16::from_le_bytes(*next))
    }
}
