//! Factory Droid: settings in the shape of Claude Code's.

use std::path::PathBuf;

use super::hooks::Form;
use super::{Client, Content, Roots, Scope, Target, command, no_switches, nothing_next};
use crate::agent::Agent;

pub(super) const CLIENT: Client = Client {
    programs: &["droid"],
    folder: |roots| roots.home.join(".factory"),
    targets,
    next: nothing_next,
    switches: no_switches,
};

fn file(roots: &Roots, scope: Scope) -> PathBuf {
    let name = if scope == Scope::Project { "settings.local.json" } else { "settings.json" };
    roots.root(scope).join(".factory").join(name)
}

fn targets(roots: &Roots, scope: Scope, command: &str) -> Vec<Target> {
    let form = |event, timeout| Form::grouped(Agent::Droid, event, command, timeout);
    let forms =
        vec![form("Stop", command::TIMEOUT), form("SessionStart", command::TIMEOUT_OF_START)];
    vec![Target { file: file(roots, scope), content: Content::Hooks(forms) }]
}
