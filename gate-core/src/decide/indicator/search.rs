//! Finds the patterns that may hit a line, by the literals that their matches need.

use std::ops::Range;
use std::sync::OnceLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind, Input, packed};
use memchr::{memchr, memrchr};

use crate::decide::literal::is_latin;

/// In fewer bytes than these, a search that is built fast takes less time than a fast search.
const MIN_SEARCHED_BYTES: usize = 32 << 10;

/// A search for the literals of all patterns, which are in lower case, in texts in lower case.
#[derive(Debug)]
pub(super) struct LiteralSearch {
    /// Those of Latin script first.
    literals: Vec<String>,
    /// The pattern that each literal belongs to.
    owners: Vec<usize>,
    /// The number of literals of Latin script.
    latin_count: usize,
    short_text: OnceLock<Option<AhoCorasick>>,
    /// The automaton for texts of Latin script alone, which is built faster.
    short_latin_text: OnceLock<Option<AhoCorasick>>,
    long_text: OnceLock<Option<AhoCorasick>>,
    /// Finds one of few literals with vector instructions.
    vector_search: OnceLock<Option<packed::Searcher>>,
}

/// A line that holds a literal of a pattern.
pub(super) struct LineCandidate {
    /// The bytes of the line, without its break.
    pub(super) line: Range<usize>,
    /// The pattern's index.
    pub(super) pattern: usize,
}

fn automaton(literals: &[String], kind: AhoCorasickKind) -> Option<AhoCorasick> {
    AhoCorasick::builder().kind(Some(kind)).build(literals).ok()
}

impl LiteralSearch {
    /// A search for literals, each with its pattern.
    pub(super) fn new(mut literals: Vec<(String, usize)>) -> Self {
        literals.sort_by_key(|(literal, _)| !is_latin(literal));
        let latin_count = literals.partition_point(|(literal, _)| is_latin(literal));
        let (literals, owners) = literals.into_iter().unzip();
        Self {
            literals,
            owners,
            latin_count,
            short_latin_text: OnceLock::new(),
            short_text: OnceLock::new(),
            long_text: OnceLock::new(),
            vector_search: OnceLock::new(),
        }
    }

    /// Each line of a text with each pattern of which it holds a literal. `searched_bytes` of the
    /// input, with this text, were searched: a long input repays an automaton that is slow to
    /// build. `lower` takes the text in lower case.
    pub(super) fn candidates<'t>(
        &'t self,
        text: &str,
        lower: &'t mut Vec<u8>,
        searched_bytes: usize,
    ) -> impl Iterator<Item = LineCandidate> + use<'t> {
        let is_long = searched_bytes >= MIN_SEARCHED_BYTES;
        let automaton = if is_long {
            self.long_text.get_or_init(|| automaton(&self.literals, AhoCorasickKind::DFA))
        } else if is_latin(text) {
            let literals = &self.literals[..self.latin_count];
            self.short_latin_text
                .get_or_init(|| automaton(literals, AhoCorasickKind::NoncontiguousNFA))
        } else {
            self.short_text
                .get_or_init(|| automaton(&self.literals, AhoCorasickKind::NoncontiguousNFA))
        };
        lower.clear();
        lower.extend(text.as_bytes().iter().map(u8::to_ascii_lowercase));
        let lower: &[u8] = lower;
        let parts = automaton.iter().flat_map(move |automaton| {
            self.parts(lower, is_long).map(move |part| (automaton, Input::new(lower).range(part)))
        });
        let literals = parts.flat_map(|(automaton, part)| automaton.find_overlapping_iter(part));
        let (mut line, mut line_patterns) = (0..0, Vec::new());
        literals.filter_map(move |literal| {
            if literal.end() > line.end {
                line = line_around(lower, literal.start());
                line_patterns.clear();
            }
            let pattern = self.owners[literal.pattern()];
            if line_patterns.contains(&pattern) {
                return None;
            }
            line_patterns.push(pattern);
            Some(LineCandidate { line: line.clone(), pattern })
        })
    }

    /// The parts of a text that may hold a literal: of a long one its lines with one of few
    /// literals, otherwise all of it.
    fn parts<'t>(&'t self, lower: &'t [u8], is_long: bool) -> impl Iterator<Item = Range<usize>> {
        let build = || packed::Builder::new().extend(&self.literals).build();
        let vector_search =
            if is_long { self.vector_search.get_or_init(build).as_ref() } else { None };
        let mut start = 0;
        std::iter::from_fn(move || {
            let remaining = (start < lower.len()).then_some(start..lower.len())?;
            let part = match vector_search {
                Some(search) => {
                    let literal = search.find_in(lower, remaining.into())?;
                    line_around(lower, literal.start())
                }
                None => remaining,
            };
            start = part.end + 1;
            Some(part)
        })
    }
}

/// The line in which a byte stands, without its break.
fn line_around(text: &[u8], offset: usize) -> Range<usize> {
    let start = memrchr(b'\n', &text[..offset]).map_or(0, |line_break| line_break + 1);
    start..memchr(b'\n', &text[offset..]).map_or(text.len(), |length| offset + length)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn search(literals: &[&str]) -> LiteralSearch {
        LiteralSearch::new(literals.iter().map(|literal| ((*literal).to_owned(), 0)).collect())
    }

    #[track_caller]
    fn check(search: &LiteralSearch, text: &str, searched: usize, expected: &[(usize, usize)]) {
        let mut lower = Vec::new();
        let candidates = search.candidates(text, &mut lower, searched);
        let lines: Vec<_> =
            candidates.map(|candidate| (candidate.line.start, candidate.line.end)).collect();
        assert_eq!(lines, expected, "{text:?} after {searched} bytes");
    }

    #[test]
    fn a_line_is_given_once_for_each_pattern_whatever_it_holds_of_it() {
        let search = search(&["work", "done"]);
        for searched in [0, MIN_SEARCHED_BYTES] {
            check(&search, "work done\nno\nDONE, work", searched, &[(0, 9), (13, 23)]);
            check(&search, "\nwork", searched, &[(1, 5)]);
            check(&search, "done\n", searched, &[(0, 4)]);
            check(&search, "", searched, &[]);
        }
    }

    #[test]
    fn a_fast_search_is_built_only_where_much_is_searched() {
        let search = search(&["work", "done"]);
        for (searched, is_built) in [(MIN_SEARCHED_BYTES - 1, false), (MIN_SEARCHED_BYTES, true)] {
            check(&search, "all done", searched, &[(0, 8)]);
            assert_eq!(search.long_text.get().is_some(), is_built);
        }
    }

    #[test]
    fn a_literal_that_begins_with_a_break_stops_no_search() {
        let search = search(&["\ndone"]);
        assert_eq!(search.parts(b"all\ndone", true).take(3).count(), 1);
    }

    #[test]
    fn a_line_has_no_break() {
        for (at, line) in [(0, 0..2), (2, 0..2), (3, 3..5), (4, 3..5), (6, 6..8)] {
            assert_eq!(line_around(b"ab\ncd\nef", at), line, "{at}");
        }
        assert_eq!(line_around(b"\nx", 1), 1..2);
    }
}
