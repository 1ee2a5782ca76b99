//! The values of a line of JSON: what its form does not tell.

use std::ops::Range;

/// The values of a line that were passed: strings, as they are escaped, and what
/// is no string, object or array. What was told of a line on the way, such as a
/// name, is none.
pub(in crate::read) struct Values<'a> {
    line: &'a [u8],
    places: [Range<usize>; MOST],
    count: usize,
    /// Whether there were more.
    more: bool,
}

/// A value of a line, whichever the line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::read) struct Value(usize);

/// The most values of a line that are told.
const MOST: usize = 64;

/// At most as many values as fit.
#[derive(Debug, Default)]
pub(in crate::read) struct Few([Option<Value>; 4]);

impl Few {
    /// Adds one, if there is room.
    pub(in crate::read) fn add(&mut self, value: Value) -> Option<()> {
        *self.0.iter_mut().find(|room| room.is_none())? = Some(value);
        Some(())
    }

    /// All of them.
    pub(in crate::read) fn all(&self) -> impl Iterator<Item = Value> + Clone {
        self.0.iter().copied().flatten()
    }

    pub(in crate::read) fn is_empty(&self) -> bool {
        self.0[0].is_none()
    }
}

impl<'a> Values<'a> {
    /// No values yet.
    pub(in crate::read) fn new() -> Self {
        Self { line: b"", places: [const { 0..0 }; MOST], count: 0, more: false }
    }

    /// Begins with another line.
    pub(super) fn begin(&mut self, line: &'a [u8]) {
        (self.line, self.count, self.more) = (line, 0, false);
    }

    /// Forgets all values but the first ones.
    pub(super) fn keep(&mut self, count: usize) {
        self.count = self.count.min(count);
    }

    /// Adds a value, unless there are too many.
    #[inline]
    pub(super) fn add(&mut self, place: Range<usize>) -> Option<Value> {
        let Some(next) = self.places.get_mut(self.count) else {
            self.more = true;
            return None;
        };
        *next = place;
        self.count += 1;
        Some(Value(self.count - 1))
    }

    /// A value of this line.
    pub(in crate::read) fn get(&self, value: Value) -> &'a [u8] {
        &self.line[self.places[value.0].clone()]
    }

    /// A value that is a whole number and not negative.
    pub(in crate::read) fn number(&self, value: Value) -> Option<u64> {
        let add = |sum: u64, digit: &u8| {
            let digit = digit.is_ascii_digit().then(|| u64::from(digit - b'0'))?;
            sum.checked_mul(10)?.checked_add(digit)
        };
        self.get(value).iter().try_fold(0, add)
    }

    /// All that are told.
    pub(in crate::read) fn all(&self) -> impl Iterator<Item = &'a [u8]> {
        self.places().iter().map(|place| &self.line[place.clone()])
    }

    /// Whether there are more than are told.
    pub(in crate::read) fn are_more(&self) -> bool {
        self.more
    }

    /// Where they stand.
    pub(super) fn places(&self) -> &[Range<usize>] {
        &self.places[..self.count]
    }

    /// Their length together, in bytes.
    pub(super) fn length(&self) -> usize {
        self.places().iter().map(Range::len).sum()
    }
}
