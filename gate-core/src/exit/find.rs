//! Places in an agent's text that may hold an exit signal.

use std::ops::Range;

use memchr::{memchr, memchr2, memmem};
use serde::de::IgnoredAny;
use serde_json::{Deserializer, Error};

use super::EXIT_SIGNAL_PROTOCOL;

/// The places in a text, in order, that hold a JSON value, or the beginning of
/// one, in which the protocol is named: the outermost one, so that a value
/// within other JSON is not taken for a signal by itself.
///
/// The text is gone over once, whatever its content.
pub(crate) fn find(text: &str) -> Vec<Range<usize>> {
    let mut candidates = Vec::new();
    let mut unread = 0;
    let mut line_end = 0;
    let names = memmem::find_iter(text.as_bytes(), EXIT_SIGNAL_PROTOCOL.as_bytes());
    for name in names {
        while let Some(open) = next_value(text, unread, name) {
            let (end, next) = match value_length(&text[open..]) {
                Ok(length) => (open + length, open + length),
                Err(failure) => {
                    // A value that is cut off may still be meant: it goes up to its line's end.
                    let failure = open + failure;
                    if line_end < failure {
                        line_end = end_of_line(text, failure);
                    }
                    (line_end, failure)
                }
            };
            unread = next.max(open + 1);
            if name < end {
                unread = unread.max(end);
                candidates.push(open..end);
            }
        }
    }
    candidates
}

/// The length of the JSON value that a text begins with; the error is the byte at which it fails.
fn value_length(text: &str) -> Result<usize, usize> {
    let mut values = Deserializer::from_str(text).into_iter::<IgnoredAny>();
    match values.next() {
        Some(Err(error)) => Err(offset(text, &error)),
        _ => Ok(values.byte_offset()),
    }
}

/// The first byte of the next JSON value before `end` that may hold a signal.
fn next_value(text: &str, mut start: usize, end: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    loop {
        let open = start + memchr2(b'{', b'[', bytes.get(start..end)?)?;
        if begins_value(bytes[open], text[open + 1..].trim_start()) {
            return Some(open);
        }
        start = open + 1;
    }
}

/// A bracket with a text behind it as in JSON, or in an attempt at it.
fn begins_value(bracket: u8, content: &str) -> bool {
    match bracket {
        b'[' => content.starts_with(['{', '[']),
        _ => content.starts_with(['"', '\'']) || content.starts_with("protocol"),
    }
}

/// The byte at which parsing a text failed.
fn offset(text: &str, error: &Error) -> usize {
    let mut breaks = memchr::memchr_iter(b'\n', text.as_bytes());
    let last_break = error.line().checked_sub(2).and_then(|count| breaks.nth(count));
    let line_start = last_break.map_or(0, |line_break| line_break + 1);
    text.floor_char_boundary(line_start + error.column().saturating_sub(1))
}

fn end_of_line(text: &str, start: usize) -> usize {
    memchr(b'\n', &text.as_bytes()[start..]).map_or(text.len(), |distance| start + distance)
}
