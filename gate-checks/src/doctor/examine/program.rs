//! The program of a check: is it there, and whose is it?

use std::path::{Path, PathBuf};

use gate_core::decide::policy::CheckPolicy;
use gate_platform::RealPath;

use super::installed::missing_module;
use crate::doctor::Tree;
use crate::doctor::finding::{Finding, fine, note, problem};
use crate::site::CheckSite;
use crate::worktree::ENVIRONMENT_MARKER;

/// Findings about the program of a command.
pub(super) fn program_findings(
    settings: &CheckPolicy,
    site: &CheckSite,
    cwd: &Path,
    tree: Option<&Tree>,
) -> Vec<Finding> {
    let word = match settings.command.first() {
        _ if settings.shell => "bash",
        Some(word) => word,
        None => return Vec::new(),
    };
    let Some(program) = resolve(word, site, cwd) else { return vec![missing(word)] };
    let mut findings = vec![fine("program-found", format!("{word} is {}", program.display()))];
    // A link in the tree is the agent's, wherever it leads: only the folder is resolved.
    let real_folder = program.parent().and_then(|folder| folder.real_path().ok());
    let real_path = real_folder.zip(program.file_name()).map(|(folder, name)| folder.join(name));
    let tree_path = tree
        .zip(real_path.as_deref())
        .and_then(|(tree, path)| path.strip_prefix(tree.tree.root()).ok());
    // A program of a virtual environment is there for this project alone.
    let environment = real_path.as_deref().and_then(|path| path.parent()?.parent());
    let is_of_environment =
        environment.is_some_and(|folder| folder.join(ENVIRONMENT_MARKER).is_file());
    if let Some(path) = tree_path
        && !is_of_environment
    {
        let message = format!("{} is part of the work: the agent can change it", path.display());
        let hint = "name a program outside of the work tree where you can";
        findings.push(note("program-in-tree", message).hint(hint));
    }
    if !settings.shell {
        let root = tree.map_or(cwd, |tree| tree.tree.root());
        let is_in_tree = tree_path.is_some();
        findings.extend(missing_module(&settings.command, cwd, root, &program, is_in_tree));
    }
    findings
}

/// A finding about a plug-in's program.
pub(super) fn plugin_finding(name: &str, site: &CheckSite) -> Finding {
    let program = format!("gate-check-{name}");
    match resolve(&program, site, Path::new("/")) {
        Some(path) => fine("plugin-found", format!("plug-in: {program} is {}", path.display())),
        None => missing(&program).hint(format!(
            "give [checks.{name}] a `command`, or install {program} into a folder of PATH"
        )),
    }
}

/// The whole path of a program: by its name from PATH, by a path from the
/// working folder.
fn resolve(word: &str, site: &CheckSite, cwd: &Path) -> Option<PathBuf> {
    which::which_in(word, Some(site.search_path()), cwd).ok()
}

fn missing(word: &str) -> Finding {
    if word.contains('/') {
        let message = format!("{word} is not there, or cannot be executed");
        return problem("program-missing", message).hint("put `command` right");
    }
    let message = format!("{word} is not in PATH");
    problem("program-missing", message).hint(format!("install {word}, or put `command` right"))
}
