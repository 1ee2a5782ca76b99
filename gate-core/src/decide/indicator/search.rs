//! Finds the lines that hold a literal.

use std::ops::Range;
use std::sync::OnceLock;

use memchr::{memchr, memrchr};
use regex_automata::Input;
use regex_automata::meta::Regex;
use regex_automata::util::syntax;

/// In fewer bytes, to try each line takes less time than to prepare the search.
const MIN_SEARCHED_BYTES: usize = 32 << 10;

/// A search for literals in any case of ASCII letters.
#[derive(Debug)]
pub(super) struct Search {
    literals: Vec<String>,
    /// Built when a long text is searched; `None` if it is too large.
    regex: OnceLock<Option<Regex>>,
}

impl Search {
    pub(super) const fn new(literals: Vec<String>) -> Self {
        Self { literals, regex: OnceLock::new() }
    }

    /// The lines of a text, without their breaks, that may hold a literal; `searched`
    /// bytes of the input, with this text, were searched.
    pub(super) fn lines<'t>(
        &'t self,
        text: &'t str,
        searched: usize,
    ) -> impl Iterator<Item = Range<usize>> + 't {
        let is_long = searched >= MIN_SEARCHED_BYTES;
        let regex = if is_long { self.regex.get_or_init(|| self.build()).as_ref() } else { None };
        let end = if self.literals.is_empty() { 0 } else { text.len() };
        let mut from = 0;
        std::iter::from_fn(move || {
            let rest = Input::new(text).range((from < end).then_some(from)?..end);
            let found = match regex {
                Some(regex) => regex.find(rest)?.start(),
                None => from,
            };
            let line = line_around(text.as_bytes(), from, found);
            from = line.end + 1;
            Some(line)
        })
    }

    fn build(&self) -> Option<Regex> {
        let literals: Vec<_> =
            self.literals.iter().map(|text| regex_syntax::escape(text)).collect();
        Regex::builder()
            .syntax(syntax::Config::new().case_insensitive(true).unicode(false).utf8(false))
            .build(&literals.join("|"))
            .ok()
    }
}

/// The line in which the byte `at` stands; it begins at `from` or later.
fn line_around(text: &[u8], from: usize, at: usize) -> Range<usize> {
    let begin = memrchr(b'\n', &text[from..at]).map_or(from, |found| from + found + 1);
    begin..memchr(b'\n', &text[at..]).map_or(text.len(), |found| at + found)
}
