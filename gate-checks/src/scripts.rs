//! The scripts of the tree that the commands of checks run.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use gate_core::decide::policy::{CheckPolicy, Policy};

use crate::programs::with_command;
use crate::site::CheckSite;
use crate::worktree::WorkTree;

/// Programs that run the script that is named next.
const INTERPRETERS: [&str; 12] = [
    "sh", "bash", "zsh", "dash", "python", "python3", "node", "ruby", "perl", "deno", "bun", "php",
];

/// The files of the tree that commands name as what they run.
pub fn named_scripts(policy: &Policy, site: &CheckSite, tree: &WorkTree) -> BTreeSet<PathBuf> {
    let checks = policy.checks.iter();
    let commands = checks.filter_map(|(name, check)| with_command(name, check, site));
    commands.flat_map(|(settings, _)| scripts_of(&settings, site, tree)).collect()
}

/// The files of the tree that the command of a check names as what it runs.
pub(crate) fn scripts_of(
    settings: &CheckPolicy,
    site: &CheckSite,
    tree: &WorkTree,
) -> BTreeSet<PathBuf> {
    let Some(folder) = folder_of(settings, site, tree) else { return BTreeSet::new() };
    let words: Vec<String> = if settings.shell {
        let words = settings.command.iter();
        words
            .flat_map(|word| word.split(|c: char| c.is_whitespace() || ";&|()".contains(c)))
            .map(str::to_owned)
            .collect()
    } else {
        settings.command.clone()
    };
    let words = words.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>();
    run_by(&words).iter().filter_map(|word| inside(&folder, word)).collect()
}

/// The folder in which a check runs, relative to the root; none if it is not in the tree.
pub(crate) fn folder_of(
    settings: &CheckPolicy,
    site: &CheckSite,
    tree: &WorkTree,
) -> Option<PathBuf> {
    let folder = site.folder_of(settings).canonicalize().ok()?;
    Some(folder.strip_prefix(tree.root()).ok()?.to_owned())
}

/// The words that are paths of programs, or follow an interpreter.
fn run_by(words: &[String]) -> Vec<&str> {
    let mut found = Vec::new();
    let mut expected = false;
    let is_test_runner = words.iter().any(|word| word == "--test" || word == "-m");
    for (at, word) in words.iter().enumerate() {
        let name = word.rsplit('/').next().unwrap_or(word);
        if expected && !word.starts_with('-') {
            found.push(word.as_str());
            expected = false;
        } else if INTERPRETERS.contains(&name) {
            expected = !is_test_runner;
        } else if (at == 0 || word.starts_with("./")) && word.contains('/') {
            found.push(word.as_str());
        }
    }
    found
}

/// A path within the tree, from the folder that a command runs in.
fn inside(folder: &Path, word: &str) -> Option<PathBuf> {
    let mut path = PathBuf::new();
    for part in folder.join(word).components() {
        match part {
            Component::Normal(name) => path.push(name),
            Component::CurDir => {}
            Component::ParentDir => {
                path.pop().then_some(())?;
            }
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_command_runs() {
        for (command, expected) in [
            ("sh ci/test.sh --all", &["ci/test.sh"][..]),
            ("./run_tests tests", &["./run_tests"]),
            ("python3 -u tools/check.py", &["tools/check.py"]),
            ("node --test test/a.test.js", &[]),
            ("python -m pytest tests/test_a.py", &[]),
            ("cargo test", &[]),
            ("env A=1 bash x.sh", &["x.sh"]),
            ("set -e ./a.sh ./b.sh", &["./a.sh", "./b.sh"]),
        ] {
            let words: Vec<_> = command.split(' ').map(str::to_owned).collect();
            assert_eq!(run_by(&words), expected, "{command}");
        }
        assert_eq!(inside(Path::new("app"), "../ci/a.sh"), Some("ci/a.sh".into()));
        assert_eq!(inside(Path::new(""), "../a.sh"), None);
    }
}
