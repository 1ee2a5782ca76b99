//! The context of the changed files: the folders that checks run in, the scripts that they name, and
//! the dependencies and targets of the project.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use gate_core::decide::policy::Policy;
use gate_core::integrity::{MakeTarget, Surroundings, idle_targets, python_dependencies};

use crate::baseline::Reader;
use crate::checks::command::test_checks;
use crate::programs::with_command;
use crate::scripts::{folder_of, scripts_of};
use crate::site::CheckSite;
use crate::worktree::WorkTree;

/// Files that name dependencies of Python.
const DEPENDENCY_FILES: [&str; 4] =
    ["pyproject.toml", "requirements.txt", "requirements-dev.txt", "requirements/base.txt"];

/// Files with targets of make.
const MAKEFILES: [&str; 3] = ["Makefile", "makefile", "GNUmakefile"];

/// Targets that people and checks run by habit.
const USUAL_TARGETS: [&str; 6] = ["test", "tests", "check", "ci", "lint", "verify"];

/// The context of the changed files. Its dependencies and targets are the baseline's: the agent may
/// have changed the tree's.
pub(super) fn project_context(
    policy: &Policy,
    site: &CheckSite,
    tree: &WorkTree,
    baseline: &Reader<'_>,
) -> Surroundings {
    let mut folders = BTreeSet::from([PathBuf::new()]);
    let mut command_words = BTreeSet::new();
    for (name, check) in &policy.checks {
        let Some((settings, _)) = with_command(name, check, site) else { continue };
        let Some(folder) = folder_of(&settings, site, tree) else { continue };
        folders.insert(folder);
        command_words.extend(settings.command);
    }
    let (mut dependencies, mut targets) = (Vec::new(), Vec::new());
    for folder in &folders {
        for name in DEPENDENCY_FILES {
            if let Some(text) = baseline_text(baseline, &folder.join(name)) {
                dependencies.extend(python_dependencies(name, &text));
            }
        }
        let makefiles =
            MAKEFILES.iter().filter_map(|name| baseline_text(baseline, &folder.join(name)));
        for target in makefiles.flat_map(|text| idle_targets(&text)) {
            let is_run =
                USUAL_TARGETS.contains(&target.as_str()) || command_words.contains(&target);
            if is_run {
                let folder = folder.to_string_lossy().into_owned();
                targets.push(MakeTarget { folder, name: target });
            }
        }
    }
    let folders = folders.iter().map(|folder| folder.to_string_lossy().into_owned()).collect();
    Surroundings { folders, dependencies, targets }
}

fn baseline_text(baseline: &Reader<'_>, path: &Path) -> Option<String> {
    String::from_utf8(baseline.content(path).ok().flatten()?.bytes).ok()
}

/// The scripts of checks whose tests gate does not run in a copy: there the old ones would run.
pub(super) fn scripts_of_other_checks(
    policy: &Policy,
    site: &CheckSite,
    tree: &WorkTree,
) -> BTreeSet<PathBuf> {
    let test_checks = test_checks(policy, site);
    policy
        .checks
        .iter()
        .filter(|(name, _)| !test_checks.iter().any(|(id, _)| id.as_str() == *name))
        .filter_map(|(name, check)| with_command(name, check, site))
        .flat_map(|(settings, _)| scripts_of(&settings, site, tree))
        .collect()
}
