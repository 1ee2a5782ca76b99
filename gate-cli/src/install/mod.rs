//! Installs gate in front of an agent's stop and at the beginning of its sessions, and takes all of it
//! back.
//!
//! `crate::clients` has the facts: the places of settings, and the members in them. `clients` reads
//! the facts, and a client that needs more than a manifest beside them has a file here. `json` and
//! `hooks` change a document and leave the rest as it is; `trust` does so for Codex's TOML. `plan`
//! finds out the changes, `receipt` stores the original bytes, and `disk` writes.

mod claude_plugin;
mod client;
mod clients;
mod codex;
mod command;
mod disk;
mod hooked_clients;
mod hooks;
mod inspection;
mod json;
mod opencode;
mod plan;
mod program;
mod receipt;
mod roots;
mod scope;
mod settings_text;
#[cfg(test)]
mod tests;
mod trial;
mod trust;

pub(crate) use clients::{headless_script, next_step};
pub(crate) use hooked_clients::HookedClients;
pub use inspection::Install;
pub(crate) use inspection::{HookState, hook_state, inspect, is_here, outdated_scopes, update};
pub(crate) use plan::{CopyStep, InstallOptions, Plan, Step};
pub(crate) use program::{HookProgram, is_in_path};
pub(crate) use roots::Roots;
pub use scope::Scope;
pub use trial::TestStop;

use crate::agent::Agent;

/// Another source of gate's hooks than the user's settings, in words: a plug-in that is switched
/// on, or the settings of the machine.
pub(crate) fn other_source(agent: Agent, roots: &Roots) -> Option<String> {
    let managed = clients::targets(&command::Commands::unwritten(agent), roots, Scope::Managed);
    if let Some(target) = managed.iter().find(|target| inspection::calls_gate(target)) {
        return Some(format!("the settings of the machine, {}", target.file.display()));
    }
    let plugins = (agent == Agent::ClaudeCode).then(|| claude_plugin::switched_on(roots));
    let plugin = plugins?.into_iter().find(|plugin| inspection::calls_gate(&plugin.target))?;
    Some(format!("the plug-in {}", plugin.name))
}
