//! The command in an agent's settings, and how it is recognised.

use std::path::Path;

use clap::ValueEnum;
use gate_platform::HAS_SH;
use serde_json::json;

use super::scope::Scope;
use crate::agent::Agent;
use crate::clients::{Moment, facts};

/// Time that the hook may take, in seconds. It is less than the client waits: a client
/// that gives up lets the agent go.
const DEADLINE: u64 = 540;

/// Message for a person if the program is gone.
const MISSING: &str = "gate is not installed: nothing checks whether this work is done";

impl Moment {
    /// Time that the client waits for the hook, in seconds. Gate itself gives up earlier.
    pub(super) fn timeout(self) -> u64 {
        if self == Self::Stop { 600 } else { 30 }
    }
}

/// The commands that an installation writes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Commands<'a> {
    agent: Agent,
    /// The program by its whole path; `None` for gate from PATH.
    program: Option<&'a Path>,
}

impl<'a> Commands<'a> {
    /// The commands of an installation. Settings that other people share call gate from PATH.
    pub(super) fn new(agent: Agent, scope: Scope, program: &'a Path) -> Self {
        Self { agent, program: (scope != Scope::Shared).then_some(program) }
    }

    /// The commands that call the program by this word.
    pub(super) fn calling(agent: Agent, word: &'a str) -> Self {
        Self { agent, program: (word != "gate").then(|| Path::new(word)) }
    }

    pub(super) fn agent(&self) -> Agent {
        self.agent
    }

    /// Commands for a dry run, which writes nothing.
    pub(super) fn unwritten(agent: Agent) -> Self {
        Self { agent, program: None }
    }

    /// The command for one event.
    ///
    /// The shell is `sh`, and on Windows bash, PowerShell or `cmd`: for these it is the bare call.
    ///
    /// `sh` gives its place to gate, so that an end of the hook ends gate. If gate is gone, the
    /// person gets a message and the agent may stop.
    pub(super) fn for_event(&self, moment: Moment) -> String {
        let quoted = |program: &Path| match HAS_SH {
            true => shell_quoted(&program.display().to_string()),
            false => quoted_for_all_shells(program),
        };
        let word = self.program.map_or("gate".to_owned(), quoted);
        let call = format!("{word} hook {} --deadline {DEADLINE}s", self.agent.name());
        if !HAS_SH {
            return call;
        }
        let report = self.report_missing(moment);
        // A gate that fails would refuse, so its exit code must not become the shell's.
        if facts(self.agent).hook.failure_refuses {
            return format!("{call} || {report}");
        }
        format!("command -v {word} >/dev/null 2>&1 && exec {call} || {report}")
    }

    /// Shell command that reports a missing gate, on stdout if the client shows that. A prompt
    /// is followed by a stop, which reports it, and an end follows one.
    fn report_missing(&self, moment: Moment) -> String {
        if matches!(moment, Moment::Prompt | Moment::End) {
            return "true".to_owned();
        }
        if facts(self.agent).hook.shows_messages {
            return format!("echo '{}'", json!({ "systemMessage": MISSING }));
        }
        format!("echo '{MISSING}' >&2")
    }
}

/// The command calls gate's hook for this agent.
pub(super) fn is_gates(command: &str, agent: Agent) -> bool {
    called_program(command, agent).is_some()
}

/// The program that a command calls as gate's hook for this agent.
pub(super) fn called_program(command: &str, agent: Agent) -> Option<String> {
    let words = shell_words(command);
    let call = words.windows(3).find(|words| {
        is_gate(&words[0]) && words[1] == "hook" && Agent::from_str(&words[2], false) == Ok(agent)
    });
    call.map(|words| words[0].clone())
}

/// A program with gate's name, such as `gate` or `gate-1.2`.
pub(super) fn is_gate(word: &str) -> bool {
    let name = Path::new(word).file_name().unwrap_or_default().to_string_lossy();
    name.strip_prefix("gate").is_some_and(|suffix| !suffix.starts_with(char::is_alphabetic))
}

/// A word for a shell.
fn shell_quoted(word: &str) -> String {
    fn is_plain(c: char) -> bool {
        c.is_ascii_alphanumeric() || "/._-+:@%".contains(c)
    }
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// A path with `/`, which bash, PowerShell and `cmd` take without quotes. With a space in it, it
/// has quotes that PowerShell takes for a text: such a client needs gate at a path without.
fn quoted_for_all_shells(program: &Path) -> String {
    let word = program.display().to_string().replace('\\', "/");
    if word.contains(char::is_whitespace) { format!("\"{word}\"") } else { word }
}

/// The words of a shell's line, as far as quotes go.
fn shell_words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match (c, quote) {
            (c, Some(open_quote)) if c == open_quote => quote = None,
            ('\\', None | Some('"')) => word.get_or_insert_default().extend(chars.next()),
            (c, Some(_)) => word.get_or_insert_default().push(c),
            ('\'' | '"', None) => {
                quote = Some(c);
                // Empty quotes are a word, too.
                word.get_or_insert_default();
            }
            (c, None) if c.is_whitespace() || ";|&(){}".contains(c) => words.extend(word.take()),
            (c, None) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_known_again_whatever_it_holds() {
        for path in
            ["/usr/bin/gate", "/opt/it's here/gate", "/a b/gate", "/ü/gate-1.2", "/$(x)/gate"]
        {
            let command = Commands::calling(Agent::Codex, path).for_event(Moment::Stop);
            assert_eq!(called_program(&command, Agent::Codex).as_deref(), Some(path), "{command}");
            assert!(!is_gates(&command, Agent::ClaudeCode));
        }
        assert_eq!(
            Commands::calling(Agent::Goose, "/a b/gate").for_event(Moment::Prompt),
            "command -v '/a b/gate' >/dev/null 2>&1 && \
             exec '/a b/gate' hook goose --deadline 540s || true"
        );
    }

    #[test]
    fn a_path_of_windows_has_slashes_that_every_shell_takes() {
        for (path, word) in
            [(r"C:\a\gate.exe", "C:/a/gate.exe"), (r"C:\a b\gate.exe", "\"C:/a b/gate.exe\"")]
        {
            assert_eq!(quoted_for_all_shells(Path::new(path)), word);
            let command = format!("{word} hook codex --deadline 540s");
            let program = called_program(&command, Agent::Codex).unwrap();
            assert_eq!(program, path.replace('\\', "/"));
        }
    }

    #[test]
    fn the_command_that_others_share_is_known_too() {
        let command = Commands::unwritten(Agent::Gemini).for_event(Moment::Stop);
        assert_eq!(called_program(&command, Agent::Gemini).as_deref(), Some("gate"));
    }

    #[test]
    fn an_older_spelling_is_ours_and_anothers_is_not() {
        assert!(is_gates("gate hook claude", Agent::ClaudeCode));
        assert!(is_gates("cd x && GATE=1 \"/a/gate\" hook claude-code", Agent::ClaudeCode));
        for command in [
            "gatekeeper hook claude",
            "gate check -",
            "echo gate",
            "my-gate hook claude",
            "hook claude",
            "",
        ] {
            assert!(!is_gates(command, Agent::ClaudeCode), "{command}");
        }
    }
}
