//! What agents say and what their tools print, made up.

use crate::random::Random;

/// Words of prose, the common ones first.
const WORDS: [&str; 72] = [
    "the",
    "a",
    "to",
    "and",
    "of",
    "in",
    "is",
    "it",
    "this",
    "that",
    "for",
    "with",
    "on",
    "now",
    "so",
    "we",
    "not",
    "as",
    "by",
    "from",
    "test",
    "file",
    "function",
    "module",
    "line",
    "value",
    "error",
    "check",
    "next",
    "which",
    "reads",
    "returns",
    "call",
    "case",
    "there",
    "then",
    "path",
    "name",
    "type",
    "list",
    "parser",
    "handler",
    "server",
    "client",
    "before",
    "after",
    "because",
    "where",
    "instead",
    "branch",
    "cache",
    "query",
    "index",
    "table",
    "request",
    "response",
    "timeout",
    "config",
    "option",
    "default",
    "missing",
    "empty",
    "first",
    "second",
    "another",
    "refactor",
    "rename",
    "signature",
    "fixture",
    "coverage",
    "build",
    "warning",
];

/// Words of the phrases that patterns look for, alone in other sentences: they
/// are near misses, one in thirty words.
const NEAR: [&str; 16] = [
    "implementation",
    "implemented",
    "tasks",
    "task",
    "all",
    "complete",
    "completed",
    "finished",
    "ready",
    "review",
    "remaining",
    "work",
    "criteria",
    "acceptance",
    "done",
    "passing",
];

/// What the seed's six patterns hit, each in turn.
const PHRASES: [&str; 6] = [
    "<promise>COMPLETE</promise>",
    "All the tasks of the plan are completed.",
    "The implementation of the reader is finished.",
    "I think that the branch is ready for review.",
    "That leaves no remaining work here.",
    "All acceptance criteria of the story are met.",
];

/// How a transcript ends: done, in two ways.
pub(crate) const DONE: &str = "\
All acceptance criteria are met, and nothing is left to do.

EXIT_STATUS: COMPLETE
EXIT_REASON: every story is done and tested
REMAINING_WORK: none

<promise>COMPLETE</promise>
";

const NAMES: [&str; 12] = [
    "read_header",
    "Session",
    "open_store",
    "next_frame",
    "retry",
    "UserTable",
    "flush",
    "to_json",
    "spawn_worker",
    "render",
    "Ledger",
    "parse_args",
];

/// Files that tools are called with.
pub(crate) const FILES: [&str; 8] = [
    "src/main.rs",
    "src/store/mod.rs",
    "web/app/table.tsx",
    "api/server.py",
    "tests/login.rs",
    "docs/plan.md",
    "package.json",
    "Makefile",
];

/// The agent's prose, of about so many bytes, in paragraphs.
pub(crate) fn prose(random: &mut Random, bytes: usize) -> String {
    let mut text = String::with_capacity(bytes + 200);
    while text.len() < bytes {
        sentence(random, &mut text);
        text.push_str(if random.below(5) == 0 { ".\n\n" } else { ". " });
    }
    text
}

/// The phrase that one of the seed's patterns hits.
pub(crate) fn phrase(turn: usize) -> &'static str {
    PHRASES[turn % PHRASES.len()]
}

fn sentence(random: &mut Random, text: &mut String) {
    for at in 0..6 + random.below(14) {
        let near = random.below(30) == 0;
        let word = if near { random.one(&NEAR) } else { random.common(&WORDS) };
        text.push_str(if at == 0 { "" } else { " " });
        match random.below(40) {
            0 => *text += &format!("`{}`", random.one(&NAMES)),
            1 => text.push_str(random.one(&FILES)),
            _ => text.push_str(word),
        }
    }
}

/// What a tool prints, of about so many bytes: a file with numbers, tests, a
/// search, a log.
pub(crate) fn printed(random: &mut Random, bytes: usize) -> String {
    let mut text = String::with_capacity(bytes + 200);
    let (kind, mut number) = (random.below(4), random.below(400));
    while text.len() < bytes {
        number += 1;
        match kind {
            0 => text += &format!("{number:>6}\u{2192}{}\n", code(random)),
            1 => text += &test(random),
            2 => text += &format!("{}:{number}:{}\n", random.one(&FILES), code(random)),
            _ => text += &log(random, number),
        }
    }
    text
}

fn code(random: &mut Random) -> String {
    let (one, other) = (random.one(&NAMES), random.common(&WORDS));
    match random.below(5) {
        0 => format!("    if {other}.len() > {} {{", random.below(900)),
        1 => format!("        let {other} = {one}(\"{}\")?;", random.common(&WORDS)),
        2 => format!("    // {other} {}", random.common(&WORDS)),
        3 => format!("\tassert_eq!({one}({}), \"{other}\\n\");", random.below(99)),
        _ => "    }".to_owned(),
    }
}

fn test(random: &mut Random) -> String {
    let outcome = if random.below(80) == 0 { "FAILED" } else { "ok" };
    format!("test {}::{} ... {outcome}\n", random.common(&WORDS), random.one(&NAMES))
}

fn log(random: &mut Random, number: usize) -> String {
    let (level, what) = (random.one(&["info", "debug", "warn"]), random.one(&NAMES));
    let time = format!("12:{:02}:{:02}", number / 60 % 60, number % 60);
    format!("\u{1b}[2m{time}\u{1b}[0m {level} {what}: {}\n", random.common(&WORDS))
}
