//! Texts that say nothing.

/// True if a text says nothing: it is blank, dots, or the template's own
/// `<objective>`, `{objective}`, `tbd`.
pub(super) fn is_empty(text: &str) -> bool {
    let text = bare(text);
    text.chars().all(|c| matches!(c, '.' | '…' | '-' | '–' | '—' | '_' | '?'))
        || is_later(text)
        || is_bracketed(text, '<', '>')
        || is_bracketed(text, '{', '}')
}

/// True for the words of a text that is still to come.
fn is_later(text: &str) -> bool {
    matches!(text.to_ascii_lowercase().as_str(), "tbd" | "tba" | "todo" | "fixme" | "xxx")
}

pub(super) fn is_none(text: &str) -> bool {
    match bare(text).to_ascii_lowercase().as_str() {
        "n/a" | "na" | "none" | "nothing" | "nobody" | "no one" | "unknown" | "unassigned" => true,
        "not run" | "not executed" | "not applicable" | "skipped" => true,
        _ => is_empty(text),
    }
}

/// Words beside `no` or `none` in an answer that there is nothing.
const BESIDE_NONE: &str =
    "known open remaining further identified left new risk risks at this time";

/// True if a text answers that there is nothing, which is no placeholder: `none`, `n/a`, `No open
/// risks.`
pub(super) fn answers_nothing(text: &str) -> bool {
    let text = bare(text).trim_end_matches(['.', '!']).to_lowercase();
    let mut words = text.split_whitespace();
    match words.next() {
        Some("none" | "no") => {
            words.all(|word| BESIDE_NONE.split(' ').any(|beside| word == beside))
        }
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
