//! OpenCode: it has no command hooks, so a plug-in of ours calls gate.

use serde_json::Value;

use super::client::{Client, Content, Target, no_switches};
use super::command::{self, Commands, Moment};
use super::roots::Roots;
use super::scope::Scope;
use crate::agent::Agent;

/// The plug-in; its command is filled in.
const PLUGIN: &str = include_str!("../templates/opencode-gate.js");

/// Placeholder of the command, with its quotes.
const BLANK: &str = "\"gate hook opencode\"";

/// The line that the command stands in.
const LINE: &str = "const COMMAND = ";

pub(super) const CLIENT: Client = Client {
    programs: &["opencode"],
    folder: |roots| roots.config.join("opencode"),
    targets,
    next: |_| {
        Some(
            "`opencode run` ends at the first idle moment, so the plug-in cannot hold it: gate \
             that with `gate check` in the loop that runs it, and go on with `opencode run -s`",
        )
    },
    switches: no_switches,
    script: None,
};

fn targets(roots: &Roots, scope: Scope, commands: &Commands<'_>) -> Vec<Target> {
    let folder = match scope {
        Scope::User => roots.config.join("opencode"),
        Scope::Project | Scope::Shared => roots.project.join(".opencode"),
    };
    let content = Content::Own { text: written(commands), mark: LINE };
    vec![Target { file: folder.join("plugins").join("gate.js"), content }]
}

/// A plug-in of gate's, as it stands in a file.
pub(super) struct Plugin {
    pub(super) command: String,
    /// True if it is what this version writes.
    pub(super) is_current: bool,
    /// True if it calls gate where a session begins.
    pub(super) begins: bool,
    /// True if it calls gate at each prompt.
    pub(super) prompts: bool,
}

/// Text by which a plug-in that handles messages is known.
const MESSAGE: &str = "\"chat.message\": ";
const PROMPT: &str = "prompt_id: ";

/// The plug-in in a file, if there is one that calls gate.
pub(super) fn plugin(text: &str) -> Option<Plugin> {
    let command = text.lines().find_map(|line| line.strip_prefix(LINE))?;
    let command: String = serde_json::from_str(command.trim_end()).ok()?;
    let program = command::called(&command, Agent::Opencode)?;
    let begins = text.contains(MESSAGE);
    Some(Plugin {
        is_current: text == written(&Commands::calling(Agent::Opencode, &program)),
        prompts: begins && text.contains(PROMPT),
        begins,
        command,
    })
}

fn written(commands: &Commands<'_>) -> String {
    let command = Value::from(commands.at(Moment::Stop));
    PLUGIN.replacen(BLANK, &command.to_string(), 1)
}
