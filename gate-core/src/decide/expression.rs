//! The expressions of settings, packs and gate itself, read as `grep -iE` does: without
//! regard to case, line by line.
//!
//! Compiling an expression takes longer than most decisions, so it is compiled when a text
//! first holds the literals that each of its matches needs. An expression that heeds case
//! compiles in half the time: gate's own, which are in lower case, are tried on texts in lower
//! case.

mod ascii;
mod sentence_bound;

use std::borrow::Cow;
use std::ops::Range;
use std::sync::OnceLock;

use regex::{Error, Regex, RegexBuilder};

use super::literal::{self, Group};
use super::pattern::Matcher;

/// The largest compiled expression, in bytes: more than any list of phrases
/// needs, and little enough that settings cannot exhaust memory.
const MAX_COMPILED_BYTES: usize = 64 << 20;

/// An expression, compiled when a text first needs it.
#[derive(Debug)]
pub(crate) struct Expression {
    source: Cow<'static, str>,
    /// In gate's own expressions `\w`, `\d` and `\s` mean ASCII, since Unicode's classes take
    /// long to compile; those of settings mean what they say.
    is_from_settings: bool,
    required: OnceLock<Vec<Group>>,
    /// `None` if it cannot be compiled.
    compiled: OnceLock<Option<Compiled>>,
}

#[derive(Debug)]
struct Compiled {
    regex: Regex,
    /// The regex is tried on a text in lower case.
    is_lower_case: bool,
}

/// A compiled expression and the text that it is tried on.
type Search<'e, 't> = (&'e Regex, Cow<'t, str>);

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
        Self { source, is_from_settings, required: OnceLock::new(), compiled: OnceLock::new() }
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
        let groups = literal::required(&self.with_ascii_classes())
            .map_err(|error| last_line(&error.to_string()))?;
        Ok(self.required.get_or_init(|| groups))
    }

    pub(crate) fn is_match(&self, text: &str) -> bool {
        self.search(text).is_some_and(|(regex, text)| regex.is_match(&text))
    }

    /// The leftmost match.
    pub(crate) fn find(&self, text: &str) -> Option<Range<usize>> {
        self.find_from(text, 0)
    }

    /// The leftmost match at or after a byte. The bytes before it count for anchors and
    /// boundaries.
    pub(crate) fn find_from(&self, text: &str, start: usize) -> Option<Range<usize>> {
        let (regex, text) = self.search(text)?;
        regex.find_at(&text, start).map(|hit| hit.range())
    }

    /// All matches, one after the other, up to the first empty one.
    pub(crate) fn find_iter(&self, text: &str) -> impl Iterator<Item = Range<usize>> {
        let search = self.search(text);
        let mut start = 0;
        std::iter::from_fn(move || {
            let (regex, text) = search.as_ref()?;
            let range = regex.find_at(text, start)?.range();
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

    /// A search of the text, if it may match.
    fn search<'t>(&self, text: &'t str) -> Option<Search<'_, 't>> {
        if !literal::may_match(self.required().unwrap_or_default(), text.as_bytes()) {
            return None;
        }
        let compiled = self.compiled.get_or_init(|| {
            let is_lower_case = !self.is_from_settings && !has_upper_case(&self.source);
            let regex = build(&self.with_ascii_classes(), !is_lower_case).ok()?;
            Some(Compiled { regex, is_lower_case })
        });
        let Compiled { regex, is_lower_case } = compiled.as_ref()?;
        let text = match is_lower_case {
            true => literal::in_lower_case(text),
            false => Cow::Borrowed(text),
        };
        Some((regex, text))
    }

    fn with_ascii_classes(&self) -> Cow<'_, str> {
        match self.is_from_settings {
            false => Cow::Owned(ascii::with_ascii_classes(&self.source)),
            true => Cow::Borrowed(&self.source),
        }
    }
}

/// Compiles an expression of settings.
///
/// # Errors
///
/// The mistake in it, for a person.
pub(crate) fn compile(source: &str) -> Result<Regex, String> {
    build(source, true)
}

fn build(source: &str, is_case_insensitive: bool) -> Result<Regex, String> {
    RegexBuilder::new(&ascii::with_ascii_boundaries(source))
        .case_insensitive(is_case_insensitive)
        .multi_line(true)
        .size_limit(MAX_COMPILED_BYTES)
        .build()
        .map_err(|error| match error {
            Error::CompiledTooBig(limit) => {
                format!("too large when compiled, more than {limit} bytes")
            }
            error => last_line(&error.to_string()),
        })
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
