//! OpenCode: it has no command hooks, so a plug-in of ours calls gate.

use serde_json::Value;

use super::client::Content;
use super::command::{self, Commands};
use crate::agent::Agent;
use crate::clients::Moment;

/// The plug-in; its command is filled in.
const PLUGIN: &str = include_str!("../templates/opencode-gate.js");

/// Placeholder of the command, with its quotes.
const BLANK: &str = "\"gate hook opencode\"";

/// The line that the command stands in.
const LINE: &str = "const COMMAND = ";

/// The plug-in with these commands.
pub(super) fn content(commands: &Commands<'_>) -> Content {
    Content::Own { text: written(commands), mark: LINE }
}

/// A plug-in of gate's, as it stands in a file.
pub(super) struct Plugin {
    pub(super) command: String,
    /// True if it is what this version writes.
    pub(super) is_current: bool,
    /// True if it calls gate at the beginning of a session.
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
