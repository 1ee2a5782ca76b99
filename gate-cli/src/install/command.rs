//! The command that an agent's settings hold, and how it is known again.

use std::path::Path;

use clap::ValueEnum;

use crate::agent::Agent;

/// How long the hook may take, in seconds: less than the client waits, so that
/// gate ends the wait and not the client, which would let the agent go.
pub(super) const DEADLINE: u64 = 540;

/// How long the client waits for the hook, in seconds.
pub(super) const TIMEOUT: u64 = 600;

/// How long the client waits for the hook where a session begins, in seconds: gate
/// itself gives up earlier.
pub(super) const TIMEOUT_OF_START: u64 = 30;

/// The command that calls this program by its whole path.
pub(super) fn direct(program: &Path, agent: Agent) -> String {
    let command = format!("{} {}", quoted(&program.display().to_string()), words(agent));
    // To Gemini CLI (0.61.0) any code but 0 and 1 is a refusal, without an end
    // where the program is gone.
    if agent == Agent::Gemini { command + " || exit 1" } else { command }
}

/// The command for settings that others share: gate from PATH, and a word and
/// no obstacle where there is none.
pub(super) fn guarded(agent: Agent) -> String {
    format!(
        "command -v gate >/dev/null 2>&1 || \
         {{ echo 'gate is not installed: nothing checks whether this work is done' >&2; exit 0; }}; \
         exec gate {}",
        words(agent)
    )
}

fn words(agent: Agent) -> String {
    format!("hook {} --deadline {DEADLINE}s", agent.name())
}

/// Whether a command calls gate's hook for this agent, wherever gate is.
pub(super) fn is_ours(command: &str, agent: Agent) -> bool {
    called(command, agent).is_some()
}

/// The program that a command calls as gate's hook for this agent.
pub(super) fn called(command: &str, agent: Agent) -> Option<String> {
    let words = split(command);
    let is_agent = |word: &str| Agent::from_str(word, false) == Ok(agent);
    let calls = words.windows(3).find(|it| is_gate(&it[0]) && it[1] == "hook" && is_agent(&it[2]));
    calls.map(|it| it[0].clone())
}

fn is_gate(word: &str) -> bool {
    let name = Path::new(word).file_name().unwrap_or_default().to_string_lossy();
    name.strip_prefix("gate").is_some_and(|rest| !rest.starts_with(char::is_alphabetic))
}

/// A word for a shell.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+:@%".contains(c);
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
            let command = direct(Path::new(path), Agent::Codex);
            assert_eq!(called(&command, Agent::Codex).as_deref(), Some(path), "{command}");
            assert!(!is_ours(&command, Agent::ClaudeCode));
        }
        assert_eq!(
            direct(Path::new("/a b/gate"), Agent::Goose),
            "'/a b/gate' hook goose --deadline 540s"
        );
    }

    #[test]
    fn the_guarded_command_is_known_too() {
        assert_eq!(called(&guarded(Agent::Gemini), Agent::Gemini).as_deref(), Some("gate"));
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
