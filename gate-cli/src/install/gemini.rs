//! Gemini CLI: entries with names of their own for the events, a name each, and timeouts
//! in milliseconds.

use std::path::PathBuf;

use super::command::Moment;
use super::hooks::Form;
use super::json::Dialect;
use super::{Client, Commands, Content, Off, Roots, Scope, Switch, Target};

const EVENTS: [(Moment, &str); 3] = [
    (Moment::Stop, "AfterAgent"),
    (Moment::Start, "SessionStart"),
    (Moment::Prompt, "BeforeAgent"),
];

/// Name of the hooks, for `/hooks disable`.
const NAME: &str = "gate";

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
    let form = |(moment, event): (Moment, _)| {
        Form::grouped(event, commands, moment)
            .with("timeout", moment.timeout() * 1000)
            .read_as(Dialect::COMMENTED)
            .with("name", NAME)
    };
    let forms = EVENTS.map(form).into();
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
