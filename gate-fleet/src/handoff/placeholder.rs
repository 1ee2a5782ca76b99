//! Texts that say nothing.

/// Words for a text that is still to come.
const LATER: &[&str] = &["tbd", "tba", "todo", "fixme", "xxx"];

/// Words for nothing.
const NONE: &[&str] = &[
    "n/a",
    "na",
    "none",
    "nothing",
    "nobody",
    "no one",
    "unknown",
    "unassigned",
    "not run",
    "not executed",
    "not applicable",
    "skipped",
];

/// True if a text says nothing: it is blank, dots, or the template's own
/// `<objective>`, `{objective}`, `tbd`.
pub(super) fn is_empty(text: &str) -> bool {
    let text = bare(text);
    text.chars().all(|c| matches!(c, '.' | '…' | '-' | '–' | '—' | '_' | '?'))
        || LATER.iter().any(|word| text.eq_ignore_ascii_case(word))
        || is_bracketed(text, '<', '>')
        || is_bracketed(text, '{', '}')
}

pub(super) fn is_none(text: &str) -> bool {
    is_empty(text) || NONE.iter().any(|word| bare(text).eq_ignore_ascii_case(word))
}

/// Without blanks and the marks of code and emphasis around it.
fn bare(text: &str) -> &str {
    text.trim_matches(|c: char| c.is_whitespace() || matches!(c, '`' | '*' | '"'))
}

/// A name between brackets; no address, which Markdown writes in the same way.
fn is_bracketed(text: &str, open: char, close: char) -> bool {
    let inner = text.strip_prefix(open).and_then(|rest| rest.strip_suffix(close));
    inner.is_some_and(|name| !name.contains([open, close, '@', ':', '/', '"']))
}
