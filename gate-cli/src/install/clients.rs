//! The descriptions of all clients.

use super::client::{Client, Target};
use super::command::Commands;
use super::roots::Roots;
use super::scope::Scope;
use super::{claude_code, codex, copilot, cursor, droid, gemini, goose, opencode, qwen};
use crate::agent::Agent;

pub(super) fn client(agent: Agent) -> &'static Client {
    match agent {
        Agent::ClaudeCode => &claude_code::CLIENT,
        Agent::Codex => &codex::CLIENT,
        Agent::Gemini => &gemini::CLIENT,
        Agent::Qwen => &qwen::CLIENT,
        Agent::Copilot => &copilot::CLIENT,
        Agent::Cursor => &cursor::CLIENT,
        Agent::Opencode => &opencode::CLIENT,
        Agent::Droid => &droid::CLIENT,
        Agent::Goose => &goose::CLIENT,
    }
}

/// The files that gate is put into with these commands.
pub(super) fn targets(commands: &Commands<'_>, roots: &Roots, scope: Scope) -> Vec<Target> {
    (client(commands.agent()).targets)(roots, scope, commands)
}

/// Step for the person before the client runs the hook.
pub(crate) fn next(agent: Agent, scope: Scope) -> Option<&'static str> {
    (client(agent).next)(scope)
}

/// Command for a script that runs the agent headless, if its hooks are called then.
pub(crate) fn script(agent: Agent) -> Option<&'static str> {
    client(agent).script
}
