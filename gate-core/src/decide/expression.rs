//! The expressions of settings, packs and gate itself, read as `grep -iE` does: without
//! regard to case, line by line.
//!
//! Compiling an expression takes longer than most decisions. So each alternative of gate's own is
//! compiled when a text first holds the literals that each of its matches needs, and at first as an
//! automaton that is built fast and searches slowly. An expression that heeds case compiles in half
//! the time: gate's own, which are in lower case, are tried on texts in lower case.

mod alternative;
mod ascii;
mod sentence_bound;

use std::borrow::Cow;
use std::ops::Range;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use regex_automata::Input;
use regex_automata::meta::{Config, Regex};
use regex_automata::nfa::thompson::WhichCaptures;
use regex_syntax::ParserBuilder;
use regex_syntax::hir::Hir;

use self::alternative::Alternative;
use super::literal::{self, Group};
use super::pattern::Matcher;

/// The largest compiled expression, in bytes: more than any list of phrases
/// needs, and little enough that settings cannot exhaust memory.
const MAX_COMPILED_BYTES: usize = 64 << 20;

/// In fewer bytes than these, a slow search takes less time than a fast one takes to be built.
const MAX_SLOWLY_SEARCHED_BYTES: usize = 16 << 10;

/// An expression, compiled when a text first needs it.
#[derive(Debug)]
pub(crate) struct Expression {
    source: Cow<'static, str>,
    /// In gate's own expressions `\w`, `\d` and `\s` mean ASCII, since Unicode's classes take
    /// long to compile; those of settings mean what they say.
    is_from_settings: bool,
    required: OnceLock<Vec<Group>>,
    /// Empty if the expression cannot be parsed.
    alternatives: OnceLock<Vec<Alternative>>,
    /// The search of long texts. `None` if it cannot be compiled.
    fast_search: OnceLock<Option<Regex>>,
    searched_bytes: AtomicUsize,
}

/// An expression heeds case, or holds an upper-case letter that is no class such
/// as `\W`.
fn has_upper_case(source: &str) -> bool {
    if source.contains("(?-i") {
        return true;
    }
    let mut chars = source.chars();
    while let Some(c) = chars.next() {
        if c == '\\' {
            chars.next();
        } else if c.is_ascii_uppercase() {
            return true;
        }
    }
    false
}

impl Expression {
    /// An expression of gate's own, in lower case if case does not matter: so it compiles faster.
    pub(crate) const fn new(source: &'static str) -> Self {
        Self::from_source(Cow::Borrowed(source), false)
    }

    /// An expression of gate's own, from a pack. Each match holds one of the keywords, if there
    /// are any, which are in lower case.
    pub(crate) fn from_pack(source: impl Into<Cow<'static, str>>, keywords: Vec<String>) -> Self {
        let required = OnceLock::new();
        if !keywords.is_empty() {
            required.get_or_init(|| vec![keywords]);
        }
        Self { required, ..Self::from_source(source.into(), false) }
    }

    /// An expression of the settings.
    pub(crate) fn from_settings(matcher: &Matcher) -> Self {
        Self::from_source(Cow::Owned(source(matcher)), true)
    }

    const fn from_source(source: Cow<'static, str>, is_from_settings: bool) -> Self {
        Self {
            source,
            is_from_settings,
            required: OnceLock::new(),
            alternatives: OnceLock::new(),
            fast_search: OnceLock::new(),
            searched_bytes: AtomicUsize::new(0),
        }
    }

    /// It may be tried on each sentence by itself, up to and with one of `.!?`.
    pub(crate) fn is_sentence_bound(&self) -> bool {
        !self.is_from_settings && sentence_bound::is_sentence_bound(&self.source)
    }

    /// As it is written.
    pub(crate) fn source(&self) -> &str {
        &self.source
    }

    /// The groups of texts that its matches must hold, the one most worth
    /// looking for first.
    ///
    /// # Errors
    ///
    /// The mistake in the expression, for a person.
    pub(crate) fn required(&self) -> Result<&[Group], String> {
        if let Some(groups) = self.required.get() {
            return Ok(groups);
        }
        let tree = self.tree(false)?;
        if self.is_lower_case() {
            self.alternatives.get_or_init(|| Alternative::all(&tree));
        }
        Ok(self.required.get_or_init(|| literal::required(&tree)))
    }

    pub(crate) fn is_match(&self, text: &str) -> bool {
        self.find(text).is_some()
    }

    /// The leftmost match.
    pub(crate) fn find(&self, text: &str) -> Option<Range<usize>> {
        self.find_from(text, 0)
    }

    /// The leftmost match at or after a byte. The bytes before it count for anchors and
    /// boundaries.
    pub(crate) fn find_from(&self, text: &str, start: usize) -> Option<Range<usize>> {
        self.find_in_cased(&self.cased(text)?, start)
    }

