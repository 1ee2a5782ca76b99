//! Private keys in PEM: whole ones, and parts of keys that were cut.

use std::ops::Range;

use memchr::memmem;

/// The longest label, such as `-----BEGIN OPENSSH PRIVATE KEY-----`.
const MAX_LABEL_BYTES: usize = 40;

/// The longest row of base64.
const MAX_ROW_BYTES: usize = 1_000;

const DASHES: &str = "-----";

pub(super) fn find(text: &str) -> Vec<Range<usize>> {
    let mut keys: Vec<Range<usize>> = Vec::new();
    for label in memmem::find_iter(text.as_bytes(), "PRIVATE KEY") {
        let last_end = keys.last().map_or(0, |key| key.end);
        if label < last_end {
            continue;
        }
        let Some(LabelLine { range, begins_key }) = label_line(text, label) else { continue };
        keys.push(match begins_key {
            true => range.start..key_end(text, range.end),
            false => key_start(text, last_end, range.start.max(last_end))..range.end,
        });
    }
    keys
}

/// A label with the dashes around it, `-----BEGIN PRIVATE KEY-----`.
struct LabelLine {
    range: Range<usize>,
    /// The line begins a key; otherwise it ends one.
    begins_key: bool,
}

/// The line of dashes around the label at this byte.
fn label_line(text: &str, label: usize) -> Option<LabelLine> {
    let window_start = text.floor_char_boundary(label.saturating_sub(MAX_LABEL_BYTES));
    let window_end = text.ceil_char_boundary((label + MAX_LABEL_BYTES).min(text.len()));
    let left = &text[window_start..label];
    let (begin, end) = (left.rfind("-----BEGIN "), left.rfind("-----END "));
    let start = begin.max(end)?;
    let close = label + text[label..window_end].find(DASHES)? + DASHES.len();
    Some(LabelLine { range: window_start + start..close, begins_key: begin > end })
}

/// The end of a key whose first line ends at this byte: the end of its last line or, without
/// a last line, of all that may be a part of a key.
fn key_end(text: &str, start: usize) -> usize {
    let body_length = text[start..].find(|char: char| !is_in_body(char));
    let body_end = body_length.map_or(text.len(), |length| start + length);
    let last_line = text[start..body_end].find("-----END ");
    last_line.and_then(|distance| line_end(text, start + distance)).unwrap_or(body_end)
}

/// The end of the line of dashes that begins at this byte.
fn line_end(text: &str, line_start: usize) -> Option<usize> {
    let start = line_start + DASHES.len();
    let window_end = text.ceil_char_boundary((start + 2 * MAX_LABEL_BYTES).min(text.len()));
    Some(start + text[start..window_end].find(DASHES)? + DASHES.len())
}

/// The start of a key whose first line was cut away: the first row of base64 above its
/// last line, which begins at `end`, and behind the byte `limit`.
fn key_start(text: &str, limit: usize, end: usize) -> usize {
    let mut start = end;
    for row in text[limit..end].split_inclusive('\n').rev() {
        if !is_row(row.trim_end_matches('\n')) {
            break;
        }
        start -= row.len();
    }
    start
}

fn is_row(row: &str) -> bool {
    row.len() <= MAX_ROW_BYTES
        && row.chars().all(|char| char.is_ascii_alphanumeric() || "+/=\\ \t\r".contains(char))
}

/// A character of a key's text: base64, headers, line breaks, also escaped ones.
fn is_in_body(char: char) -> bool {
    char.is_ascii_alphanumeric() || "+/=\\ \t\r\n-:,.()".contains(char)
}
