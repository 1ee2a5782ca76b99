//! An expression as a list of states that are followed side by side, for the
//! few whose table would be too large. It is slower than a table and a regex,
//! so it is for lines and sentences.

use std::ops::Range;

use super::prepared::{HEAD, number16};

/// The states within the prepared bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct States {
    /// For each byte, one bit for each kind of byte before it after which a match
    /// can begin with it, and above those, in the upper half, its own kind:
    /// a line break, which nothing is like, a letter, another byte.
    beginnings: &'static [u8; 256],
    /// [`RECORD`] bytes a state; the first one begins.
    records: &'static [u8],
}

/// A state: kind, two bytes that depend on it, nothing, and two states.
const RECORD: usize = 8;

/// The kinds of states; the build script writes them.
mod kind {
    pub(super) const RANGE: u8 = 0;
    pub(super) const SPLIT: u8 = 1;
    pub(super) const LINE_START: u8 = 2;
    pub(super) const LINE_END: u8 = 3;
    pub(super) const BOUNDARY: u8 = 4;
    pub(super) const NO_BOUNDARY: u8 = 5;
    pub(super) const MATCH: u8 = 6;
}

/// What is followed: a state, and where its match began.
type Thread = (u16, usize);

/// What following the states of a text needs beside the threads.
struct Walk<'t> {
    text: &'t [u8],
    stack: Vec<u16>,
    /// For which byte each state was last entered, plus one: a state is
    /// followed once, for the thread that is preferred.
    seen: Vec<u32>,
}

impl States {
    /// The states that some of the prepared bytes hold. Their head is their number.
    pub(super) fn at(bytes: &'static [u8], head: &[u8; HEAD]) -> Option<Self> {
        let count = usize::from(number16(head, 0)?);
        let (beginnings, records) = bytes.split_first_chunk()?;
        Some(Self { beginnings, records: records.get(..count * RECORD)? })
    }

    /// The leftmost match from a byte on; any that ends early, if only its
    /// being there matters.
    pub(super) fn find(&self, text: &[u8], from: usize, earliest: bool) -> Option<Range<usize>> {
        let mut at = self.beginning(text, from)?;
        let seen = vec![0; self.records.len() / RECORD];
        let mut walk = Walk { text, stack: Vec::new(), seen };
        let (mut now, mut next) = (Vec::new(), Vec::new());
        let mut found = None;
        while at <= text.len() {
            if now.is_empty() {
                let Some(begins) = self.beginning(text, at).filter(|_| found.is_none()) else {
                    break;
                };
                at = begins;
            }
            if found.is_none() && self.beginning(&text[..text.len().min(at + 1)], at).is_some() {
                self.enter(&mut now, &mut walk, at, (0, at));
            }
            if let Some(range) = self.step(&now, &mut next, &mut walk, at) {
                found = Some(range);
                if earliest {
                    break;
                }
            }
            std::mem::swap(&mut now, &mut next);
            next.clear();
            at += 1;
        }
        found
    }

    /// Moves all threads over one byte; the match of one ends those after it.
    fn step(
        &self,
        now: &[Thread],
        next: &mut Vec<Thread>,
        walk: &mut Walk<'_>,
        at: usize,
    ) -> Option<Range<usize>> {
        for &(state, begun) in now {
            let record = self.record(state)?;
            if record[0] == kind::MATCH {
                return Some(begun..at);
            }
            if walk.text.get(at).is_some_and(|byte| (record[1]..=record[2]).contains(byte)) {
                self.enter(next, walk, at + 1, (number16(record, 4)?, begun));
            }
        }
        None
    }

    /// Adds a thread, and follows what needs no byte.
    fn enter(&self, list: &mut Vec<Thread>, walk: &mut Walk<'_>, at: usize, thread: Thread) {
        let (state, begun) = thread;
        let mark = u32::try_from(at + 1).unwrap_or(0);
        walk.stack.push(state);
        while let Some(state) = walk.stack.pop() {
            let Some(record) = self.record(state) else { continue };
            if std::mem::replace(&mut walk.seen[usize::from(state)], mark) == mark {
                continue;
            }
            let (one, other) = (number16(record, 4), number16(record, 6));
            match record[0] {
                kind::RANGE | kind::MATCH => list.push((state, begun)),
                kind::SPLIT => walk.stack.extend([other, one].into_iter().flatten()),
                look if holds(look, walk.text, at) => walk.stack.extend(one),
                _ => {}
            }
        }
    }

    fn record(&self, state: u16) -> Option<&'static [u8]> {
        self.records.get(usize::from(state) * RECORD..)?.get(..RECORD)
    }

    /// The first place from a byte on where a match can begin.
    fn beginning(&self, text: &[u8], from: usize) -> Option<usize> {
        let before = from.checked_sub(1).and_then(|at| text.get(at)).unwrap_or(&b'\n');
        let mut kind = self.beginnings[usize::from(*before)] >> 4;
        text.get(from..)?
            .iter()
            .position(|byte| {
                let beginnings = self.beginnings[usize::from(*byte)];
                let begins = beginnings >> kind & 1 != 0;
                kind = beginnings >> 4;
                begins
            })
            .map(|skipped| from + skipped)
    }
}

/// Whether what a state asks of the bytes around it is so.
fn holds(look: u8, text: &[u8], at: usize) -> bool {
    let before = at.checked_sub(1).and_then(|at| text.get(at)).copied();
    let after = text.get(at).copied();
    let word = |byte: Option<u8>| byte.is_some_and(|it| it == b'_' || it.is_ascii_alphanumeric());
    match look {
        kind::LINE_START => before.is_none_or(|byte| byte == b'\n'),
        kind::LINE_END => after.is_none_or(|byte| byte == b'\n'),
        kind::BOUNDARY => word(before) != word(after),
        kind::NO_BOUNDARY => word(before) == word(after),
        _ => false,
    }
}
