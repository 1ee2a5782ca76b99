//! Takes out of a text what only a terminal wants.

use std::borrow::Cow;

use anstream::adapter::strip_str;
use memchr::{memchr, memrchr};

/// The text without terminal escapes (colours, titles, links) and without
/// control characters other than tab and line break; CRLF becomes LF.
///
/// A carriage return within a line stays: it is how terminals redraw a line,
/// and readers of the text take it as a line break that is no line break of
/// the input. An escape ends with its line at the latest, so an unfinished one
/// cannot swallow what follows.
pub(super) fn clean(text: &str) -> Cow<'_, str> {
    if first_unwanted(text.as_bytes()).is_none() {
        return Cow::Borrowed(text);
    }
    let mut clean = String::with_capacity(text.len());
    clean_into(text, &mut clean);
    Cow::Owned(clean)
}

/// Appends the clean text.
pub(super) fn clean_into(text: &str, clean: &mut String) {
    let mut from = 0;
    while let Some(at) = first_unwanted(&text.as_bytes()[from..]) {
        let bytes = text.as_bytes();
        let begin = memrchr(b'\n', &bytes[from..from + at]).map_or(from, |begin| from + begin + 1);
        let end = memchr(b'\n', &bytes[from + at..]).map_or(text.len(), |end| from + at + end + 1);
        clean.push_str(&text[from..begin]);
        clean_line(&text[begin..end], clean);
        from = end;
    }
    clean.push_str(&text[from..]);
}

fn clean_line(line: &str, clean: &mut String) {
    let (line, end) = match line.strip_suffix('\n') {
        Some(line) => (line.strip_suffix('\r').unwrap_or(line), "\n"),
        None => (line, ""),
    };
    if line.bytes().any(|byte| unwanted(byte) && byte != b'\r') {
        for part in strip_str(line) {
            if part.bytes().any(unwanted) {
                clean.extend(
                    part.chars().filter(|c| *c == '\r' || !u8::try_from(*c).is_ok_and(unwanted)),
                );
            } else {
                clean.push_str(part);
            }
        }
    } else {
        clean.push_str(line);
    }
    clean.push_str(end);
}

/// Looks at whole blocks first, which compiles to wide instructions.
fn first_unwanted(bytes: &[u8]) -> Option<usize> {
    let mut blocks = bytes.chunks(BLOCK);
    let block =
        blocks.position(|block| block.iter().fold(false, |any, &byte| any | unwanted(byte)))?;
    let at = block * BLOCK;
    bytes[at..].iter().position(|&byte| unwanted(byte)).map(|found| at + found)
}

const BLOCK: usize = 256;

fn unwanted(byte: u8) -> bool {
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
        ] {
            assert_eq!(clean(dirty), expected, "{dirty:?}");
        }
    }
}
