//! The context of the changed files: the folders that checks run in, the scripts that they name, and
//! the dependencies and targets of the project.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use gate_core::decide::policy::Policy;
use gate_core::integrity::{Around, idle_targets, python_dependencies};

use crate::baseline::Reader;
use crate::checks::command::test_checks;
use crate::programs::with_command;
use crate::scripts::{folder_of, scripts_of};
use crate::site::CheckSite;
use crate::worktree::WorkTree;

/// Files that name dependencies, and files with targets.
const DECLARING: [&str; 4] =
    ["pyproject.toml", "requirements.txt", "requirements-dev.txt", "requirements/base.txt"];
const MAKING: [&str; 3] = ["Makefile", "makefile", "GNUmakefile"];

/// Targets that people and checks run by habit.
const USUAL: [&str; 6] = ["test", "tests", "check", "ci", "lint", "verify"];

pub(super) fn around(
    policy: &Policy,
    site: &CheckSite,
    tree: &WorkTree,
    was: &Reader<'_>,
) -> Around {
    let checks = policy.checks.iter();
    let checks = checks.filter_map(|(name, check)| Some(with_command(name, check, site)?.0));
    let commands: Vec<_> = checks
        .filter_map(|settings| Some((folder_of(&settings, site, tree)?, settings.command)))
        .collect();
    let mut folders = BTreeSet::from([PathBuf::new()]);
    folders.extend(commands.iter().map(|(folder, _)| folder.clone()));
    let (mut dependencies, mut targets) = (Vec::new(), Vec::new());
    for folder in &folders {
        for name in DECLARING {
            if let Some(text) = baseline_text(was, &folder.join(name)) {
                dependencies.extend(python_dependencies(name, &text));
            }
        }
        let makefiles = MAKING.iter().filter_map(|name| baseline_text(was, &folder.join(name)));
        let folder = folder.to_string_lossy();
        for target in makefiles.flat_map(|text| idle_targets(&text)) {
            let is_run = USUAL.contains(&target.as_str())
                || commands.iter().any(|(_, words)| words.contains(&target));
            if is_run {
                targets.push((folder.clone().into_owned(), target));
            }
        }
    }
    let folders = folders.iter().map(|folder| folder.to_string_lossy().into_owned()).collect();
    Around { folders, dependencies, targets }
}

fn baseline_text(baseline: &Reader<'_>, path: &Path) -> Option<String> {
    String::from_utf8(baseline.content(path).ok().flatten()?.bytes).ok()
}

/// The scripts of checks whose tests gate does not run in a copy: there the old ones would run.
pub(super) fn scripts_of_others(
    policy: &Policy,
    site: &CheckSite,
    tree: &WorkTree,
) -> BTreeSet<PathBuf> {
    let of_tests = test_checks(policy, site);
    let is_other = |name: &str| !of_tests.iter().any(|(id, _)| id.as_str() == name);
    let others = policy.checks.iter().filter(|(name, _)| is_other(name));
    let commands = others.filter_map(|(name, check)| with_command(name, check, site));
    commands.flat_map(|(settings, _)| scripts_of(&settings, site, tree)).collect()
}
