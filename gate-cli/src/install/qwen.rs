//! Qwen Code: Gemini's file, Claude's events, timeouts in milliseconds. A session
//! begins with its first prompt: headless it has no `SessionStart` (0.15.10).

use super::command::Moment;
use super::hooks::Form;
use super::json::Dialect;
use super::{Client, Commands, Content, Off, Roots, Scope, Switch, Target, nothing_next};

const EVENTS: [(Moment, &str); 2] = [(Moment::Stop, "Stop"), (Moment::Prompt, "UserPromptSubmit")];

pub(super) const CLIENT: Client = Client {
    programs: &["qwen"],
    folder: |roots| roots.home.join(".qwen"),
    targets,
    next: nothing_next,
    switches,
    script: Some("qwen -p \"PROMPT\""),
};

fn file(roots: &Roots, scope: Scope) -> std::path::PathBuf {
    roots.root(scope).join(".qwen").join("settings.json")
}

fn targets(roots: &Roots, scope: Scope, commands: &Commands<'_>) -> Vec<Target> {
    let form = |(moment, event): (Moment, _)| {
        Form::grouped(event, commands, moment)
            .with("timeout", moment.timeout() * 1000)
            .read_as(Dialect::COMMENTED)
            .with("name", "gate")
    };
    let forms = EVENTS.map(form).into();
    vec![Target { file: file(roots, scope), content: Content::Hooks(forms) }]
}

fn switches(roots: &Roots) -> Vec<Switch> {
    let of =
        |scope| Switch { file: file(roots, scope), path: &["disableAllHooks"], off: Off::Is(true) };
    [Scope::User, Scope::Project].map(of).into()
}
