//! Goose: a plug-in folder, with its name in `plugin.json` and the hooks beside.

use super::client::{Client, Content, Target, no_switches, nothing_next};
use super::command::Commands;
use super::hooks::{EVENTS, Form};
use super::roots::Roots;
use super::scope::Scope;

/// Manifest of the folder, for Goose.
const PLUGIN: &str = include_str!("../templates/goose-plugin.json");

pub(super) const CLIENT: Client = Client {
    programs: &["goose"],
    folder: |roots| roots.config.join("goose"),
    targets,
    next: nothing_next,
    switches: no_switches,
    script: Some("goose run -t \"PROMPT\""),
};

fn targets(roots: &Roots, scope: Scope, commands: &Commands<'_>) -> Vec<Target> {
    let folder = roots.root(scope).join(".agents").join("plugins").join("gate");
    let forms = EVENTS.map(|(moment, event)| Form::grouped(event, commands, moment));
    let plugin = Content::Own { text: PLUGIN.to_owned(), mark: "whether the work is done" };
    vec![
        Target { file: folder.join("plugin.json"), content: plugin },
        Target {
            file: folder.join("hooks").join("hooks.json"),
            content: Content::Hooks(forms.into()),
        },
    ]
}
