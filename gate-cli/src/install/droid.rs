//! Factory Droid: settings in the shape of Claude Code's. `droid exec` sends no prompt
//! event (0.215.0).

use std::path::PathBuf;

use super::client::{Client, Content, Target, no_switches, nothing_next};
use super::command::Commands;
use super::hooks::{EVENTS, Form};
use super::roots::Roots;
use super::scope::Scope;

pub(super) const CLIENT: Client = Client {
    programs: &["droid"],
    folder: |roots| roots.home.join(".factory"),
    targets,
    next: nothing_next,
    switches: no_switches,
    script: Some("droid exec \"PROMPT\""),
};

fn file(roots: &Roots, scope: Scope) -> PathBuf {
    let name = if scope == Scope::Project { "settings.local.json" } else { "settings.json" };
    roots.root(scope).join(".factory").join(name)
}

fn targets(roots: &Roots, scope: Scope, commands: &Commands<'_>) -> Vec<Target> {
    let forms = EVENTS.map(|(moment, event)| Form::grouped(event, commands, moment));
    vec![Target { file: file(roots, scope), content: Content::Hooks(forms.into()) }]
}
