//! Lays an automaton out as the states that `src/decide/expression/states.rs`
//! follows.

use regex_automata::nfa::thompson::{NFA, State, Transition};
use regex_automata::util::look::Look;
use regex_automata::util::primitives::StateID;

use crate::automaton::HEAD;

/// The kinds of states.
mod kind {
    pub(crate) const RANGE: u8 = 0;
    pub(crate) const SPLIT: u8 = 1;
    pub(crate) const LINE_START: u8 = 2;
    pub(crate) const LINE_END: u8 = 3;
    pub(crate) const BOUNDARY: u8 = 4;
    pub(crate) const NO_BOUNDARY: u8 = 5;
    pub(crate) const MATCH: u8 = 6;
    pub(crate) const FAIL: u8 = 7;
}

/// A state: kind, the first and the last byte of a range, what follows.
type Record = (u8, u8, u8, usize, usize);

/// The states, unless there are too many or one asks for what cannot be told.
pub(crate) fn of(nfa: &NFA) -> Option<Vec<u8>> {
    let mut records = Vec::new();
    // A first state that leads to the automaton's own.
    let shift = |id: StateID| id.as_usize() + 1;
    let begin = shift(nfa.start_anchored());
    records.push((kind::SPLIT, 0, 0, begin, begin));
    records.resize(nfa.states().len() + 1, (kind::FAIL, 0, 0, 0, 0));
    for (at, state) in nfa.states().iter().enumerate() {
        let range = |it: &Transition| (kind::RANGE, it.start, it.end, shift(it.next), 0);
        let goes = |next: StateID, other: StateID| (kind::SPLIT, 0, 0, shift(next), shift(other));
        records[at + 1] = match state {
            State::ByteRange { trans } => range(trans),
            State::Sparse(sparse) => {
                let ranges = sparse.transitions.iter().map(range).collect();
                any(&mut records, ranges)
            }
            State::Look { look, next } => (look_kind(*look)?, 0, 0, shift(*next), 0),
            State::Union { alternates } => {
                let goes = alternates.iter().map(|next| goes(*next, *next)).collect();
                any(&mut records, goes)
            }
            State::BinaryUnion { alt1, alt2 } => goes(*alt1, *alt2),
            State::Capture { next, .. } => goes(*next, *next),
            State::Match { .. } => (kind::MATCH, 0, 0, 0, 0),
            State::Fail => (kind::FAIL, 0, 0, 0, 0),
            State::Dense(_) => return None,
        };
    }
    bytes(&records)
}

/// One state that leads to several, in this order.
fn any(records: &mut Vec<Record>, mut several: Vec<Record>) -> Record {
    let Some(last) = several.pop() else { return (kind::FAIL, 0, 0, 0, 0) };
    several.into_iter().rev().fold(last, |rest, one| {
        records.extend([one, rest]);
        (kind::SPLIT, 0, 0, records.len() - 2, records.len() - 1)
    })
}

fn look_kind(look: Look) -> Option<u8> {
    match look {
        Look::StartLF => Some(kind::LINE_START),
        Look::EndLF => Some(kind::LINE_END),
        Look::WordAscii => Some(kind::BOUNDARY),
        Look::WordAsciiNegate => Some(kind::NO_BOUNDARY),
        _ => None,
    }
}

fn bytes(records: &[Record]) -> Option<Vec<u8>> {
    let mut bytes = u16::try_from(records.len()).ok()?.to_le_bytes().to_vec();
    bytes.resize(HEAD, 0);
    bytes.extend(beginnings(records));
    for (kind, from, to, next, other) in records {
        bytes.extend([*kind, *from, *to, 0]);
        bytes.extend([*next, *other].into_iter().flat_map(|it| (it as u16).to_le_bytes()));
    }
    Some(bytes)
}

/// For each byte, one bit for each kind of byte before it after which a match
/// can begin with it, and above those, in the upper half, its own kind.
fn beginnings(records: &[Record]) -> [u8; 256] {
    std::array::from_fn(|at| {
        let byte = u8::try_from(at).expect("there are so many bytes");
        let before = |before: u8| u8::from(may_begin(records, before, byte)) << before;
        (0..=OTHER).map(before).sum::<u8>() | kind_of(byte) << 4
    })
}

/// The kinds of bytes that a match can begin after: a line break or nothing, a
/// letter, another byte.
const BREAK: u8 = 0;
const WORD: u8 = 1;
const OTHER: u8 = 2;

fn kind_of(byte: u8) -> u8 {
    match byte {
        b'\n' => BREAK,
        b'_' => WORD,
        _ if byte.is_ascii_alphanumeric() => WORD,
        _ => OTHER,
    }
}

/// Whether a match can begin with this byte after one of this kind.
fn may_begin(records: &[Record], before: u8, byte: u8) -> bool {
    let boundary = (before == WORD) != (kind_of(byte) == WORD);
    let (mut seen, mut open) = (vec![false; records.len()], vec![0]);
    while let Some(at) = open.pop() {
        if std::mem::replace(&mut seen[at], true) {
            continue;
        }
        let (kind, from, to, next, other) = records[at];
        match kind {
            kind::RANGE if (from..=to).contains(&byte) => return true,
            kind::SPLIT => open.extend([next, other]),
            kind::LINE_START if before == BREAK => open.push(next),
            kind::LINE_END if byte == b'\n' => open.push(next),
            kind::BOUNDARY if boundary => open.push(next),
            kind::NO_BOUNDARY if !boundary => open.push(next),
            _ => {}
        }
    }
    false
}
