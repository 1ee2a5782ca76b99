//! Finds the expressions, prepares each, and lays them out as
//! `src/decide/expression/prepared.rs` reads them.

use std::fs;
use std::path::Path;

use toml::Table;

use crate::automaton::{self, HEAD, Prepared};
use crate::dialect::{Author, key, written_out};
use crate::embedded::{Pack, text};
use crate::literal;

/// The calls that an expression of gate's own stands in.
const CALLS: [(&str, Asked); 2] =
    [("Expression::to_match(", Asked::Whether), ("Expression::to_find(", Asked::Where)];

/// What an expression is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Asked {
    /// Whether it matches.
    Whether,
    /// Where it matches.
    Where,
}

/// An expression to be prepared.
#[derive(Clone)]
pub(crate) struct Found {
    source: String,
    author: Author,
    asked: Asked,
}

impl Found {
    /// One that is read as gate's own are.
    pub(crate) fn of_gate(source: String, asked: Asked) -> Self {
        Self { source, author: Author::Gate, asked }
    }
}

/// Gate's own expressions: raw strings in the sources of a folder.
pub(crate) fn own(folder: &Path) -> Vec<Found> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("the sources can be read") {
        let path = entry.expect("it can be read").path();
        if path.is_dir() {
            found.extend(own(&path));
        } else if path.extension().is_some_and(|it| it == "rs") {
            found.extend(in_source(&fs::read_to_string(&path).expect("it can be read")));
        }
    }
    found
}

fn in_source(text: &str) -> Vec<Found> {
    let calls = CALLS.iter().flat_map(|(call, asked)| {
        text.match_indices(call).map(move |(at, _)| (&text[at + call.len()..], *asked))
    });
    let found = calls.map(|(rest, asked)| {
        let raw = rest.trim_start().strip_prefix("r\"").and_then(|rest| rest.split_once('"'));
        let (source, _) = raw.expect("an expression of gate's own is a raw string");
        Found { source: source.to_owned(), author: Author::Gate, asked }
    });
    found.collect()
}

/// The expressions of a pack that settings can name.
pub(crate) fn of_pack(pack: &Pack) -> Vec<Found> {
    found(pack.patterns(), Author::Settings, Asked::Where)
}

/// The expressions of a pack that feeds the breaker.
pub(crate) fn of_breaker(pack: &Pack) -> Vec<Found> {
    let mut all = found(pack.patterns(), Author::Gate, Asked::Whether);
    all.extend(found(pack.rules(), Author::Gate, Asked::Where));
    all
}

fn found<'t>(tables: impl Iterator<Item = &'t Table>, author: Author, asked: Asked) -> Vec<Found> {
    tables.filter_map(source).map(|source| Found { source, author, asked }).collect()
}

/// The expression of a pattern or a rule.
pub(crate) fn source(table: &Table) -> Option<String> {
    let literal = || text(table, "literal").map(regex_syntax::escape);
    text(table, "regex").map(str::to_owned).or_else(literal)
}

/// All expressions, prepared: their number, the index by key, what they search by,
/// and what the index leads to. That is little, and stands together: a start of
/// gate looks at many expressions and searches by few, and each page that it
/// touches takes time.
pub(crate) fn prepare(all: Vec<Found>) -> Vec<u8> {
    let mut entries: Vec<_> =
        all.into_iter().map(|found| (key(&found.source, found.author), found)).collect();
    entries.sort_by_key(|(key, _)| *key);
    entries.dedup_by_key(|(key, _)| *key);
    let ready: Vec<_> = entries
        .into_iter()
        .filter_map(|(key, found)| {
            let text = written_out(&found.source, found.author);
            Some((key, found.source, automaton::prepare(&text, found.asked)?))
        })
        .collect();
    let head = 4 + 12 * ready.len();
    let (searches, places) = lay(ready.iter().map(|(.., prepared)| prepared), head);
    let from = head + searches.len();
    let (mut bytes, mut heads) = (number(ready.len()).to_vec(), Vec::new());
    for ((key, source, prepared), places) in ready.iter().zip(places) {
        bytes.extend(key.to_le_bytes());
        bytes.extend(number(from + heads.len()));
        heads.extend(entry(source, prepared, places));
    }
    [bytes, searches, heads].concat()
}

/// How many bytes of a table stand with the beginnings of the others: its classes,
/// and the states that most texts never get out of.
const NEAR: usize = 4 << 10;

/// Where a search stands: its beginning, how long that is, and what follows it.
#[derive(Clone, Copy, Default)]
struct Places {
    near: usize,
    length: usize,
    far: usize,
}

/// Lays out what is searched by, from a place on, and tells where each stands:
/// the search and that backwards of each expression. The beginnings come first, the
/// shortest before the others, so that many share a page; behind them stands what
/// few texts lead to.
fn lay<'p>(all: impl Iterator<Item = &'p Prepared>, from: usize) -> (Vec<u8>, Vec<[Places; 2]>) {
    let mut places = Vec::new();
    let mut searches = Vec::new();
    for prepared in all {
        let both = [Some(&prepared.search), prepared.backwards.as_ref()];
        let near = if prepared.is_table { NEAR } else { usize::MAX };
        let rests = both.into_iter().enumerate().filter_map(|(which, search)| {
            let rest = &search?[HEAD..];
            let parts = rest.split_at(rest.len().min(near));
            (!rest.is_empty()).then_some((parts, places.len(), which))
        });
        searches.extend(rests);
        places.push([Places::default(); 2]);
    }
    searches.sort_by_key(|((near, far), ..)| (near.len(), far.len()));
    let mut bytes = Vec::new();
    for ((near, _), index, which) in &searches {
        let (near_at, length) = (from + bytes.len(), near.len());
        places[*index][*which] = Places { near: near_at, length, far: 0 };
        bytes.extend(*near);
    }
    for ((_, far), index, which) in searches {
        places[index][which].far = from + bytes.len();
        bytes.extend(far);
    }
    (bytes, places)
}

/// What the index leads to: the source of an expression, where its searches stand,
/// with their heads, and what it is found by.
fn entry(source: &str, prepared: &Prepared, places: [Places; 2]) -> Vec<u8> {
    let mut entry = number(source.len()).to_vec();
    entry.extend(source.as_bytes());
    entry.push(u8::from(prepared.is_table));
    for (search, place) in
        [Some(&prepared.search), prepared.backwards.as_ref()].into_iter().zip(places)
    {
        entry.extend([place.near, place.length, place.far].into_iter().flat_map(number));
        entry.extend(search.map_or(&[0; HEAD][..], |search| &search[..HEAD]));
    }
    entry.extend(groups(source));
    entry
}

/// The texts that matches must hold.
fn groups(source: &str) -> Vec<u8> {
    let groups = literal::required(source).expect("it was compiled");
    let mut bytes = vec![short(groups.len())];
    for group in groups {
        bytes.push(short(group.len()));
        for text in group {
            bytes.push(short(text.len()));
            bytes.extend(text.as_bytes());
        }
    }
    bytes
}

fn short(number: usize) -> u8 {
    u8::try_from(number).expect("texts are short and few")
}

fn number(number: usize) -> [u8; 4] {
    u32::try_from(number).expect("the prepared bytes are few").to_le_bytes()
}
