//! Gemini CLI: entries with names of their own for the events, a name each, and timeouts
//! in milliseconds.

use std::path::PathBuf;

use super::client::{Client, Content, OffValue, Switch, Target};
use super::command::{Commands, Moment};
use super::hooks::Form;
use super::json::Dialect;
use super::roots::Roots;
use super::scope::Scope;

const EVENTS: [(Moment, &str); 3] = [
    (Moment::Stop, "AfterAgent"),
    (Moment::Start, "SessionStart"),
    (Moment::Prompt, "BeforeAgent"),
];

/// Name of the hooks, for `/hooks disable`.
const NAME: &str = "gate";

/// The settings that switch the hooks off, with the values that do so.
const OFF_VALUES: [(&[&str], OffValue); 2] = [
    (&["hooksConfig", "enabled"], OffValue::Is(false)),
    (&["hooksConfig", "disabled"], OffValue::Lists(NAME)),
];

pub(super) const CLIENT: Client = Client {
    programs: &["gemini"],
    folder: |roots| roots.home.join(".gemini"),
    targets,
    next,
    switches,
    script: Some("gemini -p \"PROMPT\""),
};

/// The project's settings are one file, for the user and for everybody.
fn file(roots: &Roots, scope: Scope) -> PathBuf {
    roots.root(scope).join(".gemini").join("settings.json")
}

fn targets(roots: &Roots, scope: Scope, commands: &Commands<'_>) -> Vec<Target> {
    let forms = EVENTS.map(|(moment, event)| {
        Form::grouped(event, commands, moment)
            .with("timeout", moment.timeout() * 1000)
            .read_as(Dialect::COMMENTED)
            .with("name", NAME)
    });
    vec![Target { file: file(roots, scope), content: Content::Hooks(forms.into()) }]
}

fn next(scope: Scope) -> Option<&'static str> {
    (scope != Scope::User).then_some(
        "trust this folder in Gemini CLI (/permissions trust, or GEMINI_CLI_TRUST_WORKSPACE=true \
         where nobody is asked): hooks of a folder that is not trusted are not run",
    )
}

fn switches(roots: &Roots) -> Vec<Switch> {
    let mut switches = Vec::new();
    for scope in [Scope::User, Scope::Project] {
        for (path, off) in OFF_VALUES {
            switches.push(Switch { file: file(roots, scope), path, off });
        }
    }
    switches
}
