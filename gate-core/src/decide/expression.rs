//! The expressions of settings, packs and gate itself, read as `grep -iE` does: without
//! regard to case, line by line.
//!
//! Compiling an expression takes longer than most decisions. Gate's own expressions
//! therefore have two engines: `regex-lite`, which compiles in a tenth of the time, for
//! the first few kilobytes, and `regex-automata`, which searches a hundred times as fast.
//! The second one runs only on a text that holds the literals that each match needs.

mod ascii;
mod sentence_bound;

use std::borrow::Cow;
use std::ops::Range;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use memchr::memchr;
use regex_automata::Input;
use regex_automata::meta::{BuildError, Regex};
use regex_automata::nfa::thompson::WhichCaptures;
use regex_automata::util::syntax;

use super::literal::{self, Group};
use super::pattern::Matcher;

/// The largest compiled expression, in bytes: more than any list of phrases
/// needs, and little enough that settings cannot exhaust memory.
const MAX_COMPILED_BYTES: usize = 64 << 20;

/// An expression that is to search more bytes is compiled for speed. Compiling it takes
/// about as long as `regex-lite` takes for them; a long text would take it seconds.
const MAX_LITE_BYTES: usize = 1 << 10;

/// An expression, compiled when a text first needs it.
#[derive(Debug)]
pub(crate) struct Expression {
    source: Cow<'static, str>,
    /// `None` for an expression of settings.
    lite: Option<Lite>,
    required: OnceLock<Vec<Group>>,
    /// `None` if it cannot be compiled.
    regex: OnceLock<Option<Regex>>,
}

/// One of gate's own expressions as long as it has searched little. `\w`, `\d`, `\s` and
/// `\b` mean ASCII in both engines, since Unicode's classes take long to compile.
#[derive(Debug)]
struct Lite {
    searched: AtomicUsize,
    /// For a single line: an expression that begins with `^` gives up after its first byte.
    one_line: OnceLock<Option<LiteRegex>>,
    lines: OnceLock<Option<LiteRegex>>,
}

#[derive(Debug)]
struct LiteRegex {
    regex: regex_lite::Regex,
    /// True if the expression holds no upper case: tried on a text in lower case, it takes
    /// half as long to compile.
    is_lower_case: bool,
}

/// A compiled expression and the text that it is tried on.
enum Search<'e, 't> {
    Lite(&'e regex_lite::Regex, Cow<'t, str>),
    Fast(&'e Regex, &'t str),
}

impl Lite {
    const fn new() -> Self {
        Self { searched: AtomicUsize::new(0), one_line: OnceLock::new(), lines: OnceLock::new() }
    }

    /// A search of the text, unless the expression has searched enough.
    fn search<'t>(&self, source: &str, text: &'t str) -> Option<Search<'_, 't>> {
        let searched = self.searched.fetch_add(text.len(), Ordering::Relaxed);
        if searched.saturating_add(text.len()) > MAX_LITE_BYTES {
            return None;
        }
        let has_lines = memchr(b'\n', text.as_bytes()).is_some();
        let compiled = if has_lines { &self.lines } else { &self.one_line };
        let compiled = compiled.get_or_init(|| LiteRegex::new(source, has_lines)).as_ref()?;
        let text = if compiled.is_lower_case {
            Cow::Owned(text.to_ascii_lowercase())
        } else {
            Cow::Borrowed(text)
        };
        Some(Search::Lite(&compiled.regex, text))
    }
}

impl LiteRegex {
    fn new(source: &str, has_lines: bool) -> Option<Self> {
        let is_lower_case = !has_upper_case(source);
        let mut builder = regex_lite::RegexBuilder::new(source);
        let regex = builder.case_insensitive(!is_lower_case).multi_line(has_lines).build().ok()?;
        Some(Self { regex, is_lower_case })
    }
}

