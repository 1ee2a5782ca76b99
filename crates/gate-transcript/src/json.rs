//! Records out of a stream of bytes, for all JSON formats.

use memchr::memchr_iter;
use serde::Deserialize;
use serde_json::Value;

use super::frames::{Frame, Frames};
use super::out::Out;
use super::{ProblemKind, Role, Wording, controls, surrogates};

/// Defines the records of a format, as far as they are read. All fields may be absent; a key
/// that is no good name for its field stands before it, `"type" => kind`. The bound stands for a
/// `#[serde(borrow)]` on each field.
macro_rules! records {
    ($($(#[$meta:meta])* struct $name:ident $(<$lifetime:lifetime>)? {$($fields:tt)*})*) => {
        $($crate::json::records! { @ [$($lifetime)?] $(#[$meta])* $name {$($fields)*} })*
    };
    (@ [$lifetime:lifetime] $(#[$meta:meta])* $name:ident {$($fields:tt)*}) => {
        $crate::json::records! {
            @ $(#[$meta])* #[serde(bound(deserialize = "'de: 'a"))] $name [<$lifetime>] {$($fields)*}
        }
    };
    (@ [] $(#[$meta:meta])* $name:ident {$($fields:tt)*}) => {
        $crate::json::records! { @ $(#[$meta])* $name [] {$($fields)*} }
    };
    (@ $(#[$meta:meta])* $name:ident [$($generics:tt)*] {
        $($(#[$about:meta])* $($key:literal =>)? $field:ident: $type:ty,)*
    }) => {
        #[derive(serde::Deserialize, Default)]
        #[serde(default)]
        $(#[$meta])*
        pub(crate) struct $name $($generics)* {
            $($(#[$about])* $(#[serde(rename = $key)])? pub(crate) $field: $type,)*
        }
    };
}

pub(crate) use records;

/// A JSON format: what its records mean.
pub(super) trait Records: Send {
    /// A record; see [`records!`](records).
    type Record<'a>: Deserialize<'a>;

    /// Sees a record's text before the record is taken.
    fn inspect(&mut self, _json: &str) {}

    /// Takes the record that begins in this line.
    fn take(&mut self, record: Self::Record<'_>, out: &mut Out<'_>);

    /// Ends the input.
    fn finish(&mut self, _out: &mut Out<'_>) {}

    /// A place at which lines can be left out without losing track of who speaks.
    fn can_skip(&self) -> bool {
        false
    }

    /// Records were left out: the tokens that they used are unknown.
    fn skip(&mut self) {}

    /// A line before the tail that is passed over: a record that can only be a tool's call or
    /// answer, which is reported from the tail alone. In doubt a line is read. The line is not
    /// parsed, so that a skipped one may be no JSON.
    fn is_skippable(&mut self, _line: &[u8]) -> bool {
        false
    }

    /// The tail of a long input begins: it is read as if its turn began here.
    fn tail(&mut self) {}
}

/// A reader of bytes, of any format.
pub(super) trait Decode: Send {
    fn push(&mut self, bytes: &[u8], out: &mut Out<'_>);
    fn finish(&mut self, out: &mut Out<'_>);

    /// Takes whole lines before the tail of a long input.
    fn push_lines(&mut self, lines: &[u8], out: &mut Out<'_>) {
        self.push(lines, out);
    }

    /// See [`Records::can_skip`].
    fn can_skip(&self) -> bool {
        false
    }

    /// See [`Records::skip`].
    fn skip(&mut self) {}

    /// See [`Records::tail`].
    fn tail(&mut self) {}
}

/// Reads the records of one JSON format.
pub(super) struct Json<R> {
    frames: Frames,
    records: R,
    has_record: bool,
}

impl<R: Records> Json<R> {
    pub(super) fn new(records: R) -> Self {
        Self { frames: Frames::default(), records, has_record: false }
    }
}

impl<R: Records> Decode for Json<R> {
    fn push(&mut self, bytes: &[u8], out: &mut Out<'_>) {
        let Self { frames, records, has_record } = self;
        frames.push(bytes, &mut Handler { records, has_record, out });
    }

    fn finish(&mut self, out: &mut Out<'_>) {
        let Self { frames, records, has_record } = self;
        frames.finish(&mut Handler { records, has_record, out });
        self.records.finish(out);
    }

    fn push_lines(&mut self, lines: &[u8], out: &mut Out<'_>) {
        let mut start = 0;
        for end in memchr_iter(b'\n', lines) {
            let line = &lines[start..=end];
            start = end + 1;
            if self.has_record && self.frames.is_between_lines() && self.records.is_skippable(line)
            {
                self.frames.skip_line();
            } else {
                self.push(line, out);
            }
        }
        self.push(&lines[start..], out);
    }

    fn can_skip(&self) -> bool {
        self.has_record && self.records.can_skip()
    }

    fn skip(&mut self) {
        self.records.skip();
    }

    fn tail(&mut self) {
        self.records.tail();
    }
}

struct Handler<'h, 's, R> {
    records: &'h mut R,
    has_record: &'h mut bool,
    out: &'h mut Out<'s>,
}

impl<R: Records> Frame for Handler<'_, '_, R> {
    fn record(&mut self, json: &[u8], line: u64) -> bool {
        let is_valid = match std::str::from_utf8(json) {
            Ok(json) => self.read(json, line) || self.read_escaped(json, line),
            Err(_) => self.read_lossy(&String::from_utf8_lossy(json), line),
        };
        *self.has_record |= is_valid;
        is_valid
    }

    /// Runners put headers before the first record and their own remarks
    /// after the last one; clients print warnings, and limits, in between.
    fn noise(&mut self, text: &[u8], line: u64) {
        let text = String::from_utf8_lossy(text);
        let clean_text = super::clean::clean(&text);
        // A record may stand between the escapes that a terminal wants.
        let record = clean_text.trim();
        if record.starts_with('{') && record.ends_with('}') && self.read(record, line) {
            *self.has_record = true;
            return;
        }
        self.out.at_line(line);
        if *self.has_record {
            self.out.problem(ProblemKind::Noise);
        }
        if self.out.has_wording(Wording::Notice, record) {
            self.out.failure(record, None);
        }
        self.out.say(Role::System, &text);
    }

    fn flaw(&mut self, kind: ProblemKind, line: u64) {
        self.out.at_line(line).problem(kind);
    }
}

impl<R: Records> Handler<'_, '_, R> {
    /// Reads one record. False, without any effect, if it is not valid JSON. A key that occurs twice,
    /// which typed reading refuses, counts with its last value; half of a character that JavaScript
    /// has cut in two reads as a replacement character.
    fn read(&mut self, json: &str, line: u64) -> bool {
        if let Ok(record) = serde_json::from_str(json) {
            self.records.inspect(json);
            self.records.take(record, self.out.at_line(line));
            return true;
        }
        let mended = surrogates::mend(json);
        let Ok(value) = serde_json::from_str::<Value>(mended.as_deref().unwrap_or(json)) else {
            return false;
        };
        // From text again: to read each record type from a value as well would double the
        // code of all of them.
        let text = value.to_string();
        if let Ok(record) = serde_json::from_str(&text) {
            self.records.inspect(json);
            self.records.take(record, self.out.at_line(line));
        }
        true
    }

    /// Reads a record whose strings hold control characters as they are.
    fn read_escaped(&mut self, json: &str, line: u64) -> bool {
        let is_valid = controls::escape(json).is_some_and(|escaped| self.read(&escaped, line));
        if is_valid {
            self.out.at_line(line).problem(ProblemKind::RawControl);
        }
        is_valid
    }

    /// Reads a record in which bytes that are not UTF-8 were replaced.
    fn read_lossy(&mut self, json: &str, line: u64) -> bool {
        let is_valid = self.read(json, line);
        if is_valid {
            self.out.at_line(line).problem(ProblemKind::InvalidUtf8);
        }
        is_valid
    }
}

/// A line that ends as an object does: a line that was cut off does not.
pub(super) fn ends_as_object(line: &[u8]) -> bool {
    line.trim_ascii_end().ends_with(b"}")
}
