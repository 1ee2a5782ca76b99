//! Claude Code: entries below `hooks` in its settings files, with timeouts in seconds.

use std::path::PathBuf;

use super::client::{Client, Content, OffValue, Switch, Target, nothing_next};
use super::command::Commands;
use super::hooks::{EVENTS, Form};
use super::json::Dialect;
use super::roots::Roots;
use super::scope::Scope;

pub(super) const CLIENT: Client = Client {
    programs: &["claude"],
    folder: home,
    targets,
    next: nothing_next,
    switches,
    script: Some("claude -p \"PROMPT\""),
};

pub(super) fn home(roots: &Roots) -> PathBuf {
    roots.named("CLAUDE_CONFIG_DIR", ".claude")
}

pub(super) fn file(roots: &Roots, scope: Scope) -> PathBuf {
    let project = roots.project.join(".claude");
    match scope {
        Scope::User => home(roots).join("settings.json"),
        Scope::Project => project.join("settings.local.json"),
        Scope::Shared => project.join("settings.json"),
    }
}

pub(super) fn forms(commands: &Commands<'_>) -> Vec<Form> {
    EVENTS
        .map(|(moment, event)| {
            Form::grouped(event, commands, moment).read_as(Dialect::MARKED).with_status()
        })
        .into()
}

fn targets(roots: &Roots, scope: Scope, commands: &Commands<'_>) -> Vec<Target> {
    vec![Target { file: file(roots, scope), content: Content::Hooks(forms(commands)) }]
}

fn switches(roots: &Roots) -> Vec<Switch> {
    let files = Scope::ALL.map(|scope| file(roots, scope));
    files.map(|file| Switch { file, path: &["disableAllHooks"], off: OffValue::Is(true) }).into()
}
