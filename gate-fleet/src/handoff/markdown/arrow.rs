//! Arrows, and the words behind them that say what came of a command.

/// Signs between a command and its result.
pub(super) const ARROWS: &[&str] = &["->", "→", "=>"];

/// The words that say what came of something, be they the protocol's or not: what is
/// said in another word has not passed either.
const RESULTS: &[&str] = &[
    "pass",
    "passed",
    "passes",
    "passing",
    "ok",
    "green",
    "success",
    "succeeded",
    "fail",
    "failed",
    "fails",
    "failing",
    "failure",
    "failures",
    "error",
    "errors",
    "errored",
    "red",
    "broken",
    "crash",
    "crashed",
    "abort",
    "aborted",
    "timeout",
    "skip",
    "skipped",
    "inconclusive",
];

/// The arrows of a line, in order: what stands before each, and what behind it.
pub(super) fn arrows(line: &str) -> impl Iterator<Item = (&str, &str)> {
    line.char_indices().filter_map(|(at, _)| {
        let after = ARROWS.iter().find_map(|arrow| line[at..].strip_prefix(arrow))?;
        Some((&line[..at], after))
    })
}

/// True if a line begins by saying what came of something, whatever marks stand
/// before the word. The name of a file, such as `errors.txt`, says nothing.
pub(super) fn says_result(line: &str) -> bool {
    let line = line.trim_start_matches(|c: char| !c.is_alphanumeric());
    let (word, rest) = line.split_at(line.find(|c| !is_word(c)).unwrap_or(line.len()));
    let is_file = rest.strip_prefix('.').is_some_and(|rest| rest.starts_with(is_word));
    !is_file && RESULTS.iter().any(|known| word.eq_ignore_ascii_case(known))
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

pub(super) fn has_result(text: &str) -> bool {
    arrows(text).any(|(_, after)| says_result(after))
}
