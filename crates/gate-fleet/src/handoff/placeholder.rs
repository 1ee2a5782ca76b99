//! Texts without content, in place of an answer.

/// A text without content: blank, dots, or the template's own `<objective>`,
/// `{objective}`, `tbd`.
pub(super) fn is_empty(text: &str) -> bool {
    let text = without_marks(text);
    text.chars().all(|char| matches!(char, '.' | '…' | '-' | '–' | '—' | '_' | '?'))
        || is_deferred(text)
        || is_bracketed(text, '<', '>')
        || is_bracketed(text, '{', '}')
}

/// The words for a text that is still to come.
fn is_deferred(text: &str) -> bool {
    matches!(text.to_ascii_lowercase().as_str(), "tbd" | "tba" | "todo" | "fixme" | "xxx")
}

/// An answer that there is nothing, or a text without content.
pub(super) fn is_none(text: &str) -> bool {
    match without_marks(text).to_ascii_lowercase().as_str() {
        "n/a" | "na" | "none" | "nothing" | "nobody" | "no one" | "unknown" | "unassigned" => true,
        "not run" | "not executed" | "not applicable" | "skipped" => true,
        _ => is_empty(text),
    }
}

/// Words beside `no` or `none` in an answer that there is nothing.
const BESIDE_NONE: &str =
    "known open remaining further identified left new risk risks at this time";

/// A text that answers that there is nothing, which is no placeholder: `none`, `n/a`, `No open
/// risks.`
pub(super) fn answers_nothing(text: &str) -> bool {
    let text = without_marks(text).trim_end_matches(['.', '!']).to_lowercase();
    let mut words = text.split_whitespace();
    match words.next() {
        Some("none" | "no") => {
            words.all(|word| BESIDE_NONE.split(' ').any(|allowed| word == allowed))
        }
        Some("n/a" | "na" | "nil" | "nothing") => words.next().is_none(),
        Some("not") => words.eq(["applicable"]),
        _ => false,
    }
}

/// A text without blanks and the marks of code and emphasis around it.
fn without_marks(text: &str) -> &str {
    text.trim_matches(|char: char| char.is_whitespace() || matches!(char, '`' | '*' | '"'))
}

/// A name between brackets; no address, which Markdown writes in the same way.
fn is_bracketed(text: &str, open: char, close: char) -> bool {
    let name = text.strip_prefix(open).and_then(|text| text.strip_suffix(close));
    name.is_some_and(|name| !name.contains([open, close, '@', ':', '/', '"']))
}
