//! Goose: a plug-in folder, with its name in `plugin.json` and the hooks beside.

use super::hooks::Form;
use super::{Client, Content, Roots, Scope, Target, command, no_switches, nothing_next};
use crate::agent::Agent;

/// What the folder is, for Goose.
const PLUGIN: &str = include_str!("../templates/goose-plugin.json");

pub(super) const CLIENT: Client = Client {
    programs: &["goose"],
    folder: |roots| roots.config.join("goose"),
    targets,
    next: nothing_next,
    switches: no_switches,
};

fn targets(roots: &Roots, scope: Scope, command: &str) -> Vec<Target> {
    let folder = roots.root(scope).join(".agents").join("plugins").join("gate");
    let form = |event, timeout| Form::grouped(Agent::Goose, event, command, timeout);
    let forms =
        vec![form("Stop", command::TIMEOUT), form("SessionStart", command::TIMEOUT_OF_START)];
    let plugin = Content::Own { text: PLUGIN.to_owned(), mark: "whether the work is done" };
    vec![
        Target { file: folder.join("plugin.json"), content: plugin },
        Target { file: folder.join("hooks").join("hooks.json"), content: Content::Hooks(forms) },
    ]
}
