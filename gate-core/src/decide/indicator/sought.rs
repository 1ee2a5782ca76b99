//! What is still looked for, in texts that need not be read where they do not
//! hold it.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use memchr::{memchr, memchr_iter, memrchr_iter};

use super::Prepared;
use super::search::{LineOf, ONCE, Search, Told, plain_line};
use crate::decide::literal::Needle;
use crate::read::Wanted;

/// The patterns that still look for hits.
#[derive(Debug)]
pub(crate) struct Sought {
    set: Arc<Prepared>,
    /// Which of the set they are.
    open: Vec<bool>,
    /// Prepared when a text is first asked: of many inputs none is.
    search: OnceLock<Search>,
    /// Whether a pattern may match anywhere.
    everywhere: bool,
    /// Whether a text that JSON escapes is among those that are looked for.
    escaped: bool,
    /// Whether a text could be what a client says.
    notice: fn(&[u8]) -> bool,
}

impl Sought {
    /// What these patterns of the set look for, and notices of clients.
    pub(super) fn new(set: &Arc<Prepared>, open: &[bool], notice: fn(&[u8]) -> bool) -> Self {
        let open_ones = || set.patterns.iter().zip(open).filter(|(_, open)| **open);
        let escapes =
            |text: &Needle| text.bytes().any(|byte| b"\"\\".contains(&byte) || byte < b' ');
        Self {
            set: set.clone(),
            open: open.to_vec(),
            search: OnceLock::new(),
            everywhere: set.everywhere.iter().any(|index| open[*index]),
            escaped: open_ones().any(|(one, _)| one.groups.iter().flatten().any(escapes)),
            notice,
        }
    }

    /// The rarest texts of these patterns.
    pub(super) fn search(&self) -> &Search {
        let of_open = |(index, open): (usize, &bool)| {
            if *open { self.set.patterns[index].rarest() } else { &[] }
        };
        let texts = || self.open.iter().enumerate().map(of_open);
        self.search.get_or_init(|| Search::at_length(texts()))
    }

    /// The first text with which its pattern may match.
    fn first(&self, bytes: &[u8], from: usize, line: LineOf, read: Reads) -> Option<usize> {
        self.search().first(bytes, from, line, |place| {
            let (one, line) = (&self.set.patterns[place.owner], &bytes[place.line.clone()]);
            let begin = place.line.start;
            if place.from == begin && !one.may_match(line) {
                return ONCE;
            }
            let none = match read(line) {
                // Behind a place without a match, one begins with a text that is yet
                // to be told, but for letters that are like others in Unicode alone.
                Some(Cow::Borrowed(line)) if line.is_ascii() => {
                    one.expression.none_before(line, place.from - begin, place.at - begin)
                }
                Some(line) => (!one.expression.is_match(&line)).then_some(usize::MAX),
                None => None,
            };
            none.map_or(Told::Enough, |place| Told::Until(place.saturating_add(begin)))
        })
    }
}

impl Wanted for Sought {
    fn may_stand_in(&self, escaped: &[u8]) -> bool {
        if self.everywhere || self.escaped || has_rare_escape(escaped) || (self.notice)(escaped) {
            return true;
        }
        self.first(escaped, 0, escaped_line, unescaped).is_some()
    }

    fn next(&self, plain: &[u8], from: usize) -> Option<usize> {
        if self.everywhere {
            return (from < plain.len()).then_some(from);
        }
        self.first(plain, from, plain_line, as_it_is)
    }
}

/// A control character that JSON does not escape.
const DELETE: u8 = 0x7f;

/// How a line reads; nothing where that cannot be told.
type Reads = for<'l> fn(&'l [u8]) -> Option<Cow<'l, str>>;

fn unescaped(line: &[u8]) -> Option<Cow<'_, str>> {
    let line = line.strip_suffix(b"\\r").unwrap_or(line);
    let line = std::str::from_utf8(line).ok()?;
    if memchr(b'\\', line.as_bytes()).is_none() {
        return Some(Cow::Borrowed(line));
    }
    serde_json::from_str(&format!("\"{line}\"")).ok().map(Cow::Owned)
}

