//! The expressions of settings, packs and gate itself, read as `grep -iE` does: without
//! regard to case, line by line.
//!
//! To compile an expression takes longer than most decisions, so gate compiles
//! one when a text first holds the literals that each of its matches needs.

mod ascii;

use std::borrow::Cow;
use std::ops::Range;
use std::sync::OnceLock;

use regex_automata::Input;
use regex_automata::meta::{BuildError, Regex};
use regex_automata::nfa::thompson::WhichCaptures;
use regex_automata::util::syntax;

use super::literal::{self, Group};
use super::pattern::Matcher;

/// The largest compiled expression, in bytes: more than any list of phrases
/// needs, and little enough that settings cannot exhaust memory.
const MAX_COMPILED_BYTES: usize = 64 << 20;

/// An expression, compiled when a text first needs it.
#[derive(Debug)]
pub(crate) struct Expression {
    source: Cow<'static, str>,
    classes: Classes,
    required: OnceLock<Vec<Group>>,
    /// `None` if it cannot be compiled.
    regex: OnceLock<Option<Regex>>,
}

/// The meaning of `\w`, `\d` and `\s`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Classes {
    /// For gate's own expressions, since Unicode's classes take long to compile.
    Ascii,
    Unicode,
}

impl Classes {
    fn written_out(self, source: &str) -> Cow<'_, str> {
        match self {
            Self::Ascii => Cow::Owned(ascii::with_ascii_classes(source)),
            Self::Unicode => Cow::Borrowed(source),
        }
    }
}

impl Expression {
    /// One of gate's own.
    pub(crate) const fn new(source: &'static str) -> Self {
        Self::with_classes(Cow::Borrowed(source), Classes::Ascii)
    }

    /// One of gate's own, from a pack.
    pub(crate) const fn from_pack(source: String) -> Self {
        Self::with_classes(Cow::Owned(source), Classes::Ascii)
    }

    const fn with_classes(source: Cow<'static, str>, classes: Classes) -> Self {
        Self { source, classes, required: OnceLock::new(), regex: OnceLock::new() }
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
    /// What is wrong with the expression, for a person.
    pub(crate) fn required(&self) -> Result<&[Group], String> {
        if let Some(groups) = self.required.get() {
            return Ok(groups);
        }
        let groups = literal::required(&self.classes.written_out(&self.source))
            .map_err(|error| last_line(&error.to_string()))?;
        Ok(self.required.get_or_init(|| groups))
    }

    pub(crate) fn is_match(&self, text: &str) -> bool {
        self.regex_for(text).is_some_and(|regex| regex.is_match(text))
    }

    /// The leftmost match.
    pub(crate) fn find(&self, text: &str) -> Option<Range<usize>> {
        self.find_from(text, 0)
    }

    /// The leftmost match at or after a byte, in sight of what stands before.
    pub(crate) fn find_from(&self, text: &str, from: usize) -> Option<Range<usize>> {
        let rest = Input::new(text).span(from..text.len());
        self.regex_for(text)?.find(rest).map(|found| found.range())
    }

    /// All matches, one after the other.
    pub(crate) fn find_iter(&self, text: &str) -> impl Iterator<Item = Range<usize>> {
        let regex = self.regex_for(text).into_iter();
        regex.flat_map(move |regex| regex.find_iter(text)).map(|found| found.range())
    }

    /// The compiled expression, if the text holds what its matches need.
    fn regex_for(&self, text: &str) -> Option<&Regex> {
        if !literal::may_match(self.required().unwrap_or_default(), text.as_bytes()) {
            return None;
        }
        self.regex.get_or_init(|| build(&self.source, self.classes).ok()).as_ref()
    }
}

impl From<&Matcher> for Expression {
    fn from(matcher: &Matcher) -> Self {
        Self::with_classes(Cow::Owned(source(matcher)), Classes::Unicode)
    }
}

/// Compiles an expression of settings.
///
/// # Errors
///
/// What is wrong with it, for a person.
pub(crate) fn compile(source: &str) -> Result<Regex, String> {
    build(source, Classes::Unicode)
}

/// The text without what an expression finds in it.
pub(crate) fn without(what: &Expression, text: &str) -> String {
    let mut rest = String::with_capacity(text.len());
    let mut at = 0;
    for found in what.find_iter(text) {
        rest.push_str(&text[at..found.start]);
        at = found.end;
    }
    rest + &text[at..]
}

/// The expression of a matcher.
pub(crate) fn source(matcher: &Matcher) -> String {
    match matcher {
        Matcher::Literal(text) => regex_syntax::escape(text),
        Matcher::Regex(source) => source.clone(),
    }
}

fn build(source: &str, classes: Classes) -> Result<Regex, String> {
    // Its literals were found before, so a prefilter of its own saves nothing.
    let config = Regex::config()
        .auto_prefilter(false)
        .onepass(false)
        .nfa_size_limit(Some(MAX_COMPILED_BYTES))
        .which_captures(WhichCaptures::Implicit);
    Regex::builder()
        .syntax(syntax::Config::new().case_insensitive(true).multi_line(true))
        .configure(config)
        .build(&ascii::with_ascii_boundaries(&classes.written_out(source)))
        .map_err(|error| explain(&error))
}

fn explain(error: &BuildError) -> String {
    match (error.syntax_error(), error.size_limit()) {
        (Some(syntax), _) => last_line(&syntax.to_string()),
        (None, Some(limit)) => format!("too large when compiled, more than {limit} bytes"),
        (None, None) => error.to_string(),
    }
}

/// The parser draws the expression with a mark below; the reason is the last line.
fn last_line(message: &str) -> String {
    let line = message.trim_end().rsplit('\n').next().unwrap_or_default();
    line.trim_start_matches("error: ").to_owned()
}

#[cfg(test)]
mod tests;
