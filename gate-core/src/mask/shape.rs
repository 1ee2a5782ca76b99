//! Tokens that are known by how they begin.
//!
//! Source: what the services document of their tokens, and the public rules of
//! secret scanners.

mod table;

use std::ops::Range;

use super::Part;
use table::SHAPES;

/// The shortest token of a known shape.
pub(super) const SHORTEST: usize = 12;

/// How much of a token that is cut off is enough to know it.
const CUT: usize = 6;

/// What a token begins with and how it goes on.
struct Shape {
    start: &'static str,
    /// Whether it is told from other words by its beginning alone; else it has to
    /// begin a word.
    anywhere: bool,
    rest: Rest,
    /// How long the rest is at least.
    least: usize,
}

/// What the rest of a token is made of.
#[derive(Clone, Copy)]
enum Rest {
    /// Capital letters and digits.
    Upper,
    /// Letters and digits.
    Plain,
    /// And `_` and `-`.
    Word,
    /// And `.`, `/`, `+`, `=`, `~`, `%`, `|`.
    Open,
}

impl Rest {
    fn takes(self, byte: u8) -> bool {
        TAKEN[usize::from(byte)] & (1 << self as u8) != 0
    }
}

/// For each byte, one bit for each rest that takes it.
static TAKEN: [u8; 256] = {
    let mut taken = [0; 256];
    let mut at: u8 = 0;
    while at < 128 {
        let upper = at.is_ascii_uppercase() || at.is_ascii_digit();
        let word = at.is_ascii_alphanumeric() || matches!(at, b'_' | b'-');
        let open = word || matches!(at, b'.' | b'/' | b'+' | b'=' | b'~' | b'%' | b'|');
        taken[at as usize] = (upper as u8) << Rest::Upper as u8
            | (at.is_ascii_alphanumeric() as u8) << Rest::Plain as u8
            | (word as u8) << Rest::Word as u8
            | (open as u8) << Rest::Open as u8;
        at += 1;
    }
    taken
};

/// A token's beginning that is told from other words.
const fn anywhere(start: &'static str, rest: Rest, least: usize) -> Shape {
    Shape { start, anywhere: true, rest, least }
}

/// A token's beginning that has to begin a word.
const fn word(start: &'static str, rest: Rest, least: usize) -> Shape {
    Shape { start, anywhere: false, rest, least }
}

/// For each first byte, where its shapes begin in the table and how many they are.
static FIRST: [(u8, u8); 128] = index(SHAPES);

const fn index(shapes: &[Shape]) -> [(u8, u8); 128] {
    let mut index = [(0, 0); 128];
    let mut at = shapes.len();
    while at > 0 {
        at -= 1;
        let first = shapes[at].start.as_bytes()[0] as usize;
        index[first] = (at as u8, index[first].1 + 1);
    }
    index
}

/// Where tokens stand.
pub(super) fn find(part: &Part<'_>) -> Vec<Range<usize>> {
    let bytes = part.text.as_bytes();
    let (mut found, mut at) = (Vec::new(), 0);
    while at < bytes.len() {
        if !Rest::Word.takes(bytes[at]) {
            at += 1;
            continue;
        }
        let end = end_of(bytes, at, Rest::Word);
        // Most words are short.
        let ends = if may_hold(bytes, at, end) { in_word(part, at..end, &mut found) } else { end };
        at = ends.max(end);
    }
    found
}

/// Whether a token may begin in a word: it is long, or goes on behind a mark.
fn may_hold(bytes: &[u8], at: usize, end: usize) -> bool {
    end - at >= SHORTEST || bytes.get(end).is_some_and(|byte| matches!(byte, b'.' | b'/' | b' '))
}

/// Looks for tokens that begin in a word, and tells where the last one ends.
fn in_word(part: &Part<'_>, word: Range<usize>, found: &mut Vec<Range<usize>>) -> usize {
    let bytes = part.text.as_bytes();
    let mut at = word.start;
    while at < word.end {
        let begins = match at.checked_sub(1) {
            Some(before) => !bytes[before].is_ascii_alphanumeric() || is_escape(bytes, before),
            None => !part.follows,
        };
        match token(part, at..word.end, begins) {
            Some(end) => {
                found.push(at..end);
                at = end;
            }
            None => at += 1,
        }
    }
    at
}

/// The end of the token that begins here. One that is cut off, by the end of the text
/// or an ellipsis, may be shorter.
fn token(part: &Part<'_>, word: Range<usize>, begins: bool) -> Option<usize> {
    let (bytes, at) = (part.text.as_bytes(), word.start);
    let rest = &bytes[at..];
    let (first, count) = *FIRST.get(usize::from(rest[0]))?;
    let shapes = &SHAPES[usize::from(first)..][..usize::from(count)];
    let ends = shapes.iter().filter(|shape| begins || shape.anywhere).filter_map(|shape| {
        let from = at + rest.starts_with(shape.start.as_bytes()).then_some(shape.start.len())?;
        let end = end_of(bytes, from, shape.rest);
        let is_cut = shape.anywhere && part.is_cut(end);
        (end - from >= if is_cut { CUT } else { shape.least }).then_some(end)
    });
    let end = ends.max().or_else(|| jwt(bytes, &word))?;
    // The rest of the word goes with it, or it might be taken for another token.
    Some(end_of(bytes, end, Rest::Word))
}

/// The end of the JSON web token that begins here: two or three parts, of which the
/// first is an object.
fn jwt(bytes: &[u8], word: &Range<usize>) -> Option<usize> {
    let part = |from: usize| {
        let end = end_of(bytes, from, Rest::Word);
        (end - from >= JWT_PART).then_some(end)
    };
    let dotted = |end: usize| (bytes.get(end) == Some(&b'.')).then_some(end + 1);
    let is_head = bytes[word.start..].starts_with(b"eyJ") && word.len() >= JWT_PART;
    let body = part(dotted(word.end).filter(|_| is_head)?)?;
    Some(dotted(body).map_or(body, |from| end_of(bytes, from, Rest::Word)))
}

/// The shortest part of a JSON web token.
const JWT_PART: usize = 10;

/// Whether a letter is that of an escaped line break or tab.
fn is_escape(bytes: &[u8], at: usize) -> bool {
    matches!(bytes[at], b'n' | b'r' | b't') && at > 0 && bytes[at - 1] == b'\\'
}

/// Where the row of such bytes ends that begins here.
fn end_of(bytes: &[u8], from: usize, rest: Rest) -> usize {
    bytes[from..].iter().position(|byte| !rest.takes(*byte)).map_or(bytes.len(), |end| from + end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_in_order_and_its_index_leads_to_every_shape() {
        assert!(SHAPES.is_sorted_by_key(|shape| shape.start.as_bytes()[0]));
        for (at, shape) in SHAPES.iter().enumerate() {
            let (first, count) = FIRST[usize::from(shape.start.as_bytes()[0])];
            assert!(
                (usize::from(first)..usize::from(first + count)).contains(&at),
                "{}",
                shape.start
            );
            assert!(shape.start.len() + shape.least >= SHORTEST);
        }
    }
}
