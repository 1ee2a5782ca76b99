//! gate as a plug-in of Claude Code's: its hooks stand in the plug-in's own folder, and the
//! settings switch the plug-in on.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde_json::Value;

use super::client::{Content, Target};
use super::clients::{client_folder, hook_forms, settings_file};
use super::command::Commands;
use super::disk;
use super::roots::Roots;
use super::scope::Scope;
use super::settings_text::split_mark;
use crate::agent::Agent;

/// A plug-in that is switched on.
pub(super) struct ClaudePlugin {
    /// As Claude Code names it: `NAME@MARKETPLACE`.
    pub(super) name: String,
    /// The scope of the settings that switch it on.
    pub(super) scope: Scope,
    /// The file of its hooks, and the entries that gate would have there.
    pub(super) target: Target,
}

/// The plug-ins that are switched on and have hooks, by any maker.
pub(super) fn switched_on(roots: &Roots) -> Vec<ClaudePlugin> {
    let mut switches = BTreeMap::new();
    // The narrower settings overrule the wider ones.
    for scope in [Scope::User, Scope::Shared, Scope::Project] {
        let file = settings_file(Agent::ClaudeCode, roots, scope);
        let settings = file.and_then(|file| read_json(&file)).unwrap_or_default();
        for (name, is_on) in settings["enabledPlugins"].as_object().into_iter().flatten() {
            switches.insert(name.clone(), PluginSwitch { scope, is_on: is_on == true });
        }
    }
    let plugins_folder = client_folder(Agent::ClaudeCode, roots).join("plugins");
    let installed = read_json(&plugins_folder.join("installed_plugins.json")).unwrap_or_default();
    let plugins = switches.into_iter().filter(|(_, switch)| switch.is_on);
    plugins
        .filter_map(|(name, switch)| {
            let plugin = installed["plugins"][&name].as_array()?.last()?;
            let folder = PathBuf::from(plugin["installPath"].as_str()?);
            let file = folder.join("hooks").join("hooks.json");
            let forms = hook_forms(&Commands::unwritten(Agent::ClaudeCode));
            let target = Target { file, content: Content::Hooks(forms) };
            let has_hooks = target.file.is_file();
            has_hooks.then_some(ClaudePlugin { name, scope: switch.scope, target })
        })
        .collect()
}

/// The setting that switches a plug-in on or off.
struct PluginSwitch {
    /// The scope of the settings that decide.
    scope: Scope,
    is_on: bool,
}

fn read_json(file: &std::path::Path) -> Option<Value> {
    let text = String::from_utf8(disk::read(file).ok()??).ok()?;
    serde_json::from_str(split_mark(&text).1).ok()
}
