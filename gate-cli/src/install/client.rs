//! The files of an agent's client, for an installation.

use std::path::PathBuf;

use super::hooks::Form;
use super::trust::HookTrust;
use crate::clients::OffSwitch;

/// A file that gate is put into.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    pub(crate) file: PathBuf,
    pub(crate) content: Content,
}

/// Content of the file.
#[derive(Clone, Debug)]
pub(crate) enum Content {
    /// Entries among hooks, one an event; the stop's comes first.
    Hooks(Vec<Form>),
    /// A text that is gate's alone, which holds this mark.
    Own { text: String, mark: &'static str },
    /// The trust entries for the hooks of another file.
    Trust(Vec<HookTrust>),
}

/// A setting with which a client runs no hooks.
pub(crate) struct Switch<'f> {
    pub(crate) file: PathBuf,
    pub(crate) setting: &'f OffSwitch,
}
