//! How all expressions of settings, packs and gate itself are read: as
//! `grep -iE` does, without regard to case, line by line.

use regex_automata::meta::{BuildError, Config, Regex};
use regex_automata::nfa::thompson::WhichCaptures;
use regex_automata::util::syntax;

use super::pattern::Matcher;

/// The largest compiled expression, in bytes: more than any list of phrases
/// needs, and little enough that settings cannot exhaust memory.
const LARGEST: usize = 64 << 20;

/// Compiles an expression that is tried on a line or a sentence at a time.
///
/// # Errors
///
/// What is wrong with it, for a person.
pub(crate) fn compile(source: &str) -> Result<Regex, String> {
    // A compiled search for its texts pays off over long texts alone.
    build(source, Regex::config().auto_prefilter(false).onepass(false))
}

/// Compiles one of gate's own expressions, tried on a line or a sentence at a
/// time. In them `\w`, `\d` and `\s` mean ASCII: Unicode's classes take longer
/// to compile than a decision takes.
#[expect(clippy::expect_used, reason = "the expressions are constants, and the tests use each")]
pub(crate) fn constant(source: &str) -> Regex {
    compile(&with_ascii_classes(source)).expect("a constant expression")
}

/// Compiles one of gate's own expressions that is searched for in a whole
/// message.
#[expect(clippy::expect_used, reason = "the expressions are constants, and the tests use each")]
pub(crate) fn constant_for_messages(source: &str) -> Regex {
    build(&with_ascii_classes(source), Regex::config()).expect("a constant expression")
}

/// The text without what an expression finds in it.
pub(crate) fn without(what: &Regex, text: &str) -> String {
    let mut rest = String::with_capacity(text.len());
    let mut at = 0;
    for found in what.find_iter(text) {
        rest.push_str(&text[at..found.start()]);
        at = found.end();
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

fn build(source: &str, config: Config) -> Result<Regex, String> {
    let config = config.nfa_size_limit(Some(LARGEST)).which_captures(WhichCaptures::Implicit);
    Regex::builder()
        .syntax(syntax::Config::new().case_insensitive(true).multi_line(true))
        .configure(config)
        .build(&with_ascii_boundaries(source))
        .map_err(|error| explain(&error))
}

/// `\b` and `\B` look at ASCII letters alone: with Unicode's they would slow
/// down the search through every text that is not English.
fn with_ascii_boundaries(source: &str) -> String {
    let mut text = String::with_capacity(source.len());
    let mut rest = source.chars();
    while let Some(c) = rest.next() {
        match (c, c == '\\') {
            (_, true) => match rest.next() {
                Some(boundary @ ('b' | 'B')) if !rest.as_str().starts_with('{') => {
                    text.extend(["(?-u:\\", &boundary.to_string(), ")"]);
                }
                Some(other) => text.extend(['\\', other]),
                None => text.push('\\'),
            },
            (c, false) => text.push(c),
        }
    }
    text
}

/// Writes out `\w`, `\W`, `\d` and `\s`, within a class and outside of one.
/// `\W` does not stand within a class.
fn with_ascii_classes(source: &str) -> String {
    let mut text = String::with_capacity(source.len());
    let (mut rest, mut class) = (source.chars(), false);
    while let Some(c) = rest.next() {
        match c {
            '\\' => match (rest.next(), class) {
                (Some('w'), true) => text.push_str("0-9A-Za-z_"),
                (Some('w'), false) => text.push_str("[0-9A-Za-z_]"),
                (Some('W'), false) => text.push_str("[^0-9A-Za-z_]"),
                (Some('d'), true) => text.push_str("0-9"),
                (Some('d'), false) => text.push_str("[0-9]"),
                (Some('s'), true) => text.push_str(r"\t\n\r "),
                (Some('s'), false) => text.push_str(r"[\t\n\r ]"),
                (Some(other), _) => text.extend(['\\', other]),
                (None, _) => text.push('\\'),
            },
            '[' | ']' => {
                class = c == '[';
                text.push(c);
            }
            c => text.push(c),
        }
    }
    text
}

fn explain(error: &BuildError) -> String {
    match (error.syntax_error(), error.size_limit()) {
        (Some(syntax), _) => last_line(&syntax.to_string()),
        (None, Some(limit)) => format!("too large when compiled, more than {limit} bytes"),
        (None, None) => error.to_string(),
    }
}

/// The parser draws the expression with a mark below; the reason is the last line.
pub(crate) fn last_line(message: &str) -> String {
    let line = message.trim_end().rsplit('\n').next().unwrap_or_default();
    line.trim_start_matches("error: ").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boundaries_are_ascii_and_escapes_stay() {
        assert_eq!(with_ascii_boundaries(r"\bdone\b"), r"(?-u:\b)done(?-u:\b)");
        assert_eq!(with_ascii_boundaries(r"\\b\."), r"\\b\.");
        assert!(compile(r"\ball\b.*é").is_ok_and(|regex| regex.is_match("ALL É")));
    }

    #[test]
    fn own_expressions_know_ascii_alone() {
        assert_eq!(
            with_ascii_classes(r"[^\w\n]*\W\d\[\s"),
            r"[^0-9A-Za-z_\n]*[^0-9A-Za-z_][0-9]\[[\t\n\r ]"
        );
        assert!(constant(r"^\w+’s$").is_match("it’s"));
    }

    #[test]
    fn an_error_says_what_is_wrong() {
        assert!(compile("(").is_err_and(|error| error.contains("unclosed group")));
        assert!(compile("(a{999}){999}{999}").is_err_and(|error| error.contains("too large")));
    }
}
