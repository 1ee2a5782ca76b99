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

/// Words beside `no` or `none` in an answer that there is nothing.
const BESIDE_NONE: &[&str] = &[
    "known",
    "open",
    "remaining",
    "further",
    "identified",
    "left",
    "new",
    "risk",
    "risks",
    "at",
    "this",
    "time",
];

/// True if a text answers that there is nothing, which is no placeholder: `none`, `n/a`, `No open
/// risks.`
pub(super) fn answers_nothing(text: &str) -> bool {
    let text = bare(text).trim_end_matches(['.', '!']).to_lowercase();
    let mut words = text.split_whitespace();
    match words.next() {
        Some("none" | "no") => words.all(|word| BESIDE_NONE.contains(&word)),
        Some("n/a" | "na" | "nil" | "nothing") => words.next().is_none(),
        Some("not") => words.eq(["applicable"]),
        _ => false,
    }
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
