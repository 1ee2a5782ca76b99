//! OpenCode: it has no command hooks, so a plug-in of ours calls gate.

use serde_json::Value;

use super::client::Content;
use super::command::{self, Commands};
use crate::agent::Agent;
use crate::clients::Moment;

/// The plug-in; its command is filled in.
const PLUGIN: &str = include_str!("../templates/opencode-gate.js");

/// Placeholder of the command, with its quotes.
const COMMAND_PLACEHOLDER: &str = "\"gate hook opencode\"";

/// The beginning of the line with the command.
const COMMAND_LINE: &str = "const COMMAND = ";

/// The plug-in with these commands.
pub(super) fn content(commands: &Commands<'_>) -> Content {
    Content::Own { text: plugin_text(commands), mark: COMMAND_LINE }
}

/// A plug-in of gate's, as it stands in a file.
pub(super) struct OpencodePlugin {
    pub(super) command: String,
    /// It is as this version writes it.
    pub(super) is_current: bool,
    /// It calls gate at the beginning of a session.
    pub(super) calls_at_start: bool,
    /// It calls gate at each prompt.
    pub(super) calls_at_prompt: bool,
}

/// Text by which a plug-in that handles messages is known.
const MESSAGE_HANDLER: &str = "\"chat.message\": ";

/// Text by which a plug-in that reports prompts is known.
const PROMPT_MEMBER: &str = "prompt_id: ";

/// The plug-in in a file, if there is one that calls gate.
pub(super) fn plugin(text: &str) -> Option<OpencodePlugin> {
    let literal = text.lines().find_map(|line| line.strip_prefix(COMMAND_LINE))?;
    let command: String = serde_json::from_str(literal.trim_end()).ok()?;
    let program = command::called_program(&command, Agent::Opencode)?;
    let calls_at_start = text.contains(MESSAGE_HANDLER);
    Some(OpencodePlugin {
        is_current: text == plugin_text(&Commands::calling(Agent::Opencode, &program)),
        calls_at_prompt: calls_at_start && text.contains(PROMPT_MEMBER),
        calls_at_start,
        command,
    })
}

fn plugin_text(commands: &Commands<'_>) -> String {
    let command = Value::from(commands.for_event(Moment::Stop));
    PLUGIN.replacen(COMMAND_PLACEHOLDER, &command.to_string(), 1)
}