fn as_it_is(line: &[u8]) -> Option<Cow<'_, str>> {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    std::str::from_utf8(line).ok().map(Cow::Borrowed)
}

/// Whether the text is escaped in a way that could hide something in it, or is
/// not escaped as it should be.
fn has_rare_escape(escaped: &[u8]) -> bool {
    // Nearly all texts are plain: all bytes are compared, by wide instructions.
    let odd = |byte: u8| (byte < b' ') | (byte == DELETE);
    let plain = |byte: u8| PLAIN.iter().fold(false, |any, one| any | (byte == *one));
    let pairs = escaped.iter().zip(escaped.get(1..).unwrap_or_default());
    let doubt = pairs
        .fold(false, |any, (before, byte)| any | odd(*byte) | ((*before == b'\\') & !plain(*byte)));
    let doubt = doubt | escaped.first().is_some_and(|byte| odd(*byte));
    if !doubt && escaped.last() != Some(&b'\\') {
        return false;
    }
    if escaped.iter().any(|byte| odd(*byte)) {
        return true;
    }
    let mut at = 0;
    while let Some(found) = memchr(b'\\', &escaped[at..]) {
        match escaped.get(at + found + 1) {
            Some(byte) if PLAIN.contains(byte) => at += found + 2,
            _ => return true,
        }
    }
    false
}

/// What stands behind the backslash of a frequent escape.
const PLAIN: &[u8; 5] = b"ntr\"\\";

/// The line around a byte, or more, of a text that is escaped in JSON.
fn escaped_line(escaped: &[u8], at: usize) -> Range<usize> {
    let breaks =
        |at: &usize| escaped[*at..].starts_with(b"\\n") && !escaped[..*at].ends_with(b"\\");
    let begin = memrchr_iter(b'\\', &escaped[..at]).find(breaks).map_or(0, |found| found + 2);
    let mut after = memchr_iter(b'\\', &escaped[at..]).map(|found| at + found);
    begin..after.find(breaks).unwrap_or(escaped.len())
}

#[cfg(test)]
mod tests {
    use super::super::PatternSet;
    use super::*;
    use crate::Policy;
    use crate::decide::indicator::search::stands_in;

    const WORDS: [&str; 32] = [
        "commit",
        "committed",
        "pushed",
        "closed",
        "issue",
        "tasks",
        "goal",
        "goals",
        "reached",
        "ready",
        "for",
        "to",
        "use",
        "merge",
        "no",
        "nothing",
        "more",
        "other",
        "open",
        "work",
        "left",
        "all",
        "done",
        "tests",
        "pass",
        "is",
        ".",
        ",",
        "`a1b2c3d4`",
        "pu\u{17f}hed",
        "\\\"",
        "\\n",
    ];

    /// Texts are passed over exactly where no line holds a match of a pattern and a
    /// text that it is found by.
    #[test]
    fn what_may_stand_in_a_text_is_a_match() {
        let set = PatternSet::new(&Policy::default().patterns).expect("they are right").0;
        let sought = Sought::new(&set, &vec![true; set.patterns.len()], |_| false);
        let (mut random, mut found) = (1_u64, 0);
        for round in 0..40_000 {
            let words = (0..1 + round % 17).map(|_| {
                random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                WORDS[(random >> 33) as usize % WORDS.len()]
            });
            let text = words.collect::<Vec<_>>().join(if round % 5 == 0 { "" } else { " " });
            let plain: String = serde_json::from_str(&format!("\"{text}\"")).expect("JSON");
            let matches = |line: &str| {
                set.patterns.iter().any(|one| {
                    let stands = |text: &Needle| stands_in(line.as_bytes(), text.as_bytes());
                    one.groups.iter().all(|group| group.iter().any(stands))
                        && one.expression.is_match(line)
                })
            };
            let expected = plain.split('\n').any(matches);
            assert_eq!(sought.may_stand_in(text.as_bytes()), expected, "{text}");
            found += usize::from(expected);
        }
        assert!((4_000..36_000).contains(&found), "{found}");
    }
}
