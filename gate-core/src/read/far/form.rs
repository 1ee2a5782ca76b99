//! The form of a line: what a client writes in the same way again and again.
//!
//! The records of one client differ in few values. Once a line was walked over,
//! what stands between its values is held against the lines after it, and a line
//! that has the same form says the same, but for the values.

use super::walk::{Values, Walk, end_of_atom, end_of_string};

/// How many forms are remembered.
const FORMS: usize = 12;

/// The longest form, in bytes without the values.
const LONGEST: usize = 4 << 10;

/// The forms of the lines that came last.
pub(super) struct Forms<S>(Vec<Form<S>>);

/// What stands in a line between its values, and what was seen of it.
struct Form<S> {
    fixed: Vec<u8>,
    /// Where each part ends that stands before a value.
    ends: Vec<usize>,
    seen: S,
}

impl<S> Forms<S> {
    /// Knows none yet.
    pub(super) fn new() -> Self {
        Self(Vec::with_capacity(FORMS))
    }

    /// What is seen of a line, and its values: by its form, or by walking over it
    /// to the end. Nothing where the line is in doubt.
    pub(super) fn see<'l>(
        &mut self,
        line: &'l [u8],
        values: &mut Values<'l>,
        walk: impl FnOnce(&mut Walk<'l, '_>) -> Option<S>,
    ) -> Option<&S> {
        if let Some(at) = self.0.iter().position(|form| form.fits(line, values)) {
            // Forms that come often come to stand in front.
            let front = at.saturating_sub(1);
            self.0.swap(at, front);
            return self.0.get(front).map(|form| &form.seen);
        }
        let mut walking = Walk::new(line, values);
        let seen = walk(&mut walking).filter(|_| walking.is_at_end())?;
        if self.0.len() == FORMS {
            self.0.pop();
        }
        self.0.push(Form::of(line, values, seen));
        self.0.last().map(|form| &form.seen)
    }
}

impl<S> Form<S> {
    fn of(line: &[u8], values: &Values<'_>, seen: S) -> Self {
        let (mut fixed, mut ends, mut at) = (Vec::new(), Vec::new(), 0);
        let length = line.len() - values.length();
        if length <= LONGEST && !values.are_more() {
            fixed.reserve(length);
            ends.reserve(values.places().len());
            for place in values.places() {
                fixed.extend_from_slice(&line[at..place.start]);
                ends.push(fixed.len());
                at = place.end;
            }
            fixed.extend_from_slice(&line[at..]);
        }
        Self { fixed, ends, seen }
    }

    /// Whether a line has this form; its values are told.
    fn fits<'l>(&self, line: &'l [u8], values: &mut Values<'l>) -> bool {
        values.begin(line);
        let (mut at, mut from) = (0, 0);
        for end in &self.ends {
            let before = &self.fixed[from..*end];
            let Some(rest) = line[at..].strip_prefix(before) else {
                return false;
            };
            let is_string = before.last() == Some(&b'"');
            let length = if is_string { end_of_string(rest) } else { end_of_atom(rest) };
            let Some(length) = length else {
                return false;
            };
            let begin = at + before.len();
            at = begin + length;
            values.add(begin..at);
            from = *end;
        }
        line[at..] == self.fixed[from..]
    }
}
