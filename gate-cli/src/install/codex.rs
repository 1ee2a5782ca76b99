//! Codex CLI: `hooks.json`, and the trust in it that stands in config.toml.

use std::path::PathBuf;

use super::client::{Client, Content, Target, no_switches};
use super::command::Commands;
use super::hooks::{EVENTS, Form};
use super::json::Dialect;
use super::roots::Roots;
use super::scope::Scope;
use super::trust::Trust;

pub(super) const CLIENT: Client = Client {
    programs: &["codex"],
    folder: home,
    targets,
    next,
    switches: no_switches,
    script: Some("codex exec \"PROMPT\""),
};

/// Trust names the file as Codex does: it follows the links of CODEX_HOME, and
/// not those of HOME.
fn home(roots: &Roots) -> PathBuf {
    match roots.variable("CODEX_HOME") {
        Some(named) => named.canonicalize().unwrap_or(named),
        None => roots.home.join(".codex"),
    }
}

/// The user's settings, in which the trust in any hook stands.
pub(super) fn config(roots: &Roots) -> PathBuf {
    home(roots).join("config.toml")
}

fn file(roots: &Roots, scope: Scope) -> PathBuf {
    let folder = if scope == Scope::User { home(roots) } else { roots.project.join(".codex") };
    folder.join("hooks.json")
}

fn targets(roots: &Roots, scope: Scope, commands: &Commands<'_>) -> Vec<Target> {
    let forms = EVENTS.map(|(moment, event)| {
        Form::grouped(event, commands, moment).read_as(Dialect::PLAIN).with_status()
    });
    vec![Target { file: file(roots, scope), content: Content::Hooks(forms.into()) }]
}

fn next(scope: Scope) -> Option<&'static str> {
    Some(match scope {
        Scope::User => {
            "start codex and review the hooks with /hooks: one that nobody has reviewed is silently \
             not run. `gate install codex --trust` says that you have"
        }
        Scope::Project | Scope::Shared => {
            "trust this project in codex and review the hooks with /hooks: one that nobody has \
             reviewed is silently not run. --trust says that you have"
        }
    })
}

/// The words of trust for the hooks that stand in a text of a hooks file.
pub(super) fn trusting(
    roots: &Roots,
    hooks: &std::path::Path,
    text: &str,
    forms: &[Form],
) -> Option<Target> {
    let mut trusts = Vec::new();
    for form in forms {
        let entry = form.found(text).ok()?.into_iter().next()?;
        trusts.push(Trust::new(hooks, &entry, form));
    }
    Some(Target { file: config(roots), content: Content::Trust(trusts) })
}
