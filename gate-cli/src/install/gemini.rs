//! Gemini CLI: `hooks.AfterAgent` and `hooks.SessionStart`, each with a name and a
//! timeout in milliseconds.

use std::path::PathBuf;

use super::hooks::Form;
use super::json::Dialect;
use super::{Client, Content, Off, Roots, Scope, Switch, Target, command};
use crate::agent::Agent;

/// What the hooks are called, for `/hooks disable`.
const NAME: &str = "gate";

pub(super) const CLIENT: Client = Client {
    programs: &["gemini"],
    folder: |roots| roots.home.join(".gemini"),
    targets,
    next,
    switches,
};

/// The project's settings are one file, for the user and for everybody.
fn file(roots: &Roots, scope: Scope) -> PathBuf {
    roots.root(scope).join(".gemini").join("settings.json")
}

fn targets(roots: &Roots, scope: Scope, command: &str) -> Vec<Target> {
    let form = |event, seconds| {
        Form::grouped(Agent::Gemini, event, command, seconds * 1000)
            .read_as(Dialect::COMMENTED)
            .with("name", NAME)
    };
    let forms =
        vec![form("AfterAgent", command::TIMEOUT), form("SessionStart", command::TIMEOUT_OF_START)];
    vec![Target { file: file(roots, scope), content: Content::Hooks(forms) }]
}

fn next(scope: Scope) -> Option<&'static str> {
    (scope != Scope::User).then_some(
        "trust this folder in Gemini CLI (/permissions trust, or GEMINI_CLI_TRUST_WORKSPACE=true \
         where nobody is asked): hooks of a folder that is not trusted are not run",
    )
}

fn switches(roots: &Roots) -> Vec<Switch> {
    let of = |scope| {
        let file = || file(roots, scope);
        [
            Switch { file: file(), path: &["hooksConfig", "enabled"], off: Off::Is(false) },
            Switch { file: file(), path: &["hooksConfig", "disabled"], off: Off::Names(NAME) },
        ]
    };
    [Scope::User, Scope::Project].into_iter().flat_map(of).collect()
}
