//! Records out of a stream of bytes, for all JSON formats.

use memchr::memchr_iter;
use serde::Deserialize;
use serde_json::Value;

use super::frames::{Frame, Frames};
use super::out::Out;
use super::{ProblemKind, Role, Wording, controls, surrogates};

/// A JSON format: what its records mean.
pub(super) trait Records: Send {
    /// Takes the record that begins in this line. False, and nothing else,
    /// if `json` is not valid JSON.
    fn record(&mut self, json: &str, line: u64, out: &mut Out<'_>) -> bool;
    /// Ends the input.
    fn finish(&mut self, out: &mut Out<'_>);

    /// True if lines can be left out here without losing track of who speaks.
    fn can_skip(&self) -> bool {
        false
    }

    /// Records were left out: what they used is not known.
    fn skip(&mut self) {}

    /// True for a line before the tail that is passed over: a record that can only be
    /// a tool's call or answer, which is reported from the tail alone. In doubt a line is
    /// read. The line is not parsed, so that a skipped one may be no JSON.
    fn skips(&mut self, _line: &[u8]) -> bool {
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
    begun: bool,
}

impl<R: Records> Json<R> {
    pub(super) fn new(records: R) -> Self {
        Self { frames: Frames::default(), records, begun: false }
    }
}

impl<R: Records> Decode for Json<R> {
    fn push(&mut self, bytes: &[u8], out: &mut Out<'_>) {
        let Self { frames, records, begun } = self;
        frames.push(bytes, &mut Handler { records, begun, out });
    }

    fn finish(&mut self, out: &mut Out<'_>) {
        let Self { frames, records, begun } = self;
        frames.finish(&mut Handler { records, begun, out });
        self.records.finish(out);
    }

    fn push_lines(&mut self, lines: &[u8], out: &mut Out<'_>) {
        let mut from = 0;
        for end in memchr_iter(b'\n', lines) {
            let line = &lines[from..=end];
            from = end + 1;
            if self.begun && self.frames.is_between_lines() && self.records.skips(line) {
                self.frames.skip_line();
            } else {
                self.push(line, out);
            }
        }
        self.push(&lines[from..], out);
    }

    fn can_skip(&self) -> bool {
        self.begun && self.records.can_skip()
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
    begun: &'h mut bool,
    out: &'h mut Out<'s>,
}

impl<R: Records> Frame for Handler<'_, '_, R> {
    fn record(&mut self, json: &[u8], line: u64) -> bool {
        let valid = match std::str::from_utf8(json) {
            Ok(json) => self.records.record(json, line, self.out) || self.escaped(json, line),
            Err(_) => self.mended(&String::from_utf8_lossy(json), line),
        };
        *self.begun |= valid;
        valid
    }

    /// Runners put headers before the first record and their own remarks
    /// after the last one; clients print warnings, and limits, in between.
    fn noise(&mut self, text: &[u8], line: u64) {
        let text = String::from_utf8_lossy(text);
        let plain = super::clean::clean(&text);
        let record = plain.trim();
        if record.starts_with('{')
            && record.ends_with('}')
            && self.records.record(record, line, self.out)
        {
            *self.begun = true;
            return;
        }
        if *self.begun {
            self.out.problem(ProblemKind::Noise, line);
        }
        if self.out.says(Wording::Notice, record) {
            self.out.failure(record, None, line);
        }
        self.out.say(Role::System, &text, line);
    }

    fn flaw(&mut self, kind: ProblemKind, line: u64) {
        self.out.problem(kind, line);
    }
}

impl<R: Records> Handler<'_, '_, R> {
    /// Reads a record whose strings hold control characters as they are.
    fn escaped(&mut self, json: &str, line: u64) -> bool {
        let valid = controls::escape(json)
            .is_some_and(|escaped| self.records.record(&escaped, line, self.out));
        if valid {
            self.out.problem(ProblemKind::RawControl, line);
        }
        valid
    }

    fn mended(&mut self, json: &str, line: u64) -> bool {
        let valid = self.records.record(json, line, self.out);
        if valid {
            self.out.problem(ProblemKind::InvalidUtf8, line);
        }
        valid
    }
}

/// True for a line that ends as an object does: a line that was cut off does not.
pub(super) fn ends_as_object(line: &[u8]) -> bool {
    line.trim_ascii_end().ends_with(b"}")
}

/// Reads one record. A key that occurs twice, which typed reading
/// refuses, counts with its last value; half of a character that JavaScript has
/// cut in two reads as a replacement character.
pub(super) fn read<T>(json: &str, take: impl FnOnce(T::Of<'_>)) -> bool
where
    T: Borrowed,
{
    if let Ok(record) = serde_json::from_str::<T::Of<'_>>(json) {
        take(record);
        return true;
    }
    let mended = surrogates::mend(json);
    let Ok(value) = serde_json::from_str::<Value>(mended.as_deref().unwrap_or(json)) else {
        return false;
    };
    // From text again: to read each record type from a value as well would double the
    // code of all of them.
    if let Ok(record) = serde_json::from_str::<T::Of<'_>>(&value.to_string()) {
        take(record);
    }
    true
}

/// A record type with its lifetime left open, so that [`read`] can borrow.
pub(super) trait Borrowed {
    type Of<'a>: Deserialize<'a>;
}
