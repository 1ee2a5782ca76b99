//! Error lines, by the pack `errors`.

use std::iter;

use super::hint::Hints;
use super::pack::Kind;

/// The longest beginning of a line that is looked at, in bytes.
const MAX_LINE_BYTES: usize = 1000;

/// Texts of which every error line of a tool contains one. Few other lines contain one,
/// although prose often speaks of errors.
static HINTS: Hints = Hints::new(&[
    "rror:",
    "RROR:",
    "rror[",
    "rror]",
    "RROR]",
    "rror [",
    "rror (",
    "ERROR ",
    "npm error ",
    "ERR! ",
    "  error  ",
    "\terror\t",
    ": error ",
    "- error ",
    "Error",
    "use_error>",
    "xception",
    "panicked",
    "panic: ",
    "fatal",
    "Fatal",
    "FATAL",
    "CRITICAL",
    "FAIL",
    " failed:",
    " failed;",
    "ailed to ",
    "not found",
    "o such file",
    "enied",
    "ERR_PNPM",
    "ELIFECYCLE",
    "*** ",
    "not ok ",
    " › ",
    "annot ",
    "ould not ",
    "nable to ",
    "ation fault",
    "Killed",
    "efused",
    "ogged in",
    "nvalid API",
    "redit balance",
    "expired",
    "rejected]",
    "CONFLICT (",
    "status code ",
    "nexpected status",
    "HTTP/",
    "uthentication ",
    "nauthorized",
    "rror TS",
    "E   ",
    "build stopped",
    ".go:",
]);

/// A tool's answer that is one of the client's guards, which an agent gets over in its
/// next call.
pub(super) fn is_guard(answer: &str) -> bool {
    lines(answer).find(|line| !line.trim().is_empty()).is_some_and(|line| Kind::Guard.is_in(line))
}

/// The text's lines that are errors.
pub(super) fn errors(text: &str) -> impl Iterator<Item = &str> {
    hinted_lines(text).map(beginning).filter(|line| is_error(line))
}

/// The text's last line that is neither empty nor harmless: the last line of a tool that failed
/// gives the cause.
pub(super) fn last_cause(text: &str) -> Option<&str> {
    lines(text).rfind(|line| !line.trim().is_empty() && !is_harmless(line))
}

fn is_error(line: &str) -> bool {
    HINTS.are_in(line) && Kind::Error.is_in(line) && !is_harmless(line)
}

fn is_harmless(line: &str) -> bool {
    Kind::Harmless.is_in(line)
}

/// The text's lines that hold a hint.
fn hinted_lines(text: &str) -> impl Iterator<Item = &str> {
    let mut unread = text;
    iter::from_fn(move || {
        let hint = HINTS.find(unread)?;
        let line_break = memchr::memrchr(b'\n', &unread.as_bytes()[..hint]);
        let line_start = line_break.map_or(0, |line_break| line_break + 1);
        let line = unread[line_start..].lines().next()?;
        unread = &unread[line_start + line.len()..];
        Some(line)
    })
}

fn lines(text: &str) -> impl DoubleEndedIterator<Item = &str> {
    text.lines().map(beginning)
}

fn beginning(line: &str) -> &str {
    &line[..line.floor_char_boundary(MAX_LINE_BYTES)]
}
