//! Globs of settings: can they be read, and is there anything that they mean?

use crate::doctor::Tree;
use crate::doctor::finding::{Finding, note, problem};
use crate::site::CheckSite;
use crate::worktree::Globs;

/// Looks at the globs of a key.
pub(super) fn look(key: &str, globs: &[String], tree: &Tree, site: &CheckSite) -> Vec<Finding> {
    globs.iter().filter_map(|glob| one(key, glob, tree, site)).collect()
}

fn one(key: &str, glob: &str, tree: &Tree, site: &CheckSite) -> Option<Finding> {
    let globs = match Globs::new(&[glob.to_owned()]) {
        Ok(globs) => globs,
        Err(error) => {
            let hint = format!("put `{key}` right");
            return Some(problem("glob-invalid", error.to_string()).hint(hint));
        }
    };
    let project = site.project.canonicalize().unwrap_or_else(|_| site.project.clone());
    let inside = project.strip_prefix(tree.tree.root()).ok()?;
    let mut files = tree.snapshot.files().filter_map(|file| file.path().strip_prefix(inside).ok());
    let matches = files.any(|file| globs.matches(file.as_os_str().as_encoded_bytes()));
    (!matches).then(|| note("glob-matches-nothing", format!("`{glob}` in `{key}` matches no file")))
}
