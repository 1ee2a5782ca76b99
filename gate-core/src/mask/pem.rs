//! Private keys in PEM: whole ones, and the rest of one that was cut.

use std::ops::Range;

use memchr::memmem;

/// The longest label, such as `-----BEGIN OPENSSH PRIVATE KEY-----`.
const MAX_LABEL_BYTES: usize = 40;

/// The longest row of base64.
const MAX_ROW_BYTES: usize = 1_000;

const DASHES: &str = "-----";

pub(super) fn find(text: &str) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    for at in memmem::find_iter(text.as_bytes(), "PRIVATE KEY") {
        let before = found.last().map_or(0, |last| last.end);
        if at < before {
            continue;
        }
        let Some((line, begins)) = line(text, at) else { continue };
        found.push(match begins {
            true => line.start..key_end(text, line.end),
            false => key_start(text, before, line.start.max(before))..line.end,
        });
    }
    found
}

/// The whole line of dashes around a label, and true if the line begins a key.
fn line(text: &str, at: usize) -> Option<(Range<usize>, bool)> {
    let from = text.floor_char_boundary(at.saturating_sub(MAX_LABEL_BYTES));
    let to = text.ceil_char_boundary((at + MAX_LABEL_BYTES).min(text.len()));
    let (begin, end) = (text[from..at].rfind("-----BEGIN "), text[from..at].rfind("-----END "));
    let start = begin.max(end)?;
    let close = at + text[at..to].find(DASHES)? + DASHES.len();
    Some((from + start..close, begin > end))
}

/// The end of a key that begins before this byte: the end of its last line or, without
/// one, of all that may be a part of a key.
fn key_end(text: &str, from: usize) -> usize {
    let body = text[from..].find(|c: char| !is_body(c)).map_or(text.len(), |end| from + end);
    let closed = text[from..body].find("-----END ").and_then(|end| line_end(text, from + end));
    closed.unwrap_or(body)
}

fn line_end(text: &str, at: usize) -> Option<usize> {
    let from = at + DASHES.len();
    let to = text.ceil_char_boundary((from + 2 * MAX_LABEL_BYTES).min(text.len()));
    Some(from + text[from..to].find(DASHES)? + DASHES.len())
}

/// The start of a key whose first line was cut away: the first row of base64 above its
/// last line, which begins at `end`.
fn key_start(text: &str, from: usize, end: usize) -> usize {
    let mut start = end;
    for row in text[from..end].split_inclusive('\n').rev() {
        if !is_row(row.trim_end_matches('\n')) {
            break;
        }
        start -= row.len();
    }
    start
}

fn is_row(row: &str) -> bool {
    row.len() <= MAX_ROW_BYTES
        && row.chars().all(|c| c.is_ascii_alphanumeric() || "+/=\\ \t\r".contains(c))
}

/// True for the characters of a key's text: base64, headers, line breaks, also escaped
/// ones.
fn is_body(c: char) -> bool {
    c.is_ascii_alphanumeric() || "+/=\\ \t\r\n-:,.()".contains(c)
}
