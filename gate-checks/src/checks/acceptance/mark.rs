//! The mark in the box of a list item: `[x]`, `[-]`, `[WIP]`, `[🚧]`.
//!
//! Other programs have marks of their own, and disagree about them: `[-]` is begun for one and
//! cancelled for another. So `[x]` and `[X]` alone are done, and what settings name. Brackets
//! that hold no mark, such as a date, a reference or a label, are no box.

/// The longest mark, in bytes.
const MAX_MARK_BYTES: usize = 40;

/// Words for the state of an item, one a line. Words for a kind of item, such as `NOTE`, `Fixed` or
/// `API`, are labels.
const STATES: &str = include_str!("states.txt");

/// A box at the beginning of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mark<'t> {
    /// The whole box, brackets included.
    pub(super) text: &'t str,
    pub(super) done: bool,
}

impl<'t> Mark<'t> {
    /// The box that a text begins with; `done_marks` are done beside `x` and `X`.
    pub(super) fn at_start(text: &'t str, done_marks: &[String]) -> Option<Self> {
        let (mark, text_after) = text.strip_prefix('[')?.split_once(']')?;
        if mark.len() > MAX_MARK_BYTES || !text_after.chars().next().is_none_or(char::is_whitespace)
        {
            return None;
        }
        let name = bare(mark);
        let is_configured = !name.is_empty() && done_marks.iter().any(|done| bare(done) == name);
        let done = matches!(mark, "x" | "X") || is_configured;
        let text = &text[..mark.len() + 2];
        (done || is_mark(&name)).then_some(Self { text, done })
    }
}

/// A mark in lower case, without spaces around it and without the selector that colours an emoji.
fn bare(mark: &str) -> String {
    mark.trim().replace('\u{fe0f}', "").to_lowercase()
}

/// A mark, bare, and no date, reference or label.
fn is_mark(bare_mark: &str) -> bool {
    let is_percent = |mark: &str| {
        mark.strip_suffix('%').is_some_and(|share| share.chars().all(|char| char.is_ascii_digit()))
    };
    match bare_mark {
        "..." | "…" => false,
        footnote if footnote.starts_with('^') => false,
        number if number.contains(|char: char| char.is_ascii_digit()) => is_percent(number),
        symbol if !symbol.contains(char::is_alphanumeric) => true,
        word => {
            let plain = word.replace(['-', '_'], " ").replace('’', "'");
            word.chars().nth(1).is_none() || STATES.lines().any(|state| state == plain)
        }
    }
}
