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

/// Texts that say that a check could not be started, or not with these options. Lower case.
const NEVER_RAN: [&str; 24] = [
    "command not found",
    "missing script",
    "to see a list of scripts, run",
    "is not recognized as ",
    "commandnotfoundexception",
    "no module named pytest",
    "no such command: `nextest`",
    "failed to spawn: `",
    "could not determine executable to run",
    "executable file not found",
    "java_home is not set",
    "unable to locate a java runtime",
    "unrecognized arguments: ",
    "unrecognized option",
    "unknown option",
    "unexpected argument '",
    "flag provided but not defined",
    "wrong expression passed to",
    "no test target named",
    "did not match any packages",
    "could not find `cargo.toml`",
    "named files must be .go files",
    "matched no packages",
    "file or directory not found: ",
];

/// Beginnings of lines by which shells and package managers say that a program is not there, and
/// their ends.
const NO_PROGRAM: [(&str, &str); 5] = [
    ("sh: ", ": not found"),
    ("/bin/sh: ", ": not found"),
    ("error command \"", " not found."),
    ("bash: ", ": no such file or directory"),
    ("bash: ", ": permission denied"),
];

/// Lines by which runners say that they ran no test, without marks at their ends: their beginnings.
/// Lower case.
const CHOSE_NOTHING: [&str; 5] = [
    "no tests ran in ",
    "no tests found, exiting with code ",
    "no test files found, exiting with code ",
    "testing: warning: no tests to run",
    "not ok 1 bats-gather-tests",
];

/// A client may say in this text that a command goes on, or how it has ended.
pub(crate) fn is_of_client(text: &str) -> bool {
    has_one(text, BACKGROUND.iter().chain(&ENDED))
}

/// An output says that the check could not be started.
pub(crate) fn never_ran(text: &str) -> bool {
    let is_absent = |line: &str| {
        let line = line.trim().to_ascii_lowercase();
        NO_PROGRAM.iter().any(|(start, end)| line.starts_with(start) && line.ends_with(end))
    };
    has_one(text, &NEVER_RAN) || text.lines().any(is_absent)
}

/// A runner says that it ran no test. `has_tests` if others did run beside that: then only a
/// line counts that takes the place of a test.
pub(crate) fn chose_nothing(text: &str, has_tests: bool) -> bool {
    let lines = text.lines().map(|line| line.trim_matches(|c| c == '=' || c == ' '));
    let mut lines = lines.map(str::to_ascii_lowercase);
    lines.any(|line| {
        let is_said = CHOSE_NOTHING.iter().any(|words| line.starts_with(words));
        let is_deselected = line.split_once(" deselected in ").is_some_and(|(count, time)| {
            [count, time.trim_end_matches('s')].iter().all(|text| text.parse::<f64>().is_ok())
        });
        (is_said || is_deselected) && (!has_tests || line.starts_with("not ok "))
    })
}

/// The count behind a word and a colon: `Passed: 7`.
pub(crate) fn count_behind(line: &str, word: &str) -> Option<u64> {
    let lower = line.to_ascii_lowercase();
    let (start, count) = lower.split_once(word)?;
    let count = count.trim_start_matches('*').strip_prefix(':')?.trim_start_matches(['*', ' ']);
    let end = count.find(|c: char| !c.is_ascii_digit()).unwrap_or(count.len());
    let is_word = !start.ends_with(|c: char| c.is_alphanumeric());
    if is_word { count[..end].parse().ok() } else { None }
}

/// An output may hold a report of tests that failed.
pub(crate) fn may_fail(text: &str) -> bool {
    has_one(text, &MAY_FAIL)
}

/// A text has one of these words, which are in lower case.
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

/// A line without the name of its task or container, which runners of several write before it.
pub(crate) fn without_label(line: &str) -> &str {
    let task = line.strip_prefix('[').and_then(|labelled| labelled.split_once("] "));
    let container = || line.split_once(" | ").map(|(name, text)| (name.trim_end(), text));
    match task.or_else(container) {
        Some((name, text)) if !name.contains([' ', ']']) && !name.is_empty() => text,
        _ => line,
    }
}

/// The number at the beginning of a text.
pub(crate) fn number(text: &str) -> Option<i32> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    text[..end].parse().ok()
}
