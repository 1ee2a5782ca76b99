//! Finds the patterns that may hit a line, by the literals that their matches need.

use std::ops::Range;
use std::sync::OnceLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind};
use memchr::{memchr, memrchr};

/// In fewer bytes, a search that is built fast takes less time than a fast search.
const MIN_SEARCHED_BYTES: usize = 32 << 10;

/// A search for the literals of all patterns, in any case of ASCII letters.
#[derive(Debug)]
pub(super) struct Search {
    literals: Vec<String>,
    /// The pattern that each literal belongs to.
    owners: Vec<usize>,
    small: OnceLock<Option<AhoCorasick>>,
    fast: OnceLock<Option<AhoCorasick>>,
}

impl Search {
    /// A search for literals, each with its pattern.
    pub(super) fn new(literals: Vec<(String, usize)>) -> Self {
        let (literals, owners) = literals.into_iter().unzip();
        Self { literals, owners, small: OnceLock::new(), fast: OnceLock::new() }
    }

    /// Each line of a text, without its break, with each pattern of which it holds a literal;
    /// `searched` bytes of the input, with this text, were searched.
    pub(super) fn candidates<'t>(
        &'t self,
        text: &'t str,
        searched: usize,
    ) -> impl Iterator<Item = (Range<usize>, usize)> + 't {
        let automaton = if searched < MIN_SEARCHED_BYTES {
            self.small.get_or_init(|| self.build(AhoCorasickKind::NoncontiguousNFA))
        } else {
            self.fast.get_or_init(|| self.build(AhoCorasickKind::DFA))
        };
        let literals = automaton.iter().flat_map(move |one| one.find_overlapping_iter(text));
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

    fn build(&self, kind: AhoCorasickKind) -> Option<AhoCorasick> {
        let mut builder = AhoCorasick::builder();
        builder.ascii_case_insensitive(true).kind(Some(kind)).build(&self.literals).ok()
    }
}

/// The line in which the byte `at` stands.
fn line_around(text: &[u8], at: usize) -> Range<usize> {
    let begin = memrchr(b'\n', &text[..at]).map_or(0, |found| found + 1);
    begin..memchr(b'\n', &text[at..]).map_or(text.len(), |found| at + found)
}
