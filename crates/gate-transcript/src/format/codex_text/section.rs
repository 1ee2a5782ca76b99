//! The lines that introduce the sections of Codex's log.

use crate::{Boundary, Role};

/// The kinds of parts of the log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Section {
    /// Before anything else, and the header.
    #[default]
    Header,
    /// The prompt.
    User,
    /// The agent's words.
    Codex,
    /// The agent's reasoning.
    Thinking,
    /// A command with its output.
    Exec,
    /// The output of any other tool: patches, diffs, MCP, searches.
    Tool,
    /// The client's own remarks.
    Client,
    /// After `tokens used`: their number, then the final answer once more.
    Tokens,
    /// The final answer.
    Answer,
    /// After the final answer: the program that called Codex speaks.
    Driver,
}

impl Section {
    pub(super) fn role(self) -> Role {
        match self {
            Self::Header | Self::Client | Self::Driver => Role::System,
            Self::User => Role::User,
            Self::Codex | Self::Tokens | Self::Answer => Role::Assistant,
            Self::Thinking => Role::Thinking,
            Self::Exec | Self::Tool => Role::Tool,
        }
    }
}

/// The effect of a line on the sections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    /// It belongs to its section.
    None,
    /// A remark of the client; the section goes on after it.
    Aside,
    /// A section begins after it.
    Begin(Section),
    /// A turn begins after it, with this section.
    Turn(Boundary, Section),
    /// The number of tokens.
    Tokens(u64),
}

/// The effect of `line` in `section`. The final answer ends only if another run begins.
pub(super) fn mark(line: &str, section: Section) -> Mark {
    if is_remark(line) {
        return Mark::Aside;
    }
    if is_header(line) && section != Section::User {
        return Mark::Begin(Section::Header);
    }
    match section {
        Section::Answer | Section::Driver => Mark::None,
        Section::Tokens => tokens(line).map_or(Mark::None, Mark::Tokens),
        _ => match stamped(line) {
            Some(line) => stamped_mark(line),
            None => plain_mark(line, section),
        },
    }
}

fn plain_mark(line: &str, section: Section) -> Mark {
    match line {
        "user" => Mark::Turn(Boundary::Prompt, Section::User),
        "codex" => Mark::Begin(Section::Codex),
        "thinking" => Mark::Begin(Section::Thinking),
        "exec" => Mark::Begin(Section::Exec),
        "tokens used" => Mark::Begin(Section::Tokens),
        "file update" | "file update:" | "apply patch" | "collab" => Mark::Begin(Section::Tool),
        "hook: Stop Blocked" => Mark::Turn(Boundary::HookFeedback, Section::Client),
        "context compacted" => Mark::Turn(Boundary::Compaction, Section::Client),
        _ if starts(line, &["hook: ", "deprecated: "]) => Mark::Begin(Section::Client),
        // An answer may have such a line of its own; a warning of the client
        // within it only lengthens it.
        _ if line.starts_with("warning: ") && section != Section::Codex => {
            Mark::Begin(Section::Client)
        }
        _ if starts(
            line,
            &["mcp: ", "mcp startup: ", "apply_patch(", "web search: ", "collab "],
        ) =>
        {
            Mark::Begin(Section::Tool)
        }
        _ if line.starts_with("tool ") && line.ends_with(')') => Mark::Begin(Section::Tool),
        _ => Mark::None,
    }
}

/// Until 0.3x every section began with a time stamp.
fn stamped_mark(line: &str) -> Mark {
    match line {
        "codex" => Mark::Begin(Section::Codex),
        "thinking" => Mark::Begin(Section::Thinking),
        "User instructions:" => Mark::Turn(Boundary::Prompt, Section::User),
        _ if line.starts_with("tokens used: ") => line
            .rsplit(' ')
            .next()
            .and_then(tokens)
            .map_or(Mark::Begin(Section::Tokens), Mark::Tokens),
        _ => Mark::Begin(Section::Tool),
    }
}

