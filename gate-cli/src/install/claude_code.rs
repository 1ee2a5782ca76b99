//! Claude Code: `hooks.Stop` and `hooks.SessionStart` in its settings files, with
//! timeouts in seconds.

use std::path::PathBuf;

use super::hooks::Form;
use super::json::Dialect;
use super::{Client, Content, Off, Roots, Scope, Switch, Target, command, nothing_next};
use crate::agent::Agent;

pub(super) const CLIENT: Client =
    Client { programs: &["claude"], folder: home, targets, next: nothing_next, switches };

fn home(roots: &Roots) -> PathBuf {
    roots.named("CLAUDE_CONFIG_DIR", ".claude")
}

fn file(roots: &Roots, scope: Scope) -> PathBuf {
    let project = roots.project.join(".claude");
    match scope {
        Scope::User => home(roots).join("settings.json"),
        Scope::Project => project.join("settings.local.json"),
        Scope::Shared => project.join("settings.json"),
    }
}

fn targets(roots: &Roots, scope: Scope, command: &str) -> Vec<Target> {
    let form = |event, timeout| {
        Form::grouped(Agent::ClaudeCode, event, command, timeout).read_as(Dialect::MARKED)
    };
    let forms =
        vec![form("Stop", command::TIMEOUT), form("SessionStart", command::TIMEOUT_OF_START)];
    vec![Target { file: file(roots, scope), content: Content::Hooks(forms) }]
}

fn switches(roots: &Roots) -> Vec<Switch> {
    let of = |file| Switch { file, path: &["disableAllHooks"], off: Off::Is(true) };
    Scope::ALL.into_iter().map(|scope| of(file(roots, scope))).collect()
}
