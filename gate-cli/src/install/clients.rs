//! The settings of all clients, by their facts. OpenCode has a plug-in instead, and Goose a
//! manifest beside its hooks.

use std::path::{Path, PathBuf};

use gate_platform::RealPath;

use super::client::{Content, Switch, Target};
use super::command::Commands;
use super::hooks::Form;
use super::opencode;
use super::roots::Roots;
use super::scope::Scope;
use crate::agent::Agent;
use crate::clients::{ClientFacts, SettingsFacts, facts};

/// The manifest of a plug-in folder of Goose's: its name.
const GOOSE_MANIFEST: &str = include_str!("../templates/goose-plugin.json");

/// The folder that shows that the user has the client.
pub(super) fn client_folder(agent: Agent, roots: &Roots) -> PathBuf {
    let SettingsFacts { folder, folder_variable, .. } = &facts(agent).settings;
    let named_folder = folder_variable.as_deref().and_then(|variable| roots.variable(variable));
    match named_folder {
        // Trust names the file as Codex does: it follows the links of CODEX_HOME, and not
        // those of HOME.
        Some(path) if agent == Agent::Codex => path.real_path().unwrap_or(path),
        Some(path) => path,
        None => roots.path(folder),
    }
}

/// The file with the client's hooks; `None` if the client has no such file.
pub(super) fn settings_file(agent: Agent, roots: &Roots, scope: Scope) -> Option<PathBuf> {
    let settings = &facts(agent).settings;
    let path = match scope {
        Scope::User => &settings.user,
        Scope::Project => &settings.project,
        Scope::Shared => &settings.shared,
        Scope::Managed => settings.managed.as_ref()?.file(),
    };
    Some(match Path::new(path).strip_prefix(&settings.folder) {
        // The folder may be another one, by a variable.
        Ok(path_in_folder) => client_folder(agent, roots).join(path_in_folder),
        Err(_) => roots.path(path),
    })
}

/// The entries of gate's hooks.
pub(super) fn hook_forms(commands: &Commands<'_>) -> Vec<Form> {
    let ClientFacts { hook, settings, .. } = facts(commands.agent());
    let Some(entry) = &settings.entry else { return Vec::new() };
    let forms = settings
        .installs
        .iter()
        .filter_map(|moment| Some(Form::new(hook.events.name(*moment)?, entry, commands, *moment)));
    forms.collect()
}

/// The files that gate is put into with these commands.
pub(super) fn targets(commands: &Commands<'_>, roots: &Roots, scope: Scope) -> Vec<Target> {
    let agent = commands.agent();
    let Some(file) = settings_file(agent, roots, scope) else { return Vec::new() };
    let manifest = (agent == Agent::Goose).then(|| goose_manifest(&file));
    let content = match agent {
        Agent::Opencode => opencode::content(commands),
        _ => Content::Hooks(hook_forms(commands)),
    };
    manifest.into_iter().flatten().chain([Target { file, content }]).collect()
}

/// The settings that can switch the hooks off.
pub(super) fn switches(agent: Agent, roots: &Roots) -> Vec<Switch<'static>> {
    let mut files: Vec<_> =
        Scope::ALL.into_iter().filter_map(|scope| settings_file(agent, roots, scope)).collect();
    files.dedup();
    let mut switches = Vec::new();
    for file in files {
        let settings = facts(agent).settings.off.iter();
        switches.extend(settings.map(|setting| Switch { file: file.clone(), setting }));
    }
    switches
}

/// Step for the person before the client runs the hook.
pub(crate) fn next_step(agent: Agent, scope: Scope) -> Option<&'static str> {
    let steps = &facts(agent).settings.next;
    match (scope, &steps.project) {
        (Scope::Managed, _) => steps.managed.as_deref(),
        (Scope::Project | Scope::Shared, Some(step)) => Some(step.as_str()),
        _ => steps.user.as_deref(),
    }
}

/// Command for a script that runs the agent headless, if its hooks are called then.
pub(crate) fn headless_script(agent: Agent) -> Option<&'static str> {
    facts(agent).script.as_deref()
}

/// The manifest beside a file of hooks.
fn goose_manifest(hooks_file: &Path) -> Option<Target> {
    let file = hooks_file.parent()?.with_file_name("plugin.json");
    let content =
        Content::Own { text: GOOSE_MANIFEST.to_owned(), mark: "whether the work is done" };
    Some(Target { file, content })
}