    /// All matches, one after the other, up to the first empty one.
    pub(crate) fn find_iter(&self, text: &str) -> impl Iterator<Item = Range<usize>> {
        let text = self.cased(text);
        let mut start = 0;
        std::iter::from_fn(move || {
            let range = self.find_in_cased(text.as_ref()?, start)?;
            start = range.end;
            (!range.is_empty()).then_some(range)
        })
    }

    /// The text without its matches.
    pub(crate) fn without(&self, text: &str) -> String {
        self.without_matches_in(text, text)
    }

    /// The text without the matches in `searched`, the same text in other letters of the same
    /// length.
    pub(crate) fn without_matches_in(&self, text: &str, searched: &str) -> String {
        let mut unmatched = String::with_capacity(text.len());
        let mut copied = 0;
        for found in self.find_iter(searched) {
            unmatched.push_str(&text[copied..found.start]);
            copied = found.end;
        }
        unmatched + &text[copied..]
    }

    /// The text as the expression is tried on it, if it may match.
    fn cased<'t>(&self, text: &'t str) -> Option<Cow<'t, str>> {
        if !literal::may_match(self.required().unwrap_or_default(), text.as_bytes()) {
            return None;
        }
        Some(match self.is_lower_case() {
            true => literal::in_lower_case(text),
            false => Cow::Borrowed(text),
        })
    }

    fn find_in_cased(&self, text: &str, start: usize) -> Option<Range<usize>> {
        let bytes = text.len() - start;
        let searched_bytes = self.searched_bytes.fetch_add(bytes, Ordering::Relaxed) + bytes;
        if searched_bytes > MAX_SLOWLY_SEARCHED_BYTES {
            let fast_search = self.fast_search.get_or_init(|| {
                let tree = self.tree(!self.is_lower_case()).ok()?;
                regex(&tree, Config::new()).ok()
            });
            return find_at(fast_search.as_ref()?, text, start);
        }
        let alternatives =
            self.alternatives.get_or_init(|| match self.tree(!self.is_lower_case()) {
                Ok(tree) if self.is_lower_case() => Alternative::all(&tree),
                // Without regard to case a tree holds no literals.
                Ok(tree) => vec![Alternative::whole(tree)],
                Err(_) => Vec::new(),
            });
        let matches = alternatives.iter().filter_map(|alternative| alternative.find(text, start));
        // Of several at one place the first counts, as in the expression.
        matches.min_by_key(|range| range.start)
    }

    /// The expression is tried on texts in lower case.
    fn is_lower_case(&self) -> bool {
        !self.is_from_settings && !has_upper_case(&self.source)
    }

    fn tree(&self, is_case_insensitive: bool) -> Result<Hir, String> {
        match self.is_from_settings {
            false => tree(&ascii::with_ascii_classes(&self.source), is_case_insensitive),
            true => tree(&self.source, is_case_insensitive),
        }
    }
}

/// Compiles an expression of settings.
///
/// # Errors
///
/// The mistake in it, for a person.
pub(crate) fn compile(source: &str) -> Result<Regex, String> {
    regex(&tree(source, true)?, Config::new())
}

/// The syntax tree of an expression.
///
/// # Errors
///
/// The mistake in it, for a person.
fn tree(source: &str, is_case_insensitive: bool) -> Result<Hir, String> {
    let mut parser = ParserBuilder::new();
    parser.case_insensitive(is_case_insensitive).multi_line(true);
    let parsed = parser.build().parse(&ascii::with_ascii_boundaries(source));
    parsed.map_err(|error| last_line(&error.to_string()))
}

fn regex(tree: &Hir, config: Config) -> Result<Regex, String> {
    let config =
        config.which_captures(WhichCaptures::Implicit).nfa_size_limit(Some(MAX_COMPILED_BYTES));
    Regex::builder().configure(config).build_from_hir(tree).map_err(|error| {
        match error.size_limit() {
            Some(limit) => format!("too large when compiled, more than {limit} bytes"),
            None => last_line(&error.to_string()),
        }
    })
}

fn find_at(regex: &Regex, text: &str, start: usize) -> Option<Range<usize>> {
    regex.find(Input::new(text).range(start..)).map(|hit| hit.range())
}

/// The expression of a matcher.
pub(crate) fn source(matcher: &Matcher) -> String {
    match matcher {
        Matcher::Literal(text) => regex_syntax::escape(text),
        Matcher::Regex(source) => source.clone(),
    }
}

/// The parser draws the expression with a mark below; the reason is the last line.
fn last_line(message: &str) -> String {
    let line = message.trim_end().rsplit('\n').next().unwrap_or_default();
    line.trim_start_matches("error: ").to_owned()
}

#[cfg(test)]
mod tests;
