//! How all expressions of settings, packs and gate itself are read: as
//! `grep -iE` does, without regard to case, line by line.
//!
//! Gate's own and those of the shipped packs are [`prepared`] when gate is
//! built; the others are compiled when a text first asks for them.

mod dialect;
mod prepared;
mod states;
mod table;

use std::borrow::Cow;
use std::ops::Range;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use regex_automata::Input;
use regex_automata::meta::{BuildError, Config, FindMatches, Regex};
use regex_automata::nfa::thompson::WhichCaptures;
use regex_automata::util::syntax;

use super::literal::{self, Group};
use super::pattern::Matcher;
use dialect::Author;
use prepared::Prepared;

/// The largest compiled expression, in bytes: more than any list of phrases
/// needs, and little enough that settings cannot exhaust memory.
const LARGEST: usize = 64 << 20;

/// A text of so many bytes is worth a compiled expression, which skips what
/// cannot match.
const LONG: usize = 64 << 10;

/// After so many bytes that were searched slowly, compiling pays off.
const ENOUGH: usize = 16 << 10;

/// An expression, ready when it is asked.
#[derive(Debug)]
pub(crate) struct Expression {
    source: Cow<'static, str>,
    author: Author,
    key: u64,
    prepared: OnceLock<Option<Prepared>>,
    /// Nothing where it cannot be compiled.
    compiled: OnceLock<Option<Regex>>,
    /// How many bytes were searched slowly.
    searched: AtomicUsize,
}

impl Expression {
    /// One of gate's own, which is asked whether it matches. The build script
    /// looks for this call, followed by a raw string.
    pub(crate) const fn to_match(source: &'static str) -> Self {
        Self::new(Cow::Borrowed(source), dialect::key(source, Author::Gate), Author::Gate)
    }

    /// One of gate's own, which is asked where it matches. The build script
    /// looks for this call, followed by a raw string.
    pub(crate) const fn to_find(source: &'static str) -> Self {
        Self::to_match(source)
    }

    /// The expression of a matcher.
    pub(crate) fn of(matcher: &Matcher) -> Self {
        let source = source(matcher);
        let key = dialect::key(&source, Author::Settings);
        Self::new(Cow::Owned(source), key, Author::Settings)
    }

    const fn new(source: Cow<'static, str>, key: u64, author: Author) -> Self {
        Self {
            source,
            author,
            key,
            prepared: OnceLock::new(),
            compiled: OnceLock::new(),
            searched: AtomicUsize::new(0),
        }
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
    pub(crate) fn required(&self) -> Result<Vec<Group>, String> {
        match self.prepared().and_then(Prepared::groups) {
            Some(groups) => Ok(groups),
            None => literal::required(&self.source).map_err(|error| last_line(&error.to_string())),
        }
    }

    /// Whether the text holds a match.
    pub(crate) fn is_match(&self, text: &str) -> bool {
        match self.prepared_for(text) {
            Some(prepared) => prepared.is_match(text),
            None => self.compiled().is_some_and(|regex| regex.is_match(text)),
        }
    }

    /// How far a text holds no match, where none begins before a byte: nothing
    /// where one is found, and otherwise a place behind the last byte that a match
    /// is looked for at, before which none begins.
    pub(crate) fn none_before(&self, text: &str, from: usize, last: usize) -> Option<usize> {
        match self.prepared_for(text) {
            Some(prepared) => prepared.none_before(text, from, last),
            None => (!self.is_match(text)).then_some(usize::MAX),
        }
    }

    /// The leftmost match.
    pub(crate) fn find(&self, text: &str) -> Option<Range<usize>> {
        self.find_iter(text).next()
    }

    /// The leftmost match at or after a byte, in sight of what stands before.
    pub(crate) fn find_from(&self, text: &str, from: usize) -> Option<Range<usize>> {
        match self.prepared_for(text).filter(|prepared| prepared.finds()) {
            Some(prepared) => prepared.find(text, from),
            None => {
                let rest = Input::new(text).span(from..text.len());
                self.compiled()?.find(rest).map(|found| found.range())
            }
        }
    }

    /// All matches, one after the other.
    pub(crate) fn find_iter<'e, 't>(&'e self, text: &'t str) -> Matches<'e, 't> {
        let prepared = self.prepared_for(text).filter(|prepared| prepared.finds());
        let compiled = || self.compiled().map(|regex| regex.find_iter(Input::new(text)));
        Matches(match prepared {
            Some(prepared) => Way::Prepared(prepared, text, 0),
            None => compiled().map_or(Way::Nowhere, Way::Compiled),
        })
    }

    fn prepared(&self) -> Option<&Prepared> {
        self.prepared.get_or_init(|| Prepared::of(&self.source, self.key)).as_ref()
    }

    /// The prepared form, where it is the faster one for this text.
    fn prepared_for(&self, text: &str) -> Option<&Prepared> {
        if text.len() > LONG {
            return None;
        }
        let prepared = self.prepared()?;
        let fast =
            !prepared.is_slow() || self.searched.fetch_add(text.len(), Ordering::Relaxed) < ENOUGH;
        fast.then_some(prepared)
    }

    fn compiled(&self) -> Option<&Regex> {
        // A compiled search for its texts pays off over long texts alone.
        let long = self.author == Author::Gate;
        let config = Regex::config().auto_prefilter(long).onepass(long);
        self.compiled.get_or_init(|| build(&self.source, self.author, config).ok()).as_ref()
    }
}

/// Where an expression matches in a text.
pub(crate) struct Matches<'e, 't>(Way<'e, 't>);

enum Way<'e, 't> {
    /// By a prepared expression, which matches no empty text; from this byte on.
    Prepared(&'e Prepared, &'t str, usize),
    /// By a compiled one.
    Compiled(FindMatches<'e, 't>),
    /// By one that cannot be compiled: nowhere.
    Nowhere,
}

impl Iterator for Matches<'_, '_> {
    type Item = Range<usize>;

    fn next(&mut self) -> Option<Self::Item> {
        match &mut self.0 {
            Way::Prepared(prepared, text, at) => {
                let found = prepared.find(text, *at)?;
                *at = found.end;
                Some(found)
            }
            Way::Compiled(matches) => matches.next().map(|found| found.range()),
            Way::Nowhere => None,
        }
    }
}

/// Compiles an expression of settings, which is tried on a line at a time.
///
/// # Errors
///
/// What is wrong with it, for a person.
pub(crate) fn compile(source: &str) -> Result<Regex, String> {
    build(source, Author::Settings, Regex::config().auto_prefilter(false).onepass(false))
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

fn build(source: &str, author: Author, config: Config) -> Result<Regex, String> {
    let config = config.nfa_size_limit(Some(LARGEST)).which_captures(WhichCaptures::Implicit);
    Regex::builder()
        .syntax(syntax::Config::new().case_insensitive(true).multi_line(true))
        .configure(config)
        .build(&dialect::written_out(source, author))
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
