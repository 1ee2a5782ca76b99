//! The mark in the box of a list item: `[x]`, `[-]`, `[WIP]`, `[🚧]`.
//!
//! Other programs have marks of their own, and disagree about them: `[-]` is begun for one and
//! cancelled for another. So `[x]` and `[X]` alone are done, and what settings name. Brackets
//! that hold no mark, such as a date, a reference or a label, are no box.

/// The longest mark, in bytes.
const MAX_MARK_BYTES: usize = 40;

/// Words for the state of an item, one a line. Words for a kind of item, such as `NOTE`, `Fixed` or `API`, are
/// labels.
const STATES: &str = include_str!("states.txt");

/// A box at the beginning of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mark<'t> {
    /// The whole box, brackets included.
    pub(super) shown: &'t str,
    pub(super) done: bool,
}

impl<'t> Mark<'t> {
    /// The box that a text begins with; `done_marks` are done beside `x` and `X`.
    pub(super) fn at_start(text: &'t str, done_marks: &[String]) -> Option<Self> {
        let inner = text.strip_prefix('[')?;
        let end = inner.find(']').filter(|end| *end <= MAX_MARK_BYTES)?;
        let (shown, inner, rest) = (&text[..end + 2], &inner[..end], &inner[end + 1..]);
        if !rest.chars().next().is_none_or(char::is_whitespace) {
            return None;
        }
        let done = matches!(inner, "x" | "X")
            || (!bare(inner).is_empty()
                && done_marks.iter().any(|known| bare(known) == bare(inner)));
        (done || is_mark(inner)).then_some(Self { shown, done })
    }
}

/// A mark without what surrounds or colours it, in lower case.
fn bare(mark: &str) -> String {
    mark.trim().replace('\u{fe0f}', "").to_lowercase()
}

fn is_mark(inner: &str) -> bool {
    let mark = bare(inner);
    let is_percent = |mark: &str| {
        mark.strip_suffix('%').is_some_and(|share| share.chars().all(|c| c.is_ascii_digit()))
    };
    match mark.as_str() {
        "..." | "…" => false,
        footnote if footnote.starts_with('^') => false,
        number if number.contains(|c: char| c.is_ascii_digit()) => is_percent(number),
        symbol if !symbol.contains(char::is_alphanumeric) => true,
        word => {
            let plain = word.replace(['-', '_'], " ").replace('’', "'");
            word.chars().nth(1).is_none() || STATES.lines().any(|state| state == plain)
        }
    }
}
