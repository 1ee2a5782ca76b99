//! Finds the patterns that may hit a line, by the literals that their matches need.

use std::ops::Range;
use std::sync::OnceLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind, Input};
use memchr::{memchr, memrchr};
use regex_automata::meta::Regex;
use regex_automata::util::syntax;

use crate::decide::literal::is_latin;

/// In fewer bytes, a search that is built fast takes less time than a fast search.
const MIN_SEARCHED_BYTES: usize = 32 << 10;

/// So few literals are searched for with vector instructions, which more of them slow down.
const MAX_FEW_LITERALS: usize = 32;

/// A search for the literals of all patterns, in any case of ASCII letters.
#[derive(Debug)]
pub(super) struct Search {
    literals: Vec<String>,
    /// The pattern that each literal belongs to.
    owners: Vec<usize>,
    /// The first so many literals stand in texts of Latin script.
    latin: usize,
    short_text: OnceLock<Option<AhoCorasick>>,
    /// The same for texts of Latin script alone.
    short_latin_text: OnceLock<Option<AhoCorasick>>,
    long_text: OnceLock<Option<AhoCorasick>>,
    /// Finds the lines of a long text that hold one of few literals.
    line_finder: OnceLock<Option<Regex>>,
}

fn automaton(literals: &[String], kind: AhoCorasickKind) -> Option<AhoCorasick> {
    AhoCorasick::builder().ascii_case_insensitive(true).kind(Some(kind)).build(literals).ok()
}

impl Search {
    /// A search for literals, each with its pattern.
    pub(super) fn new(mut literals: Vec<(String, usize)>) -> Self {
        literals.sort_by_key(|(literal, _)| !is_latin(literal));
        let latin = literals.partition_point(|(literal, _)| is_latin(literal));
        let (literals, owners) = literals.into_iter().unzip();
        Self {
            literals,
            owners,
            latin,
            short_latin_text: OnceLock::new(),
            short_text: OnceLock::new(),
            long_text: OnceLock::new(),
            line_finder: OnceLock::new(),
        }
    }

    /// Each line of a text, without its break, with each pattern of which it holds a literal;
    /// `searched` bytes of the input, with this text, were searched.
    pub(super) fn candidates<'t>(
        &'t self,
        text: &'t str,
        searched: usize,
    ) -> impl Iterator<Item = (Range<usize>, usize)> + 't {
        let is_long = searched >= MIN_SEARCHED_BYTES;
        let automaton = if is_long {
            self.long_text.get_or_init(|| automaton(&self.literals, AhoCorasickKind::DFA))
        } else if is_latin(text) {
            let literals = &self.literals[..self.latin];
            self.short_latin_text
                .get_or_init(|| automaton(literals, AhoCorasickKind::NoncontiguousNFA))
        } else {
            self.short_text
                .get_or_init(|| automaton(&self.literals, AhoCorasickKind::NoncontiguousNFA))
        };
        let parts = automaton.iter().flat_map(move |automaton| {
            self.parts(text, is_long).map(move |part| (automaton, Input::new(text).range(part)))
        });
        let literals = parts.flat_map(|(automaton, part)| automaton.find_overlapping_iter(part));
        let (mut line, mut known) = (0..0, Vec::new());
        literals.filter_map(move |literal| {
            if literal.end() > line.end {
                line = line_around(text.as_bytes(), literal.start());
                known.clear();
            }
            let owner = self.owners[literal.pattern()];
            if known.contains(&owner) {
                return None;
            }
            known.push(owner);
            Some((line.clone(), owner))
        })
    }

    /// The parts of a text that may hold a literal: of a long one its lines with one of few
    /// literals, otherwise all of it.
    fn parts<'t>(&'t self, text: &'t str, is_long: bool) -> impl Iterator<Item = Range<usize>> {
        let is_few = (1..=MAX_FEW_LITERALS).contains(&self.literals.len());
        let finder = if is_long && is_few {
            self.line_finder.get_or_init(|| self.line_finder()).as_ref()
        } else {
            None
        };
        let mut from = 0;
        std::iter::from_fn(move || {
            let rest = (from < text.len()).then_some(from..text.len())?;
            let part = match finder {
                Some(finder) => {
                    let found = finder.find(regex_automata::Input::new(text).range(rest))?;
                    line_around(text.as_bytes(), found.start())
                }
                None => rest,
            };
            from = part.end + 1;
            Some(part)
        })
    }

    fn line_finder(&self) -> Option<Regex> {
        let literals: Vec<_> =
            self.literals.iter().map(|text| regex_syntax::escape(text)).collect();
        Regex::builder()
            .syntax(syntax::Config::new().case_insensitive(true).unicode(false).utf8(false))
            .build(&literals.join("|"))
            .ok()
    }
}

/// The line in which the byte `at` stands.
fn line_around(text: &[u8], at: usize) -> Range<usize> {
    let begin = memrchr(b'\n', &text[..at]).map_or(0, |found| found + 1);
    begin..memchr(b'\n', &text[at..]).map_or(text.len(), |found| at + found)
}
