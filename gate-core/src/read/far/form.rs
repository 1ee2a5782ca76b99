//! The form of a line: what a client writes in the same way again and again.
//!
//! The records of one client differ in few values. Once a line was walked over,
//! what stands between its values is held against the lines after it, and a line
//! that has the same form says the same, but for the values.

use super::values::Values;
use super::walk::{Walk, end_of_atom, end_of_string};

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

#[cfg(test)]
mod tests {
    use super::super::values::Value;
    use super::*;

    /// The text of `{"type":"t","text":"...", ...}`.
    fn text(walk: &mut Walk<'_, '_>) -> Option<Value> {
        let mut text = None;
        walk.enter(b'{')?;
        loop {
            match walk.member()? {
                b"" => return text,
                b"type" => (walk.string()? == b"t").then_some(())?,
                b"text" => text = Some(walk.text()?),
                _ => walk.pass()?,
            }
        }
    }

    #[test]
    fn lines_of_one_form_differ_in_their_values() {
        let (mut forms, mut walked) = (Forms::new(), 0);
        for (line, expected, walks) in [
            (r#"{"type":"t","n":1,"text":"a","more":[{"k":"v"},null]}"#, Some("a"), 1),
            (r#"{"type":"t","n":-20.5,"text":"\"","more":[{"k":"\\"},null]}"#, Some("\\\""), 1),
            (r#"{"type":"t","n":0,"text":"","more":[{"k":"w"},null]}"#, Some(""), 1),
            (r#"{"type":"t","n":01,"text":"a","more":[{"k":"v"},null]}"#, None, 2),
            (r#"{"type":"t","n":1,"text":"a","more":[{"k":"v"},null]}}"#, None, 3),
            (r#"{"type":"u","n":1,"text":"a","more":[{"k":"v"},null]}"#, None, 4),
            (r#"{"type":"t","n":1,"text":"a","more":[{"l":"v"},null]}"#, Some("a"), 5),
            (r#"{"type":"t","n":1,"text":"b","more":[{"l":"v"},null]}"#, Some("b"), 5),
            (r#"{"type":"t","n":1,"text":"c","more":[{"k":"v"},null]}"#, Some("c"), 5),
        ] {
            let mut values = Values::new();
            let seen = forms.see(line.as_bytes(), &mut values, |walk| {
                walked += 1;
                text(walk)
            });
            let seen = seen.map(|text| String::from_utf8_lossy(values.get(*text)).into_owned());
            assert_eq!((seen.as_deref(), walked), (expected, walks), "{line}");
        }
    }

    #[test]
    fn a_line_of_many_values_has_no_form() {
        let line = format!(r#"{{"type":"t","text":"a","more":[{}0]}}"#, "7,".repeat(99));
        let (mut forms, mut values, mut walked) = (Forms::new(), Values::new(), 0);
        for expected in [1, 2] {
            let seen = forms.see(line.as_bytes(), &mut values, |walk| {
                walked += 1;
                text(walk)
            });
            assert!(seen.is_some() && values.are_more());
            assert_eq!(walked, expected);
        }
    }
}
