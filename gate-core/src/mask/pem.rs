//! Private keys in PEM: whole ones, and what is left of one that was cut.

use std::ops::Range;

use memchr::memmem;

/// How long a line's label may be, as in `-----BEGIN OPENSSH PRIVATE KEY-----`.
const LABEL: usize = 40;

/// The longest row of base64, in bytes.
const ROW: usize = 1_000;

const DASHES: &str = "-----";

/// Where private keys stand.
pub(super) fn find(text: &str) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    for at in memmem::find_iter(text.as_bytes(), "PRIVATE KEY") {
        let before = found.last().map_or(0, |last| last.end);
        if at < before {
            continue;
        }
        let Some((line, begins)) = line(text, at) else { continue };
        found.push(match begins {
            true => line.start..end_of(text, line.end),
            false => start_of(text, before, line.start.max(before))..line.end,
        });
    }
    found
}

/// The whole line of dashes around a label, and whether it begins a key.
fn line(text: &str, at: usize) -> Option<(Range<usize>, bool)> {
    let from = text.floor_char_boundary(at.saturating_sub(LABEL));
    let to = text.ceil_char_boundary((at + LABEL).min(text.len()));
    let (begin, end) = (text[from..at].rfind("-----BEGIN "), text[from..at].rfind("-----END "));
    let start = begin.max(end)?;
    let close = at + text[at..to].find(DASHES)? + DASHES.len();
    Some((from + start..close, begin > end))
}

/// Where the key ends that begins before this byte: with its last line, or with the
/// last thing that may be a part of one.
fn end_of(text: &str, from: usize) -> usize {
    let body = text[from..].find(|c: char| !is_body(c)).map_or(text.len(), |end| from + end);
    let closed = text[from..body].find("-----END ").and_then(|end| line_end(text, from + end));
    closed.unwrap_or(body)
}

fn line_end(text: &str, at: usize) -> Option<usize> {
    let from = at + DASHES.len();
    let to = text.ceil_char_boundary((from + 2 * LABEL).min(text.len()));
    Some(from + text[from..to].find(DASHES)? + DASHES.len())
}

/// Where the key begins whose last line is here, and whose first one was cut away:
/// with the first row of base64 above it.
fn start_of(text: &str, from: usize, end: usize) -> usize {
    let is_row = |row: &str| {
        row.len() <= ROW
            && row.chars().all(|c| c.is_ascii_alphanumeric() || "+/=\\ \t\r".contains(c))
    };
    let mut start = end;
    for row in text[from..end].split_inclusive('\n').rev() {
        if !is_row(row.trim_end_matches('\n')) {
            break;
        }
        start -= row.len();
    }
    start
}

/// Whether a character may stand in a key's text: base64, headers, line breaks, also
/// escaped ones.
fn is_body(c: char) -> bool {
    c.is_ascii_alphanumeric() || "+/=\\ \t\r\n-:,.()".contains(c)
}
