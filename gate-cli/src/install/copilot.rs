//! GitHub Copilot CLI: a hooks file of gate's own, beside others'.
//!
//! With the event's name in capitals the hook is sent its name, and fields
//! that are spelled like everybody else's.

use std::path::PathBuf;

use super::command::Moment;
use super::hooks::{EVENTS, Form};
use super::json::Dialect;
use super::{Client, Commands, Content, Off, Roots, Scope, Switch, Target};

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
    let form = |(moment, event): (Moment, _)| {
        Form::flat(event, "bash", commands, moment)
            .with("type", "command")
            .with("timeoutSec", moment.timeout())
            .read_as(Dialect::PLAIN)
            .beside(&[("version", 1)])
    };
    let forms = EVENTS.map(form).into();
    vec![Target { file: file(roots, scope), content: Content::Hooks(forms) }]
}

fn next(scope: Scope) -> Option<&'static str> {
    (scope != Scope::User).then_some(
        "trust this folder in Copilot CLI (it asks, or --trust-folder): hooks of a folder that \
         is not trusted are silently not run",
    )
}

fn switches(roots: &Roots) -> Vec<Switch> {
    let of =
        |scope| Switch { file: file(roots, scope), path: &["disableAllHooks"], off: Off::Is(true) };
    [Scope::User, Scope::Project].map(of).into()
}
