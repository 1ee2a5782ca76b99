//! The form of a line: what a client writes in the same way again and again.
//!
//! The records of one client differ in few values. Once a line was walked over,
//! what stands between its values is held against the lines after it, and a line
//! that has the same form says the same, but for the values.

use memchr::memchr;

use super::values::Values;
use super::walk::{Walk, end_of_atom, end_of_string};
use crate::read::MAX_RECORD;

/// How many forms are remembered.
const FORMS: usize = 12;

/// The longest form, in bytes without the values.
const LONGEST: usize = 4 << 10;

/// The forms of the lines that came last.
pub(super) struct Forms<S> {
    forms: Vec<Form<S>>,
    /// In which order they are held against a line.
    order: Vec<usize>,
}

/// What stands in a line between its values, and what was seen of it.
struct Form<S> {
    /// Empty where it is not remembered.
    fixed: Vec<u8>,
    /// Where each part ends that stands before a value.
    ends: Vec<usize>,
    /// With how many parts it begins as each other form does.
    shared: [usize; FORMS],
    seen: S,
}

impl<S> Forms<S> {
    /// Knows none yet.
    pub(super) fn new() -> Self {
        Self { forms: Vec::with_capacity(FORMS), order: Vec::with_capacity(FORMS) }
    }

    /// Where the first of some lines ends, and what is seen of it, with its values: by
    /// its form, or by walking over it to the end. Nothing is seen of a line that is in
    /// doubt; nothing is told where no line ends.
    pub(super) fn see<'l>(
        &mut self,
        lines: &'l [u8],
        values: &mut Values<'l>,
        walk: impl FnOnce(&mut Walk<'l, '_>) -> Option<S>,
    ) -> Option<(usize, Option<&S>)> {
        if let Some((at, end)) = self.fitting(lines, values) {
            // Forms that come often come to stand in front.
            let front = at.saturating_sub(1);
            self.order.swap(at, front);
            return Some((end, Some(&self.forms[self.order[front]].seen)));
        }
        let end = memchr(b'\n', lines)?;
        let line = &lines[..end];
        // What begins in another way may belong to the record before it, and a record
        // that is too long is a problem to be told.
        if line.first() != Some(&b'{') || end > MAX_RECORD {
            return Some((end, None));
        }
        let mut walking = Walk::new(line, values);
        let seen = walk(&mut walking).filter(|_| walking.is_at_end());
        let form = seen.map(|seen| Form::of(line, values, seen));
        Some((end, form.map(|form| &self.add(form).seen)))
    }

    /// The place in the order of the form that the first line has, and where that
    /// ends; its values are told.
    fn fitting<'l>(&self, lines: &'l [u8], values: &mut Values<'l>) -> Option<(usize, usize)> {
        values.begin(lines);
        let mut last: Option<&Form<S>> = None;
        self.order.iter().enumerate().find_map(|(at, &index)| {
            let shared = last.map_or(0, |last| last.shared[index]);
            // The part that the line does not have stands in this form too.
            if shared > values.places().len() {
                return None;
            }
            let form = &self.forms[index];
            last = Some(form);
            Some((at, form.fits(lines, values, shared)?))
        })
    }

    /// Adds a form, in the place of the last one where there are too many.
    fn add(&mut self, mut form: Form<S>) -> &Form<S> {
        let index = match self.order.len() {
            FORMS => self.order.pop().unwrap_or_default(),
            count => count,
        };
        for (other, shared) in self.forms.iter_mut().zip(&mut form.shared) {
            *shared = other.shared_with(&form.fixed, &form.ends);
            other.shared[index] = *shared;
        }
        self.order.push(index);
        if index == self.forms.len() {
            self.forms.push(form);
        } else {
            self.forms[index] = form;
        }
        &self.forms[index]
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
        Self { fixed, ends, shared: [0; FORMS], seen }
    }

    /// With how many parts this form and another begin that are the same.
    fn shared_with(&self, fixed: &[u8], ends: &[usize]) -> usize {
        let mut from = 0;
        let same = |(one, other): &(&usize, &usize)| {
            let part = from..**one;
            from = part.end;
            one == other && self.fixed[part.clone()] == fixed[part]
        };
        self.ends.iter().zip(ends).take_while(same).count()
    }

    /// Where the first of some lines ends, if it has this form, of which so many parts
    /// are known to stand in it, with their values; the others are told. No part of a
    /// form and no value goes over the end of a line, so that the end need not be
    /// looked for before.
    fn fits<'l>(&self, lines: &'l [u8], values: &mut Values<'l>, known: usize) -> Option<usize> {
        values.keep(known);
        let mut at = values.places().last().map_or(0, |place| place.end);
        let (before, ends) = self.ends.split_at(known);
        let mut from = before.last().copied().unwrap_or(0);
        for end in ends {
            let before = &self.fixed[from..*end];
            let rest = lines[at..].strip_prefix(before)?;
            let is_string = before.last() == Some(&b'"');
            let length = if is_string { end_of_string(rest) } else { end_of_atom(rest) }?;
            let begin = at + before.len();
            at = begin + length;
            values.add(begin..at);
            from = *end;
        }
        let behind = lines[at..].strip_prefix(&self.fixed[from..])?;
        let end = lines.len() - behind.len();
        (behind.first() == Some(&b'\n') && end <= MAX_RECORD && !self.fixed.is_empty())
            .then_some(end)
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
            let (mut values, lines) = (Values::new(), format!("{line}\n"));
            let seen = forms.see(lines.as_bytes(), &mut values, |walk| {
                walked += 1;
                text(walk)
            });
            let (end, seen) = seen.unwrap();
            assert_eq!(end, line.len());
            let seen = seen.map(|text| String::from_utf8_lossy(values.get(*text)).into_owned());
            assert_eq!((seen.as_deref(), walked), (expected, walks), "{line}");
        }
    }

    #[test]
    fn forms_that_begin_alike_are_told_apart() {
        let lines = [
            r#"{"type":"t","n":@,"text":"a@"}"#,
            r#"{"type":"t","n":@,"text":"a@" }"#,
            r#"{"type":"t","n":@,"text":"a@","x":@}"#,
            r#"{"type":"t","n":@,"text":"a@","y":@}"#,
            r#"{"type":"t","n":@,"text":"a@","y":"@"}"#,
            r#"{"type":"t","n":@,"text":"a@","y":"@","z":[@]}"#,
            r#"{"type":"t","n":@,"text":"a@","y":"@","z":{}}"#,
            r#"{"type":"t","n":@,"x":@,"text":"a@"}"#,
            r#"{"type":"t","n":@,"note":"b@","text":"a@"}"#,
            r#"{"type":"t","n":"@","text":"a@"}"#,
            r#"{"type":"t","text":"a@","n":@}"#,
            r#"{"type":"t","text":"a@"}"#,
            r#"{ "type":"t","text":"a@"}"#,
            r#"{"n":@,"type":"t","text":"a@"}"#,
            r#"{"n":@,"text":"a@","type":"t"}"#,
            r#"{"type":"t","n":@,"text":"a@}"#,
            r#"{"type":"t","n":@,"text":"a@\"#,
            r#"{"type":"t","n":@,"text":"a@ and so on for more than a few bytes}"#,
            r#"{"type":"t","n":@,"text":"a@\" and so on for more than a few bytes\"#,
            "",
            r#"{"type":"u","n":@,"text":"a@"}"#,
        ];
        let (mut forms, mut random, mut walked) = (Forms::new(), 1_u64, 0);
        for _ in 0..5_000 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let line = lines[(random >> 33) as usize % lines.len()];
            let line = line.replace('@', &(random >> 60).to_string());
            // Behind a string that does not end in its line, one could end in the next.
            let behind = lines[(random >> 40) as usize % lines.len()];
            let both = format!("{line}\n\"{behind}\n");
            let (mut values, mut others) = (Values::new(), Values::new());
            let seen = forms.see(both.as_bytes(), &mut values, |walk| {
                walked += 1;
                text(walk)
            });
            let seen = seen.map(|(end, text)| (end, text.map(|text| values.get(*text))));
            let mut walk = Walk::new(line.as_bytes(), &mut others);
            let expected = text(&mut walk).filter(|_| walk.is_at_end());
            let expected = expected.map(|text| others.get(text));
            assert_eq!(seen, Some((line.len(), expected)), "{line}");
            if expected.is_some() {
                assert_eq!(values.places(), others.places(), "{line}");
            }
        }
        assert!(walked < 3_000, "{walked}");
    }

    #[test]
    fn a_line_of_many_values_has_no_form() {
        let line = format!("{{\"type\":\"t\",\"text\":\"a\",\"more\":[{}0]}}\n", "7,".repeat(99));
        let (mut forms, mut values, mut walked) = (Forms::new(), Values::new(), 0);
        for expected in [1, 2] {
            let seen = forms.see(line.as_bytes(), &mut values, |walk| {
                walked += 1;
                text(walk)
            });
            assert!(seen.is_some_and(|(_, seen)| seen.is_some()) && values.are_more());
            assert_eq!(walked, expected);
        }
    }
}
