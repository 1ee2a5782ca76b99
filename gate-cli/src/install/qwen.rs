//! Qwen Code: Gemini's file, Claude's events, timeouts in milliseconds. A session
//! begins with its first prompt: headless it has no `SessionStart` (0.15.10).

use super::hooks::Form;
use super::json::Dialect;
use super::{Client, Content, Off, Roots, Scope, Switch, Target, command, nothing_next};
use crate::agent::Agent;

pub(super) const CLIENT: Client = Client {
    programs: &["qwen"],
    folder: |roots| roots.home.join(".qwen"),
    targets,
    next: nothing_next,
    switches,
};

fn file(roots: &Roots, scope: Scope) -> std::path::PathBuf {
    roots.root(scope).join(".qwen").join("settings.json")
}

fn targets(roots: &Roots, scope: Scope, command: &str) -> Vec<Target> {
    let form = |event, seconds| {
        Form::grouped(Agent::Qwen, event, command, seconds * 1000)
            .read_as(Dialect::COMMENTED)
            .with("name", "gate")
    };
    let forms =
        vec![form("Stop", command::TIMEOUT), form("UserPromptSubmit", command::TIMEOUT_OF_START)];
    vec![Target { file: file(roots, scope), content: Content::Hooks(forms) }]
}

fn switches(roots: &Roots) -> Vec<Switch> {
    let of =
        |scope| Switch { file: file(roots, scope), path: &["disableAllHooks"], off: Off::Is(true) };
    [Scope::User, Scope::Project].map(of).into()
}
