//! gate as a plug-in of Claude Code's: its hooks stand in the plug-in's own folder, and the
//! settings switch the plug-in on.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde_json::Value;

use super::client::{Content, Target};
use super::clients::{file, folder, forms};
use super::command::Commands;
use super::disk;
use super::roots::Roots;
use super::scope::Scope;
use super::settings_text::split_mark;
use crate::agent::Agent;

/// A plug-in that is switched on.
pub(super) struct Plugin {
    /// As Claude Code names it: `NAME@MARKETPLACE`.
    pub(super) name: String,
    /// The scope of the settings that switch it on.
    pub(super) scope: Scope,
    /// Its hooks, and what gate would have there.
    pub(super) target: Target,
}

/// The plug-ins that are switched on and have hooks, by any maker.
pub(super) fn switched_on(roots: &Roots) -> Vec<Plugin> {
    let mut on = BTreeMap::new();
    // The narrower settings overrule the wider ones.
    for scope in [Scope::User, Scope::Shared, Scope::Project] {
        let file = file(Agent::ClaudeCode, roots, scope);
        let settings = file.and_then(|file| document(&file)).unwrap_or_default();
        for (name, is_on) in settings["enabledPlugins"].as_object().into_iter().flatten() {
            on.insert(name.clone(), (scope, is_on == true));
        }
    }
    let on = on.into_iter().filter(|(_, (_, is_on))| *is_on);
    let list = folder(Agent::ClaudeCode, roots).join("plugins").join("installed_plugins.json");
    let installed = document(&list).unwrap_or_default();
    on.filter_map(|(name, (scope, _))| {
        let folder = installed["plugins"][&name].as_array()?.last()?["installPath"].as_str()?;
        let file = PathBuf::from(folder).join("hooks").join("hooks.json");
        let forms = forms(&Commands::unwritten(Agent::ClaudeCode));
        let target = Target { file, content: Content::Hooks(forms) };
        target.file.is_file().then_some(Plugin { name, scope, target })
    })
    .collect()
}

fn document(file: &std::path::Path) -> Option<Value> {
    let text = String::from_utf8(disk::read(file).ok()??).ok()?;
    serde_json::from_str(split_mark(&text).1).ok()
}
