//! What agents' programs leave in the environment of what they start.

use clap::ValueEnum;

use crate::agent::Agent;
use crate::runner::IN_RUN;

/// Variables that are set for what an agent starts, and that a person's shell has
/// only where the agent's program started it. Those that a person sets as well
/// (`CODEX_HOME`, keys, models) are none.
const MARKS: [&str; 16] = [
    IN_RUN,
    "CLAUDECODE",
    "CLAUDE_CODE_SESSION_ID",
    "AI_AGENT",
    "CODEX_SANDBOX",
    "CODEX_THREAD_ID",
    "CODEX_MANAGED_BY_NPM",
    "GEMINI_CLI",
    "GEMINI_SESSION_ID",
    "QWEN_CODE",
    "COPILOT_CLI",
    "COPILOT_AGENT_SESSION_ID",
    "CURSOR_AGENT",
    "OPENCODE",
    "FACTORY_PROJECT_DIR",
    "GOOSE_TERMINAL",
];

/// A variable that several agents set to their own name.
const NAMED: &str = "AGENT";

/// The first mark of an agent in an environment.
pub(super) fn first(environment: &[(String, String)]) -> Option<String> {
    let set = environment.iter().filter(|(_, value)| !value.is_empty());
    let mut marks = set.filter(|(name, value)| {
        MARKS.contains(&name.as_str()) || (name == NAMED && Agent::from_str(value, true).is_ok())
    });
    marks.next().map(|(name, value)| format!("{name}={value}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(name: &str, value: &str) -> Option<String> {
        first(&[("HOME".to_owned(), "/h".to_owned()), (name.to_owned(), value.to_owned())])
    }

    #[test]
    fn an_agents_mark_is_known_and_a_persons_variable_is_none() {
        for (name, value) in [("CLAUDECODE", "1"), ("GATE_RUN", "r"), ("AGENT", "goose")] {
            assert_eq!(of(name, value), Some(format!("{name}={value}")));
        }
        for (name, value) in
            [("CLAUDECODE", ""), ("CODEX_HOME", "/c"), ("AGENT", "x86"), ("GATE_TRUST", "x")]
        {
            assert_eq!(of(name, value), None, "{name}");
        }
    }
}
