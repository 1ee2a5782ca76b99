//! Takes out of a text what only a terminal wants.

use std::borrow::Cow;

use anstyle_parse::state::{Action, State, state_change};
use memchr::memchr2_iter;

const ESCAPE: u8 = 0x1b;

/// The text without terminal escapes (colours, titles, links) and without
/// control characters other than tab and line break; CRLF becomes LF.
///
/// A carriage return within a line stays: it is how terminals redraw a line,
/// and readers of the text take it as a line break that is no line break of
/// the input. An escape ends with its line at the latest, so an unfinished one
/// cannot swallow what follows.
pub(super) fn clean(text: &str) -> Cow<'_, str> {
    let bytes = text.as_bytes();
    if !any(bytes, is_unwanted) {
        return Cow::Borrowed(text);
    }
    let mut clean = String::with_capacity(text.len());
    let mut uncopied = 0;
    for at in memchr2_iter(ESCAPE, b'\r', bytes) {
        // A carriage return within an escape is a part of it.
        if at >= uncopied {
            clean.push_str(&text[uncopied..at]);
            uncopied = at + unwanted_length(&bytes[at..]);
        }
    }
    clean.push_str(&text[uncopied..]);
    let is_dropped = |byte| is_unwanted(byte) && byte != b'\r';
    if any(clean.as_bytes(), is_dropped) {
        clean.retain(|char| !u8::try_from(char).is_ok_and(is_dropped));
    }
    Cow::Owned(clean)
}

/// The length of the escape that these bytes begin with, or of the carriage return unless it
/// stays.
fn unwanted_length(bytes: &[u8]) -> usize {
    match bytes {
        [b'\r', b'\n', ..] => 1,
        [b'\r', ..] => 0,
        _ => escape_length(bytes),
    }
}

fn escape_length(bytes: &[u8]) -> usize {
    let mut state = State::Ground;
    let end = bytes.iter().position(|&byte| {
        let (next, action) = state_change(state, byte);
        if next != State::Anywhere {
            state = next;
        }
        let is_space = action == Action::Execute && byte.is_ascii_whitespace();
        is_space || byte == b'\n' || matches!(action, Action::Print | Action::BeginUtf8)
    });
    end.unwrap_or(bytes.len())
}

/// Looks at whole blocks, which compiles to wide instructions.
fn any(bytes: &[u8], test: impl Fn(u8) -> bool) -> bool {
    bytes.chunks(256).any(|block| block.iter().fold(false, |found, &byte| found | test(byte)))
}

fn is_unwanted(byte: u8) -> bool {
    (byte < 0x20 && byte != b'\n' && byte != b'\t') || byte == 0x7f
}

#[cfg(test)]
mod tests {
    use super::clean;

    #[test]
    fn takes_out_what_a_terminal_wants() {
        for (dirty, expected) in [
            ("plain\ttext\n", "plain\ttext\n"),
            ("\x1b[96m\x1b[1m| \x1b[0mRead", "| Read"),
            ("done\r\n\x1b]9;4;0;\x07", "done\n"),
            ("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
            ("a\rb\r\n", "a\rb\n"),
            ("a\0b\x08c\x7fd", "abcd"),
            ("\x1b]0;never closed\nEXIT_SIGNAL: false", "\nEXIT_SIGNAL: false"),
            ("ünïcödé \x1b[1m✅\x1b[0m", "ünïcödé ✅"),
            ("\x1b]0;in\ra title\x07b\x08\r\r\n", "b\r\n"),
            ("a\x1b[1\rb\x1b", "a\rb"),
        ] {
            assert_eq!(clean(dirty), expected, "{dirty:?}");
        }
    }
}
