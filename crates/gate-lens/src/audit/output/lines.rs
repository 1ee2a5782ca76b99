//! Lines of outputs: what clients write, and what tells a report of failures.

use std::borrow::Cow;

/// Texts of clients that say that a command goes on by itself, up to its name.
pub(crate) const BACKGROUND: [&str; 8] = [
    "running in background with id: ",
    "running in the background with id: ",
    "moved to the background (id: ",
    "with shellid: ",
    "process running with session id ",
    "script running with cell id ",
    "\"session_id\":",
    "session_id=",
];

/// Texts that say how a command in the background has ended, up to its exit code.
pub(crate) const ENDED: [&str; 5] = [
    "process exited with code ",
    "<exit_code>",
    "(exit code ",
    "failed with exit code ",
    "\"exit_code\":",
];

/// Texts of which one is in each report of tests that failed. Lower case.
const MAY_FAIL: [&str; 6] = ["fail", "error", "not ok", "panicked", "✖", "✗"];

/// Texts that say that a check could not be started. Lower case.
const NEVER_RAN: [&str; 5] = [
    "command not found",
    "missing script",
    "to see a list of scripts, run",
    "is not recognized as ",
    "commandnotfoundexception",
];

/// True if a client may say in it that a command goes on, or how it has ended.
pub(crate) fn is_of_client(text: &str) -> bool {
    has_one(text, BACKGROUND.iter().chain(&ENDED))
}

/// True if an output says that the check could not be started.
pub(crate) fn never_ran(text: &str) -> bool {
    has_one(text, &NEVER_RAN)
}

/// True if an output may hold a report of tests that failed.
pub(crate) fn may_fail(text: &str) -> bool {
    has_one(text, &MAY_FAIL)
}

/// True if a text has one of these words, which are in lower case.
fn has_one<'w>(text: &str, words: impl IntoIterator<Item = &'w &'static str>) -> bool {
    let lower = text.to_ascii_lowercase();
    words.into_iter().any(|words| lower.contains(words))
}

/// The part of a line behind these words in lower case.
pub(crate) fn behind<'l>(line: &'l str, words: &str) -> Option<&'l str> {
    let at = line.to_ascii_lowercase().find(words)? + words.len();
    line.get(at..).filter(|rest| !rest.is_empty())
}

/// A line without the sequences by which a terminal shows colours, as they are or as in JSON.
pub(crate) fn without_colours(line: &str) -> Cow<'_, str> {
    let marks = ["\u{1b}[", "\\u001b["];
    if !marks.iter().any(|mark| line.contains(mark)) {
        return Cow::Borrowed(line);
    }
    let mut plain = String::new();
    let mut rest = line;
    while let Some((at, mark)) =
        marks.iter().filter_map(|mark| rest.find(mark).map(|at| (at, mark))).min()
    {
        plain.push_str(&rest[..at]);
        rest = rest[at + mark.len()..]
            .trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, ';' | '?'));
        rest = rest.strip_prefix(|c: char| c.is_ascii_alphabetic()).unwrap_or(rest);
    }
    plain.push_str(rest);
    Cow::Owned(plain)
}

/// A line without the name of its task, which runners of several tasks write before it.
pub(crate) fn without_label(line: &str) -> &str {
    let label = line.strip_prefix('[').and_then(|rest| rest.split_once("] "));
    match label {
        Some((name, rest)) if !name.contains([' ', ']']) => rest,
        _ => line,
    }
}

/// The number at the beginning of a text.
pub(crate) fn number(text: &str) -> Option<i32> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    text[..end].parse().ok()
}
