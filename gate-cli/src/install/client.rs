//! The description of an agent's client, for an installation.

use std::path::PathBuf;

use serde_json::Value;

use super::command::Commands;
use super::hooks::Form;
use super::roots::Roots;
use super::scope::Scope;
use super::trust::Trust;

/// A file that gate is put into.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    pub(crate) file: PathBuf,
    pub(crate) content: Content,
}

/// Content of the file.
#[derive(Clone, Debug)]
pub(crate) enum Content {
    /// Entries among hooks, one an event; first that of a stop.
    Hooks(Vec<Form>),
    /// A text that is gate's alone, which holds this mark.
    Own { text: String, mark: &'static str },
    /// The words of trust for the hooks of another file.
    Trust(Vec<Trust>),
}

/// Description of an agent's client.
pub(crate) struct Client {
    /// Its programs.
    pub(super) programs: &'static [&'static str],
    /// The folder that shows that the user has it.
    pub(super) folder: fn(&Roots) -> PathBuf,
    /// The files, and what stands in them.
    pub(super) targets: fn(&Roots, Scope, &Commands<'_>) -> Vec<Target>,
    /// Step for the person before the client runs the hook.
    pub(super) next: fn(Scope) -> Option<&'static str>,
    /// The settings that can switch hooks off, beside the target, and what in
    /// them does so.
    pub(super) switches: fn(&Roots) -> Vec<Switch>,
    /// Command for a script that runs it headless, if its hooks are called then.
    pub(super) script: Option<&'static str>,
}

/// No settings beside the target switch hooks off.
pub(super) fn no_switches(_: &Roots) -> Vec<Switch> {
    Vec::new()
}

/// Nothing has to be done.
pub(super) fn nothing_next(_: Scope) -> Option<&'static str> {
    None
}

/// A setting with which a client runs no hooks.
pub(crate) struct Switch {
    pub(crate) file: PathBuf,
    /// The path of the member.
    pub(crate) path: &'static [&'static str],
    /// The value that switches the hooks off.
    pub(crate) off: OffValue,
}

/// A value that switches hooks off.
#[derive(Clone, Copy, Debug)]
pub(crate) enum OffValue {
    /// Exactly this value.
    Is(bool),
    /// A list with this name in it.
    Lists(&'static str),
}

impl OffValue {
    pub(super) fn contains(self, value: &Value) -> bool {
        match self {
            Self::Is(off) => value.as_bool() == Some(off),
            Self::Lists(name) => {
                value.as_array().is_some_and(|names| names.iter().any(|known| known == name))
            }
        }
    }
}
