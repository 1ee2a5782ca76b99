//! The command in an agent's settings, and how it is recognised.

use std::path::Path;

use clap::ValueEnum;
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
    /// The program by its whole path; none: gate from PATH.
    program: Option<&'a Path>,
}

impl<'a> Commands<'a> {
    /// Settings that others share call gate from PATH.
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
    /// The shell gives its place to gate, so that what ends the hook ends gate. If gate is gone,
    /// the person gets a message and the agent may stop.
    pub(super) fn at(&self, moment: Moment) -> String {
        let word = self
            .program
            .map_or("gate".to_owned(), |program| quoted(&program.display().to_string()));
        let call = format!("{word} hook {} --deadline {DEADLINE}s", self.agent.name());
        let missing = self.missing(moment);
        // A gate that fails would refuse, so its code must not be that of the shell.
        if facts(self.agent).hook.failure_refuses {
            return format!("{call} || {missing}");
        }
        format!("command -v {word} >/dev/null 2>&1 && exec {call} || {missing}")
    }

    /// Shell command that reports a missing gate, on stdout if the client shows that. A prompt
    /// is followed by a stop, which reports it, and an end follows one.
    fn missing(&self, moment: Moment) -> String {
        if matches!(moment, Moment::Prompt | Moment::End) {
            return "true".to_owned();
        }
        if facts(self.agent).hook.shows_messages {
            return format!("echo '{}'", json!({ "systemMessage": MISSING }));
        }
        format!("echo '{MISSING}' >&2")
    }
}

pub(super) fn is_ours(command: &str, agent: Agent) -> bool {
    called(command, agent).is_some()
}

/// The program that a command calls as gate's hook for this agent.
pub(super) fn called(command: &str, agent: Agent) -> Option<String> {
    let words = split(command);
    let calls = words.windows(3).find(|words| {
        is_gate(&words[0]) && words[1] == "hook" && Agent::from_str(&words[2], false) == Ok(agent)
    });
    calls.map(|words| words[0].clone())
}

pub(super) fn is_gate(word: &str) -> bool {
    let name = Path::new(word).file_name().unwrap_or_default().to_string_lossy();
    name.strip_prefix("gate").is_some_and(|rest| !rest.starts_with(char::is_alphabetic))
}

/// A word for a shell.
fn quoted(word: &str) -> String {
    fn is_plain(c: char) -> bool {
        c.is_ascii_alphanumeric() || "/._-+:@%".contains(c)
    }
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// The words of a shell's line, as far as quotes go.
fn split(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match (c, quote) {
            (c, Some(open)) if c == open => quote = None,
            ('\\', None | Some('"')) => word.get_or_insert_default().extend(chars.next()),
            (c, Some(_)) => word.get_or_insert_default().push(c),
            ('\'' | '"', None) => {
                quote = Some(c);
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
            let command = Commands::calling(Agent::Codex, path).at(Moment::Stop);
            assert_eq!(called(&command, Agent::Codex).as_deref(), Some(path), "{command}");
            assert!(!is_ours(&command, Agent::ClaudeCode));
        }
        assert_eq!(
            Commands::calling(Agent::Goose, "/a b/gate").at(Moment::Prompt),
            "command -v '/a b/gate' >/dev/null 2>&1 && \
             exec '/a b/gate' hook goose --deadline 540s || true"
        );
    }

    #[test]
    fn the_command_that_others_share_is_known_too() {
        let command = Commands::unwritten(Agent::Gemini).at(Moment::Stop);
        assert_eq!(called(&command, Agent::Gemini).as_deref(), Some("gate"));
    }

    #[test]
    fn an_older_spelling_is_ours_and_anothers_is_not() {
        assert!(is_ours("gate hook claude", Agent::ClaudeCode));
        assert!(is_ours("cd x && GATE=1 \"/a/gate\" hook claude-code", Agent::ClaudeCode));
        for other in [
            "gatekeeper hook claude",
            "gate check -",
            "echo gate",
            "my-gate hook claude",
            "hook claude",
            "",
        ] {
            assert!(!is_ours(other, Agent::ClaudeCode), "{other}");
        }
    }
}
