//! What the JSON formats share: records out of a stream of bytes.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::Value;

use super::far::Sieve;
use super::frames::{Frame, Frames};
use super::out::Out;
use super::{ProblemKind, Role, Wording, surrogates};

/// A JSON format: what its records mean.
pub(super) trait Records: Send {
    /// Takes the record that begins in this line. False, and nothing else,
    /// where `json` is not valid JSON.
    fn record(&mut self, json: &str, line: u64, out: &mut Out<'_>) -> bool;
    /// Ends the input.
    fn finish(&mut self, out: &mut Out<'_>);

    /// What tells lines that cannot matter, by what is known so far.
    fn sieve(&self) -> Option<Arc<dyn Sieve>> {
        None
    }

    /// A message that was passed over has used this: a digest of its id, and
    /// tokens.
    fn used(&mut self, _id: u64, _tokens: u64) {}

    /// Whether what the next records use and say is counted, or was already.
    fn count(&mut self, _on: bool) {}

    /// A text that was passed over stands twice: whether this is the first of both,
    /// by their number.
    fn is_first(&mut self, _number: u64) -> bool {
        true
    }

    /// Records were left out: what they used is not known.
    fn skip(&mut self) {}

    /// What follows is near the end: texts before it may have been passed over.
    fn near(&mut self) {}

    /// A call that was passed over has ended the message.
    fn part(&mut self) {}

    /// How often the sieve has come to another one.
    fn epoch(&self) -> u64 {
        0
    }
}

/// A reader of bytes, of any format.
pub(super) trait Decode: Send {
    fn push(&mut self, bytes: &[u8], out: &mut Out<'_>);
    fn finish(&mut self, out: &mut Out<'_>);

    /// See [`Records::sieve`].
    fn sieve(&self) -> Option<Arc<dyn Sieve>> {
        None
    }

    /// What comes next stands after so many lines; those between it and what
    /// came last are passed over.
    fn after_lines(&mut self, _lines: u64, _out: &mut Out<'_>) {}

    /// See [`Records::used`].
    fn used(&mut self, _id: u64, _tokens: u64) {}

    /// See [`Records::count`].
    fn count(&mut self, _on: bool) {}

    /// See [`Records::is_first`].
    fn is_first(&mut self, _number: u64) -> bool {
        true
    }

    /// See [`Records::skip`].
    fn skip(&mut self) {}

    /// See [`Records::near`].
    fn near(&mut self) {}

    /// See [`Records::part`].
    fn part(&mut self) {}

    /// See [`Records::epoch`].
    fn epoch(&self) -> u64 {
        0
    }
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

    fn sieve(&self) -> Option<Arc<dyn Sieve>> {
        if self.begun { self.records.sieve() } else { None }
    }

    fn after_lines(&mut self, lines: u64, out: &mut Out<'_>) {
        let Self { frames, records, begun } = self;
        frames.after_lines(lines, &mut Handler { records, begun, out });
    }

    fn used(&mut self, id: u64, tokens: u64) {
        self.records.used(id, tokens);
    }

    fn count(&mut self, on: bool) {
        self.records.count(on);
    }

    fn is_first(&mut self, number: u64) -> bool {
        self.records.is_first(number)
    }

    fn skip(&mut self) {
        self.records.skip();
    }

    fn near(&mut self) {
        self.records.near();
    }

    fn part(&mut self) {
        self.records.part();
    }

    fn epoch(&self) -> u64 {
        self.records.epoch()
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
            Ok(json) => self.records.record(json, line, self.out),
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
    fn mended(&mut self, json: &str, line: u64) -> bool {
        let valid = self.records.record(json, line, self.out);
        if valid {
            self.out.problem(ProblemKind::InvalidUtf8, line);
        }
        valid
    }
}

/// Reads one record. A key that stands there twice, which typed reading
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
    if let Ok(record) = T::Of::deserialize(&value) {
        take(record);
    }
    true
}

/// A record type with its lifetime left open, so that [`read`] can borrow.
pub(super) trait Borrowed {
    type Of<'a>: Deserialize<'a>;
}