/// True if an expression holds an upper-case letter that is no class such as `\W`.
fn has_upper_case(source: &str) -> bool {
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

impl Search<'_, '_> {
    fn is_match(&self) -> bool {
        match self {
            Self::Lite(regex, text) => regex.is_match(text),
            Self::Fast(regex, text) => regex.is_match(text),
        }
    }

    fn find_from(&self, from: usize) -> Option<Range<usize>> {
        match self {
            Self::Lite(regex, text) => regex.find_at(text, from).map(|found| found.range()),
            Self::Fast(regex, text) => {
                regex.find(Input::new(text).range(from..)).map(|found| found.range())
            }
        }
    }
}

impl Expression {
    /// One of gate's own, in lower case if case does not matter: so it compiles faster.
    pub(crate) const fn new(source: &'static str) -> Self {
        Self::with_lite(Cow::Borrowed(source), Some(Lite::new()))
    }

    /// One of gate's own, from a pack. Each match holds one of the keywords, if there are
    /// any, which are in lower case.
    pub(crate) fn from_pack(source: impl Into<Cow<'static, str>>, keywords: Vec<String>) -> Self {
        let required = OnceLock::new();
        if !keywords.is_empty() {
            required.get_or_init(|| vec![keywords]);
        }
        Self { required, ..Self::with_lite(source.into(), Some(Lite::new())) }
    }

    /// One of the settings.
    pub(crate) fn from_settings(matcher: &Matcher) -> Self {
        Self::with_lite(Cow::Owned(source(matcher)), None)
    }

    const fn with_lite(source: Cow<'static, str>, lite: Option<Lite>) -> Self {
        Self { source, lite, required: OnceLock::new(), regex: OnceLock::new() }
    }

    /// True if it may be tried on each sentence by itself, up to and with one of `.!?`.
    pub(crate) fn is_sentence_bound(&self) -> bool {
        self.lite.is_some() && sentence_bound::is_sentence_bound(&self.source)
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
        let groups = literal::required(&self.with_ascii_classes())
            .map_err(|error| last_line(&error.to_string()))?;
        Ok(self.required.get_or_init(|| groups))
    }

    pub(crate) fn is_match(&self, text: &str) -> bool {
        self.search(text).is_some_and(|search| search.is_match())
    }

    /// The leftmost match.
    pub(crate) fn find(&self, text: &str) -> Option<Range<usize>> {
        self.find_from(text, 0)
    }

    /// The leftmost match at or after a byte, in sight of what stands before.
    pub(crate) fn find_from(&self, text: &str, from: usize) -> Option<Range<usize>> {
        self.search(text)?.find_from(from)
    }

    /// All matches, one after the other, up to the first empty one.
    pub(crate) fn find_iter(&self, text: &str) -> impl Iterator<Item = Range<usize>> {
        let search = self.search(text);
        let mut from = 0;
        std::iter::from_fn(move || {
            let found = search.as_ref()?.find_from(from)?;
            from = found.end;
            (!found.is_empty()).then_some(found)
        })
    }

    /// The text without what is found in it.
    pub(crate) fn without(&self, text: &str) -> String {
        self.without_found(text, text)
    }

    /// The text without what is found in `searched`, the same text in other letters of the
    /// same length.
    pub(crate) fn without_found(&self, text: &str, searched: &str) -> String {
        let mut rest = String::with_capacity(text.len());
        let mut at = 0;
        for found in self.find_iter(searched) {
            rest.push_str(&text[at..found.start]);
            at = found.end;
        }
        rest + &text[at..]
    }

    /// A search of the text, if it may match.
    fn search<'t>(&self, text: &'t str) -> Option<Search<'_, 't>> {
        let required = self.required.get();
        if required.is_some_and(|groups| !literal::may_match(groups, text.as_bytes())) {
            return None;
        }
        if let Some(search) = self.lite.as_ref().and_then(|lite| lite.search(&self.source, text)) {
            return Some(search);
        }
        if !literal::may_match(self.required().unwrap_or_default(), text.as_bytes()) {
            return None;
        }
        let regex = self.regex.get_or_init(|| build(&self.with_ascii_classes()).ok());
        regex.as_ref().map(|regex| Search::Fast(regex, text))
    }

    fn with_ascii_classes(&self) -> Cow<'_, str> {
        match self.lite {
            Some(_) => Cow::Owned(ascii::with_ascii_classes(&self.source)),
            None => Cow::Borrowed(&self.source),
        }
    }
}

/// Compiles an expression of settings.
///
/// # Errors
///
/// What is wrong with it, for a person.
pub(crate) fn compile(source: &str) -> Result<Regex, String> {
    build(source)
}

/// The expression of a matcher.
pub(crate) fn source(matcher: &Matcher) -> String {
    match matcher {
        Matcher::Literal(text) => regex_syntax::escape(text),
        Matcher::Regex(source) => source.clone(),
    }
}

fn build(source: &str) -> Result<Regex, String> {
    // Its literals were found before, so a prefilter of its own saves nothing.
    let config = Regex::config()
        .auto_prefilter(false)
        .onepass(false)
        .nfa_size_limit(Some(MAX_COMPILED_BYTES))
        .which_captures(WhichCaptures::Implicit);
    Regex::builder()
        .syntax(syntax::Config::new().case_insensitive(true).multi_line(true))
        .configure(config)
        .build(&ascii::with_ascii_boundaries(source))
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
