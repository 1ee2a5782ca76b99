//! Qwen Code: Gemini's file, Claude's events, timeouts in milliseconds. A session
//! begins with its first prompt: headless it has no `SessionStart` (0.15.10).

use super::client::{Client, Content, OffValue, Switch, Target, nothing_next};
use super::command::{Commands, Moment};
use super::hooks::Form;
use super::json::Dialect;
use super::roots::Roots;
use super::scope::Scope;

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
    let forms = EVENTS.map(|(moment, event)| {
        Form::grouped(event, commands, moment)
            .with("timeout", moment.timeout() * 1000)
            .read_as(Dialect::COMMENTED)
            .with("name", "gate")
    });
    vec![Target { file: file(roots, scope), content: Content::Hooks(forms.into()) }]
}

fn switches(roots: &Roots) -> Vec<Switch> {
    let files = [Scope::User, Scope::Project].map(|scope| file(roots, scope));
    files.map(|file| Switch { file, path: &["disableAllHooks"], off: OffValue::Is(true) }).into()
}
