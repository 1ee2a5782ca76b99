//! Places in an agent's text that may hold an exit signal.

use std::ops::Range;

use memchr::{memchr, memchr2, memmem};
use serde::de::IgnoredAny;
use serde_json::{Deserializer, Error};

use super::EXIT_SIGNAL_PROTOCOL;

/// The places in a text, in order, that hold a JSON value, or the beginning of
/// one, in which the protocol is named: the outermost one, so that what stands
/// within other JSON is not taken for a signal by itself.
///
/// The text is gone over once, whatever stands in it.
pub(crate) fn find(text: &str) -> Vec<Range<usize>> {
    let (mut found, mut at) = (Vec::new(), 0);
    let mut line_end = 0;
    let names = memmem::find_iter(text.as_bytes(), EXIT_SIGNAL_PROTOCOL.as_bytes());
    for name in names {
        while let Some(open) = opening(text, at, name) {
            let (end, next) = match value(&text[open..]) {
                Ok(length) => (open + length, open + length),
                Err(failed) => {
                    let failed = open + failed;
                    if line_end < failed {
                        line_end = end_of_line(text, failed);
                    }
                    (line_end, failed)
                }
            };
            at = next.max(open + 1);
            if name < end {
                at = at.max(end);
                found.push(open..end);
            }
        }
    }
    found
}

/// The length of the JSON value that a text begins with, or where it fails.
fn value(text: &str) -> Result<usize, usize> {
    let mut values = Deserializer::from_str(text).into_iter::<IgnoredAny>();
    match values.next() {
        Some(Err(error)) => Err(offset(text, &error)),
        _ => Ok(values.byte_offset()),
    }
}

/// Byte of the next JSON value before `end` that may hold a signal.
fn opening(text: &str, mut at: usize, end: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    loop {
        let open = at + memchr2(b'{', b'[', bytes.get(at..end)?)?;
        if opens(bytes[open], text[open + 1..].trim_start()) {
            return Some(open);
        }
        at = open + 1;
    }
}

/// True if what follows a bracket is what JSON, or an attempt at it, goes on with.
fn opens(bracket: u8, rest: &str) -> bool {
    match bracket {
        b'[' => rest.starts_with(['{', '[']),
        _ => rest.starts_with(['"', '\'']) || rest.starts_with("protocol"),
    }
}

/// Byte at which parsing a text failed.
fn offset(text: &str, error: &Error) -> usize {
    let before = error.line().saturating_sub(1);
    let mut breaks = memchr::memchr_iter(b'\n', text.as_bytes());
    let line = before.checked_sub(1).and_then(|last| breaks.nth(last)).map_or(0, |at| at + 1);
    text.floor_char_boundary(line + error.column().saturating_sub(1))
}

fn end_of_line(text: &str, from: usize) -> usize {
    memchr(b'\n', &text.as_bytes()[from..]).map_or(text.len(), |at| from + at)
}
