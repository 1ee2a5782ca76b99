//! Goose: a plug-in folder, with its name in `plugin.json` and the hooks beside.

use std::path::Path;

use super::client::{Content, Target};

/// Manifest of the folder, for Goose.
const PLUGIN: &str = include_str!("../templates/goose-plugin.json");

/// The manifest of the folder with these hooks.
pub(super) fn manifest(hooks: &Path) -> Option<Target> {
    let file = hooks.parent()?.with_file_name("plugin.json");
    let content = Content::Own { text: PLUGIN.to_owned(), mark: "whether the work is done" };
    Some(Target { file, content })
}
