//! OpenCode: it has no command hooks, so a plug-in of ours calls gate.

use serde_json::Value;

use super::{Client, Content, Roots, Scope, Target, no_switches};
use crate::agent::Agent;

/// The plug-in; its command is filled in.
const PLUGIN: &str = include_str!("../templates/opencode-gate.js");

/// What stands in the place of the command, with its quotes.
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
};

fn targets(roots: &Roots, scope: Scope, command: &str) -> Vec<Target> {
    let folder = match scope {
        Scope::User => roots.config.join("opencode"),
        Scope::Project | Scope::Shared => roots.project.join(".opencode"),
    };
    let text = PLUGIN.replacen(BLANK, &Value::from(command).to_string(), 1);
    let content = Content::Own { text, mark: LINE };
    vec![Target { file: folder.join("plugins").join("gate.js"), content }]
}

/// What the plug-in is told of a message that the person sent.
const MESSAGE: &str = "\"chat.message\": ";

/// The command in a plug-in, and whether it is called where a session begins, too.
pub(super) fn called(plugin: &str) -> Option<(String, bool)> {
    Some((command(plugin)?, plugin.contains(MESSAGE)))
}

fn command(plugin: &str) -> Option<String> {
    let command = plugin.lines().find_map(|line| line.strip_prefix(LINE))?;
    let command: String = serde_json::from_str(command.trim_end()).ok()?;
    super::command::is_ours(&command, Agent::Opencode).then_some(command)
}
