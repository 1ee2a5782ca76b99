//! Cursor's agent: `hooks.json`. One event that it does not know makes it drop
//! the whole file, so gate writes those that every version with hooks knows: a session
//! begins with its first prompt.

use std::path::PathBuf;

use super::client::{Client, Content, Target, no_switches};
use super::command::{Commands, Moment};
use super::hooks::Form;
use super::roots::Roots;
use super::scope::Scope;

/// Most follow-ups by Cursor: more than gate itself refuses, so that gate lets go, and
/// says so.
const LOOP_LIMIT: u64 = 50;

pub(super) const CLIENT: Client = Client {
    programs: &["cursor-agent"],
    folder: |roots| roots.home.join(".cursor"),
    targets,
    next,
    switches: no_switches,
    script: None,
};

fn file(roots: &Roots, scope: Scope) -> PathBuf {
    roots.root(scope).join(".cursor").join("hooks.json")
}

fn targets(roots: &Roots, scope: Scope, commands: &Commands<'_>) -> Vec<Target> {
    let [stop, prompt] =
        [(Moment::Stop, "stop"), (Moment::Prompt, "beforeSubmitPrompt")].map(|(moment, event)| {
            Form::flat(event, "command", commands, moment)
                .with("timeout", moment.timeout())
                .beside(&[("version", 1)])
        });
    let forms = vec![stop.with("loop_limit", LOOP_LIMIT), prompt];
    vec![Target { file: file(roots, scope), content: Content::Hooks(forms) }]
}

fn next(scope: Scope) -> Option<&'static str> {
    Some(if scope == Scope::User {
        "Cursor runs this hook in interactive sessions alone, not in `cursor-agent -p`: gate those \
         with `gate check` in the loop that runs them"
    } else {
        "trust this workspace in Cursor, or its hooks are not run; and it runs this one in \
         interactive sessions alone, not in `cursor-agent -p`: gate those with `gate check` in the \
         loop that runs them"
    })
}
