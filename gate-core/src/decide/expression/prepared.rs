//! The expressions that the build script has prepared: gate's own and those of
//! the shipped packs.
//!
//! To compile one takes as long as to start a program, and a decision asks for
//! fifty. So the build script turns each into a [`Table`] or, where that would
//! be too large, into [`States`], which are read where they lie: nothing is
//! built at the start. An expression is found by its text, so that nothing has
//! to be named twice, and one that is not found is compiled when it is asked
//! for; what it finds is the same.

use std::ops::Range;

use super::states::States;
use super::table::{Ends, Table};
use crate::decide::literal::Group;

/// All prepared expressions: their number, the index, what they search by, and
/// what the index leads to.
static BYTES: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/prepared.bin"));

/// An entry of the index: the key in eight bytes, the place in four.
const ENTRY: usize = 12;

/// A search in an entry: where it stands, in three numbers of four bytes, and its
/// head.
const SEARCH: usize = 3 * 4 + HEAD;

/// How long the head of a search is, in bytes. Heads stand together, and what is
/// searched by elsewhere: a start of gate looks at many expressions and searches
/// by few, and each page that it touches takes time.
pub(super) const HEAD: usize = 12;

/// A prepared expression.
#[derive(Clone, Copy, Debug)]
pub(super) struct Prepared {
    search: Search,
    /// Where its groups of texts stand.
    groups: usize,
}

#[derive(Clone, Copy, Debug)]
enum Search {
    /// The table, and that of the expression read backwards where matches are
    /// asked for, not only their being there.
    Table(Ends, Option<Table>),
    States(States),
}

impl Prepared {
    /// The prepared form of an expression, if there is one.
    pub(super) fn of(source: &str, key: u64) -> Option<Self> {
        let at = place(key)?;
        let length = number32(BYTES, at)?;
        if slice(BYTES, at + 4, length)? != source.as_bytes() {
            return None;
        }
        let at = at + 4 + length;
        let (search, backwards) = (at + 1, at + 1 + SEARCH);
        let search = match BYTES.get(at)? {
            0 => States::at(parts(search)?.near, head(search)?).map(Search::States)?,
            _ => {
                let ends = Ends::at(parts(search)?, head(search)?)?;
                Search::Table(ends, backwards_table(backwards)?)
            }
        };
        Some(Self { search, groups: backwards + SEARCH })
    }

    /// Whether the text holds a match.
    pub(super) fn is_match(&self, text: &str) -> bool {
        match self.search {
            Search::Table(table, _) => table.first(text.as_bytes(), 0, true).is_some(),
            Search::States(states) => states.find(text.as_bytes(), 0, true).is_some(),
        }
    }

    /// Nothing where a match begins from a byte on, and at the latest with another
    /// one; otherwise a place behind that one before which none begins.
    pub(super) fn none_before(&self, text: &str, from: usize, last: usize) -> Option<usize> {
        match self.search {
            Search::Table(table, _) => table.none_before(text.as_bytes(), from, last),
            Search::States(_) => (!self.is_match(text)).then_some(usize::MAX),
        }
    }

    /// The leftmost match at or after a byte.
    pub(super) fn find(&self, text: &str, from: usize) -> Option<Range<usize>> {
        let text = text.as_bytes();
        match self.search {
            Search::Table(forwards, backwards) => {
                let end = forwards.first(text, from, false)?;
                Some(backwards?.begin(text, from..end)?..end)
            }
            Search::States(states) => states.find(text, from, false),
        }
    }

    /// Whether matches can be found, not only their being there.
    pub(super) fn finds(&self) -> bool {
        matches!(self.search, Search::Table(_, Some(_)) | Search::States(_))
    }

    /// Whether it takes longer than a compiled one.
    pub(super) fn is_slow(&self) -> bool {
        matches!(self.search, Search::States(_))
    }

    /// The texts that its matches must hold.
    pub(super) fn groups(&self) -> Option<Vec<Group>> {
        read_groups(self.groups)
    }
}

fn read_groups(at: usize) -> Option<Vec<Group>> {
    let mut at = at;
    let mut groups = Vec::new();
    for _ in 0..byte(&mut at)? {
        let mut group = Group::new();
        for _ in 0..byte(&mut at)? {
            let length = byte(&mut at)?;
            group.push(str::from_utf8(slice(BYTES, at, length)?).ok()?.into());
            at += length;
        }
        groups.push(group);
    }
    Some(groups)
}

fn byte(at: &mut usize) -> Option<usize> {
    let byte = BYTES.get(*at)?;
    *at += 1;
    Some(usize::from(*byte))
}

/// The table of a search backwards, if there is one.
fn backwards_table(search: usize) -> Option<Option<Table>> {
    match number32(BYTES, search)? {
        0 => Some(None),
        _ => Table::at(parts(search)?, head(search)?).map(Some),
    }
}

/// What is searched by: the beginning, which stands with those of others, and what
/// follows it somewhere else, as most texts never lead there.
#[derive(Clone, Copy, Debug)]
pub(super) struct Parts {
    pub(super) near: &'static [u8],
    pub(super) far: &'static [u8],
}

fn parts(search: usize) -> Option<Parts> {
    let near = slice(BYTES, number32(BYTES, search)?, number32(BYTES, search + 4)?)?;
    Some(Parts { near, far: BYTES.get(number32(BYTES, search + 8)?..)? })
}

fn head(search: usize) -> Option<&'static [u8; HEAD]> {
    slice(BYTES, search + SEARCH - HEAD, HEAD)?.first_chunk()
}

/// Where the expression of a key stands; keys are in order.
fn place(key: u64) -> Option<usize> {
    let index = slice(BYTES, 4, number32(BYTES, 0)? * ENTRY)?;
    let (entries, _) = index.as_chunks::<ENTRY>();
    let found = entries.binary_search_by_key(&key, number64).ok()?;
    number32(&entries[found], 8)
}

/// The sources of all prepared expressions, with their keys.
#[cfg(test)]
pub(super) fn sources() -> Vec<(u64, &'static str)> {
    let index = slice(BYTES, 4, number32(BYTES, 0).unwrap_or(0) * ENTRY).unwrap_or_default();
    let (entries, _) = index.as_chunks::<ENTRY>();
    let source = |entry: &[u8; ENTRY]| {
        let at = number32(entry, 8)?;
        let text = str::from_utf8(slice(BYTES, at + 4, number32(BYTES, at)?)?).ok()?;
        Some((number64(entry), text))
    };
    entries.iter().filter_map(source).collect()
}

fn number64(bytes: &[u8; ENTRY]) -> u64 {
    bytes[..8].iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

fn number32(bytes: &[u8], at: usize) -> Option<usize> {
    let bytes = bytes.get(at..)?.first_chunk::<4>()?;
    usize::try_from(u32::from_le_bytes(*bytes)).ok()
}

/// A number of two bytes.
pub(super) fn number16(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_le_bytes([*bytes.get(at)?, *bytes.get(at + 1)?]))
}

/// So many bytes from one on.
pub(super) fn slice(bytes: &'static [u8], at: usize, length: usize) -> Option<&'static [u8]> {
    bytes.get(at..)?.get(..length)
}
