//! What is still looked for, in texts that need not be read where they do not
//! hold it.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use memchr::{memchr, memchr_iter, memchr2, memrchr, memrchr_iter};

use super::Prepared;
use super::prefilter::Prefilter;
use crate::read::Wanted;

/// The patterns that still look for hits.
#[derive(Debug)]
pub(crate) struct Sought {
    set: Arc<Prepared>,
    rarest: Prefilter,
    /// The pattern that each of the rarest texts belongs to.
    owners: Vec<usize>,
    /// The other groups of texts of each pattern.
    others: Vec<Vec<Vec<String>>>,
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
        let (mut rarest, mut owners) = (Vec::new(), Vec::new());
        let mut others = vec![Vec::new(); open.len()];
        for (index, _) in open.iter().enumerate().filter(|(_, open)| **open) {
            let mut groups = set.groups(index);
            if !groups.is_empty() {
                let first = groups.remove(0);
                owners.extend(first.iter().map(|_| index));
                rarest.extend(first);
                others[index] = groups;
            }
        }
        let escapes =
            |text: &String| text.bytes().any(|byte| b"\"\\".contains(&byte) || byte < b' ');
        let escaped = rarest.iter().chain(others.iter().flatten().flatten()).any(escapes);
        Self {
            set: set.clone(),
            rarest: Prefilter::new(rarest),
            owners,
            others,
            everywhere: set.everywhere.iter().any(|index| open[*index]),
            escaped,
            notice,
        }
    }

    /// Whether the pattern of a text that was found may match in the line; the
    /// line is told as it reads.
    fn may_match(&self, text: usize, line: &[u8], read: Reads) -> bool {
        let pattern = self.owners[text];
        let mut groups = self.others[pattern].iter();
        groups.all(|group| group.iter().any(|text| stands_in(line, text.as_bytes())))
            && read(line).is_none_or(|line| self.set.expression(pattern).is_match(&line))
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

impl Sought {
    /// The first text that was found in whose line its pattern may match. In one
    /// line each pattern is tried once.
    fn first(&self, bytes: &[u8], from: usize, line: LineOf, read: Reads) -> Option<usize> {
        let (mut within, mut tried) = (0..0, Vec::new());
        let first = self.rarest.find(bytes, from, |found, text| {
            if !within.contains(&found) {
                within = line(bytes, found);
                tried.clear();
            }
            let owner = self.owners[text];
            let is_new = !tried.contains(&owner);
            if is_new {
                tried.push(owner);
            }
            is_new && self.may_match(text, &bytes[within.clone()], read)
        });
        first.map(|(found, _)| found)
    }
}

/// The line around a byte.
type LineOf = fn(&[u8], usize) -> Range<usize>;

fn plain_line(plain: &[u8], at: usize) -> Range<usize> {
    let begin = memrchr(b'\n', &plain[..at]).map_or(0, |found| found + 1);
    begin..memchr(b'\n', &plain[at..]).map_or(plain.len(), |found| at + found)
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
    if escaped.iter().fold(false, |any, byte| any | (*byte < b' ')) {
        return true;
    }
    let mut at = 0;
    while let Some(found) = memchr2(b'\\', DELETE, &escaped[at..]) {
        match escaped[at + found..] {
            [b'\\', b'n' | b't' | b'r' | b'"' | b'\\', ..] => at += found + 2,
            _ => return true,
        }
    }
    false
}

/// The line around a byte, or more, of a text that is escaped in JSON.
fn escaped_line(escaped: &[u8], at: usize) -> Range<usize> {
    let breaks =
        |at: &usize| escaped[*at..].starts_with(b"\\n") && !escaped[..*at].ends_with(b"\\");
    let begin = memrchr_iter(b'\\', &escaped[..at]).find(breaks).map_or(0, |found| found + 2);
    let mut after = memchr_iter(b'\\', &escaped[at..]).map(|found| at + found);
    begin..after.find(breaks).unwrap_or(escaped.len())
}

/// Whether a text, in lower case, stands in the line.
fn stands_in(line: &[u8], text: &[u8]) -> bool {
    let Some(first) = text.first() else {
        return true;
    };
    let mut at = 0;
    while let Some(found) = memchr2(*first, first.to_ascii_uppercase(), &line[at..]) {
        let stands = line[at + found..].get(..text.len());
        if stands.is_some_and(|stands| stands.eq_ignore_ascii_case(text)) {
            return true;
        }
        at += found + 1;
    }
    false
}
