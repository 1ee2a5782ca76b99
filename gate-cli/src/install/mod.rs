//! gate in front of an agent's stop, and where its sessions begin: where each agent
//! keeps its hooks, what is put there, and how all of it is taken back.
//!
//! One file an agent says where its settings are and what stands in them
//! (`claude_code` and its neighbours). `json` and `hooks` change a document and
//! leave the rest as it is, `trust` does so for Codex's TOML; `plan` says what
//! would change, `receipt` what was there before, and `disk` writes.

mod claude_code;
mod claude_plugin;
mod codex;
mod command;
mod copilot;
mod cursor;
mod disk;
mod droid;
mod gemini;
mod goose;
mod hooks;
mod json;
mod look;
mod opencode;
mod plan;
mod program;
mod qwen;
mod receipt;
mod roots;
mod trial;
mod trust;

use std::path::PathBuf;

use clap::ValueEnum;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::agent::Agent;
use command::Commands;
use hooks::Form;

pub use look::Install;
pub(crate) use look::{fixes, looked_at, outdated};
pub(crate) use plan::{Plan, Step, Wish};
pub(crate) use program::running_program;
pub(crate) use roots::Roots;
pub use trial::TestStop;

/// For whom gate is installed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// For this user, in every project.
    User,
    /// For this user, in this project.
    Project,
    /// For everybody who works on this project.
    Shared,
}

impl Scope {
    pub(crate) const ALL: [Self; 3] = [Self::User, Self::Project, Self::Shared];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Project => "project",
            Self::Shared => "shared",
        }
    }
}

/// A file that gate is put into.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    pub(crate) file: PathBuf,
    pub(crate) content: Content,
}

/// Content of the file.
#[derive(Clone, Debug)]
pub(crate) enum Content {
    /// Entries among hooks, one an event; first that of a stop.
    Hooks(Vec<Form>),
    /// A text that is gate's alone, which holds this mark.
    Own { text: String, mark: &'static str },
    /// The words of trust for the hooks of another file.
    Trust(Vec<trust::Trust>),
}

/// Description of an agent's client.
pub(crate) struct Client {
    /// Its programs.
    programs: &'static [&'static str],
    /// The folder that shows that the user has it.
    folder: fn(&Roots) -> PathBuf,
    /// The files, and what stands in them.
    targets: fn(&Roots, Scope, &Commands<'_>) -> Vec<Target>,
    /// Step for the person before the client runs the hook.
    next: fn(Scope) -> Option<&'static str>,
    /// The settings that can switch hooks off, beside the target, and what in
    /// them does so.
    switches: fn(&Roots) -> Vec<Switch>,
    /// Command for a script that runs it headless, if its hooks are called then.
    script: Option<&'static str>,
}

/// A setting with which a client runs no hooks.
pub(crate) struct Switch {
    pub(crate) file: PathBuf,
    /// The path of the member.
    pub(crate) path: &'static [&'static str],
    /// The value that switches off.
    pub(crate) off: Off,
}

/// A value that switches hooks off.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Off {
    /// This one.
    Is(bool),
    /// A list that names the hook so.
    Names(&'static str),
}

impl Off {
    fn holds(self, value: &Value) -> bool {
        match self {
            Self::Is(off) => value.as_bool() == Some(off),
            Self::Names(name) => {
                value.as_array().is_some_and(|names| names.iter().any(|known| known == name))
            }
        }
    }
}

fn client(agent: Agent) -> &'static Client {
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

/// The plug-in that has gate's hooks, if one is switched on.
pub(crate) fn plugin(agent: Agent, roots: &Roots) -> Option<String> {
    let plugins = (agent == Agent::ClaudeCode).then(|| claude_plugin::switched_on(roots));
    let plugin = plugins?.into_iter().find(|plugin| look::calls_gate(&plugin.target))?;
    Some(plugin.name)
}

/// The files that gate is put into with these commands.
fn targets(commands: &Commands<'_>, roots: &Roots, scope: Scope) -> Vec<Target> {
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

/// True if this user has the agent: its program is in PATH, or something stands in its
/// folder that gate did not put there.
pub(crate) fn is_here(agent: Agent, roots: &Roots) -> bool {
    let client = client(agent);
    let has_own = || {
        let made = plan::made(agent, roots);
        let entries = std::fs::read_dir((client.folder)(roots)).into_iter().flatten();
        entries.filter_map(Result::ok).any(|entry| !made.contains(&entry.path()))
    };
    client.programs.iter().any(|program| roots.in_path(program).is_some()) || has_own()
}

/// No settings beside the target switch hooks off.
fn no_switches(_: &Roots) -> Vec<Switch> {
    Vec::new()
}

/// Nothing has to be done.
fn nothing_next(_: Scope) -> Option<&'static str> {
    None
}
