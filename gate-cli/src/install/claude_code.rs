//! Claude Code: entries below `hooks` in its settings files, with timeouts in seconds.

use std::path::PathBuf;

use super::hooks::{EVENTS, Form};
use super::json::Dialect;
use super::{Client, Commands, Content, Off, Roots, Scope, Switch, Target, nothing_next};

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

fn targets(roots: &Roots, scope: Scope, commands: &Commands<'_>) -> Vec<Target> {
    let form = |(moment, event)| {
        Form::grouped(event, commands, moment).read_as(Dialect::MARKED).with_status()
    };
    let forms = EVENTS.map(form).into();
    vec![Target { file: file(roots, scope), content: Content::Hooks(forms) }]
}

fn switches(roots: &Roots) -> Vec<Switch> {
    let of = |file| Switch { file, path: &["disableAllHooks"], off: Off::Is(true) };
    Scope::ALL.into_iter().map(|scope| of(file(roots, scope))).collect()
}
