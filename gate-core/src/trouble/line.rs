//! Which lines are errors: the pack `errors`.

use std::sync::LazyLock;

use super::hint::Hints;
use super::pack::{self, Patterns};

/// The longest beginning of a line that is looked at, in bytes.
const LONGEST: usize = 1000;

/// Texts, one of which stands in every error line as tools write it, and in
/// little else: prose speaks of errors often.
pub(super) static HINTS: Hints = Hints::new(&[
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

static ERRORS: LazyLock<Errors> = LazyLock::new(|| Errors {
    errors: Patterns::of(&pack::ERRORS, "error"),
    harmless: Patterns::of(&pack::ERRORS, "harmless"),
    guards: Patterns::of(&pack::ERRORS, "guard"),
});

struct Errors {
    errors: Patterns,
    harmless: Patterns,
    guards: Patterns,
}

/// Whether a tool's answer is one of the client's guards, which an agent gets
/// over in its next call.
pub(super) fn is_guard(answer: &str) -> bool {
    lines(answer)
        .find(|line| !line.trim().is_empty())
        .is_some_and(|line| ERRORS.guards.stand_in(line))
}

/// The text's lines that are errors.
pub(super) fn errors(text: &str) -> impl Iterator<Item = &str> {
    lines(text).filter(|line| is_error(line))
}

/// The text's last line that is neither empty nor harmless: what a tool that
/// failed has said last is why.
pub(super) fn last(text: &str) -> Option<&str> {
    lines(text).rfind(|line| !line.trim().is_empty() && !ERRORS.harmless.stand_in(line))
}

fn is_error(line: &str) -> bool {
    HINTS.stand_in(line) && ERRORS.errors.stand_in(line) && !ERRORS.harmless.stand_in(line)
}

fn lines(text: &str) -> impl DoubleEndedIterator<Item = &str> {
    text.lines().map(beginning)
}

fn beginning(line: &str) -> &str {
    &line[..line.floor_char_boundary(LONGEST)]
}
