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
    /// The line belongs to its section.
    None,
    /// A remark of the client; the section goes on after it.
    Remark,
    /// A section begins after it.
    Begin(Section),
    /// A turn begins after it, with this section.
    Turn(Boundary, Section),
    /// The number of tokens.
    Tokens(u64),
}

/// Beginnings of the lines that introduce the client's own sections.
const CLIENT_MARKS: [&str; 2] = ["hook: ", "deprecated: "];

/// Beginnings of the lines that introduce a tool's output.
const TOOL_MARKS: [&str; 5] = ["mcp: ", "mcp startup: ", "apply_patch(", "web search: ", "collab "];

/// The effect of `line` in `section`. The final answer ends only if another run begins.
pub(super) fn mark(line: &str, section: Section) -> Mark {
    if is_remark(line) {
        return Mark::Remark;
    }
    // A prompt may quote an earlier log.
    if is_header(line) && section != Section::User {
        return Mark::Begin(Section::Header);
    }
    match section {
        Section::Answer | Section::Driver => Mark::None,
        Section::Tokens => tokens(line).map_or(Mark::None, Mark::Tokens),
        _ => match without_stamp(line) {
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
        _ if starts_with_any(line, &CLIENT_MARKS) => Mark::Begin(Section::Client),
        // The agent's own words may have such a line. If it is a warning of the client, they are one
        // line too long.
        _ if line.starts_with("warning: ") && section != Section::Codex => {
            Mark::Begin(Section::Client)
        }
        _ if starts_with_any(line, &TOOL_MARKS) => Mark::Begin(Section::Tool),
        _ if line.starts_with("tool ") && line.ends_with(')') => Mark::Begin(Section::Tool),
        _ => Mark::None,
    }
}

/// Until 0.3x every section of Codex began with a time stamp. One without a name of its own
/// reports a tool or a command.
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

/// The first line of a run's header.
pub(super) fn is_header(line: &str) -> bool {
    let line = without_stamp(line).unwrap_or(line);
    let version = line.strip_prefix("OpenAI Codex v");
    version.is_some_and(|version| version.starts_with(|char: char| char.is_ascii_digit()))
}

/// A remark of the client's log: `2026-04-28T13:52:06.444724Z ERROR codex_core::…`.
fn is_remark(line: &str) -> bool {
    let Some((time, message)) = line.split_once(' ') else {
        return false;
    };
    let level = message.trim_start().split(' ').next().unwrap_or_default();
    time.len() >= 20
        && time.ends_with('Z')
        && is_date(time)
        && matches!(level, "ERROR" | "WARN" | "INFO")
}

/// The text after the time stamp in `[2025-08-20T12:00:00] …`.
fn without_stamp(line: &str) -> Option<&str> {
    let (time, text) = line.strip_prefix('[')?.split_once("] ")?;
    (time.len() == 19 && is_date(time)).then_some(text)
}

fn is_date(time: &str) -> bool {
    let form = b"0000-00-00T00:00:00";
    let time = time.as_bytes();
    let is_form = |(form, byte): (&u8, &u8)| match form {
        b'0' => byte.is_ascii_digit(),
        form => form == byte,
    };
    time.len() >= form.len() && form.iter().zip(time).all(is_form)
}

fn tokens(line: &str) -> Option<u64> {
    line.trim().replace(',', "").parse().ok()
}

fn starts_with_any(line: &str, prefixes: &[&str]) -> bool {
    prefixes.iter().any(|prefix| line.starts_with(prefix))
}

/// The end of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Outcome<'a> {
    /// The text before the end in its line: the command, if it has one line.
    pub(super) command: &'a str,
    pub(super) exit_code: i32,
}

/// The end of a command that a line reports: `COMMAND exited 1 in 20ms:`.
pub(super) fn outcome(line: &str) -> Option<Outcome<'_>> {
    let (end, time) = line.strip_suffix(':')?.rsplit_once(" in ")?;
    if !time.ends_with('s') || !time.starts_with(|char: char| char.is_ascii_digit()) {
        return None;
    }
    match end.strip_suffix(" succeeded") {
        Some(command) => Some(Outcome { command, exit_code: 0 }),
        None => {
            let (command, exit_code) = end.rsplit_once(" exited ")?;
            Some(Outcome { command, exit_code: exit_code.parse().ok()? })
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
            ("2026-04-28T13:52:06.444724Z ERROR codex_core::tools: x", Codex, Mark::Remark),
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
        assert_eq!(outcome(" succeeded in 0ms:"), Some(Outcome { command: "", exit_code: 0 }));
        assert_eq!(outcome(" exited 3 in 1.5s:"), Some(Outcome { command: "", exit_code: 3 }));
        assert_eq!(
            outcome("/bin/sh -c 'ls' in /x succeeded in 5ms:"),
            Some(Outcome { command: "/bin/sh -c 'ls' in /x", exit_code: 0 })
        );
        assert_eq!(outcome("it succeeded in the end:"), None);
    }
}
