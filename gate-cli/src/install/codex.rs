//! Codex CLI: the trust in its hooks, which stands in config.toml.

use std::path::{Path, PathBuf};

use super::client::{Content, Target};
use super::clients::folder;
use super::hooks::Form;
use super::roots::Roots;
use super::trust::Trust;
use crate::agent::Agent;

/// The user's settings, in which the trust in any hook stands.
pub(super) fn config(roots: &Roots) -> PathBuf {
    folder(Agent::Codex, roots).join("config.toml")
}

/// The trust entries for the hooks that stand in a text of a hooks file.
pub(super) fn trusting(roots: &Roots, hooks: &Path, text: &str, forms: &[Form]) -> Option<Target> {
    let mut trusts = Vec::new();
    for form in forms {
        let entry = form.found(text).ok()?.into_iter().next()?;
        trusts.push(Trust::new(hooks, &entry, form));
    }
    Some(Target { file: config(roots), content: Content::Trust(trusts) })
}