/// True for the first line of a run's header.
pub(super) fn is_header(line: &str) -> bool {
    let line = stamped(line).unwrap_or(line);
    let version = line.strip_prefix("OpenAI Codex v");
    version.is_some_and(|version| version.starts_with(|c: char| c.is_ascii_digit()))
}

/// A remark of the client's log: `2026-04-28T13:52:06.444724Z ERROR codex_core::…`.
fn is_remark(line: &str) -> bool {
    let Some((time, rest)) = line.split_once(' ') else {
        return false;
    };
    let level = rest.trim_start().split(' ').next().unwrap_or_default();
    time.len() >= 20
        && time.ends_with('Z')
        && is_date(time)
        && matches!(level, "ERROR" | "WARN" | "INFO")
}

/// The text after the time stamp in `[2025-08-20T12:00:00] …`.
fn stamped(line: &str) -> Option<&str> {
    let (time, rest) = line.strip_prefix('[')?.split_once("] ")?;
    (time.len() == 19 && is_date(time)).then_some(rest)
}

fn is_date(time: &str) -> bool {
    let pattern = b"0000-00-00T00:00:00";
    let time = time.as_bytes();
    time.len() >= pattern.len()
        && pattern
            .iter()
            .zip(time)
            .all(|(p, b)| if *p == b'0' { b.is_ascii_digit() } else { p == b })
}

fn tokens(line: &str) -> Option<u64> {
    line.trim().replace(',', "").parse().ok()
}

fn starts(line: &str, prefixes: &[&str]) -> bool {
    prefixes.iter().any(|prefix| line.starts_with(prefix))
}

/// The end of a command: the text before it in its line, and the exit code.
pub(super) fn outcome(line: &str) -> Option<(&str, i32)> {
    let (rest, time) = line.strip_suffix(':')?.rsplit_once(" in ")?;
    if !time.ends_with('s') || !time.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    match rest.strip_suffix(" succeeded") {
        Some(command) => Some((command, 0)),
        None => {
            let (command, code) = rest.rsplit_once(" exited ")?;
            Some((command, code.parse().ok()?))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_whole_lines() {
        use Section::{Answer, Codex, Exec, Tokens, User};
        for (line, section, expected) in [
            ("user", Exec, Mark::Turn(Boundary::Prompt, User)),
            ("+user", Exec, Mark::None),
            (" codex", Exec, Mark::None),
            ("codex says", Exec, Mark::None),
            ("codex", Answer, Mark::None),
            ("1,234", Tokens, Mark::Tokens(1234)),
            ("1,234", Exec, Mark::None),
            ("hook: Stop", Codex, Mark::Begin(Section::Client)),
            ("hook: Stop Blocked", Codex, Mark::Turn(Boundary::HookFeedback, Section::Client)),
            ("warning: unused", Codex, Mark::None),
            ("warning: unused", User, Mark::Begin(Section::Client)),
            ("2026-04-28T13:52:06.444724Z ERROR codex_core::tools: x", Codex, Mark::Aside),
            ("2026-04-28T13:52:06.444724Z is when it began", Codex, Mark::None),
            ("[2025-08-20T12:00:00] codex", Exec, Mark::Begin(Codex)),
            ("[2025-08-20T12:00:00] tokens used: 1,234", Codex, Mark::Tokens(1234)),
            (
                "[2025-08-20T12:00:00] bash -lc ls succeeded in 5ms:",
                Codex,
                Mark::Begin(Section::Tool),
            ),
            ("OpenAI Codex v0.169.0", Answer, Mark::Begin(Section::Header)),
        ] {
            assert_eq!(mark(line, section), expected, "{line}");
        }
    }

    #[test]
    fn outcomes() {
        assert_eq!(outcome(" succeeded in 0ms:"), Some(("", 0)));
        assert_eq!(outcome(" exited 3 in 1.5s:"), Some(("", 3)));
        assert_eq!(
            outcome("/bin/sh -c 'ls' in /x succeeded in 5ms:"),
            Some(("/bin/sh -c 'ls' in /x", 0))
        );
        assert_eq!(outcome("it succeeded in the end:"), None);
    }
}
