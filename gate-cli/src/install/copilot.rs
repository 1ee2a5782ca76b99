//! GitHub Copilot CLI: a hooks file of gate's own, beside others'.
//!
//! With the event's name in capitals the hook is sent its name, and fields
//! that are spelled like everybody else's.

use std::path::PathBuf;

use super::client::{Client, Content, OffValue, Switch, Target};
use super::command::Commands;
use super::hooks::{EVENTS, Form};
use super::json::Dialect;
use super::roots::Roots;
use super::scope::Scope;

pub(super) const CLIENT: Client = Client {
    programs: &["copilot"],
    folder: |roots| roots.home.join(".copilot"),
    targets,
    next,
    switches,
    script: Some("copilot -p \"PROMPT\""),
};

fn file(roots: &Roots, scope: Scope) -> PathBuf {
    let folder = if scope == Scope::User { ".copilot" } else { ".github" };
    roots.root(scope).join(folder).join("hooks").join("gate.json")
}

fn targets(roots: &Roots, scope: Scope, commands: &Commands<'_>) -> Vec<Target> {
    let forms = EVENTS.map(|(moment, event)| {
        Form::flat(event, "bash", commands, moment)
            .with("type", "command")
            .with("timeoutSec", moment.timeout())
            .read_as(Dialect::PLAIN)
            .beside(&[("version", 1)])
    });
    vec![Target { file: file(roots, scope), content: Content::Hooks(forms.into()) }]
}

fn next(scope: Scope) -> Option<&'static str> {
    (scope != Scope::User).then_some(
        "trust this folder in Copilot CLI (it asks, or --trust-folder): hooks of a folder that \
         is not trusted are silently not run",
    )
}

fn switches(roots: &Roots) -> Vec<Switch> {
    let files = [Scope::User, Scope::Project].map(|scope| file(roots, scope));
    files.map(|file| Switch { file, path: &["disableAllHooks"], off: OffValue::Is(true) }).into()
}
