//! Codex CLI: the trust in its hooks, which stands in config.toml.

use std::path::{Path, PathBuf};

use super::client::{Content, Target};
use super::clients::client_folder;
use super::hooks::Form;
use super::roots::Roots;
use super::trust::HookTrust;
use crate::agent::Agent;

/// The user's settings, in which the trust in any hook stands.
pub(super) fn config_file(roots: &Roots) -> PathBuf {
    client_folder(Agent::Codex, roots).join("config.toml")
}

/// The trust entries for the hooks that stand in a text of a hooks file; `None` if a hook is not there.
pub(super) fn trust_target(
    roots: &Roots,
    hooks_file: &Path,
    text: &str,
    forms: &[Form],
) -> Option<Target> {
    let mut trusts = Vec::new();
    for form in forms {
        let entry = form.find_entries(text).ok()?.into_iter().next()?;
        trusts.push(HookTrust::new(hooks_file, &entry, form));
    }
    Some(Target { file: config_file(roots), content: Content::Trust(trusts) })
}
