//! The scripts of the tree that the commands of checks run.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use gate_core::decide::policy::{CheckPolicy, Policy};
use gate_platform::RealPath;

use crate::programs::with_command;
use crate::site::CheckSite;
use crate::worktree::WorkTree;

/// Programs that run the script that is named next.
const INTERPRETERS: [&str; 12] = [
    "sh", "bash", "zsh", "dash", "python", "python3", "node", "ruby", "perl", "deno", "bun", "php",
];

/// The scripts of the tree that the commands of checks run.
pub fn named_scripts(policy: &Policy, site: &CheckSite, tree: &WorkTree) -> BTreeSet<PathBuf> {
    policy
        .checks
        .iter()
        .filter_map(|(name, check)| with_command(name, check, site))
        .flat_map(|(settings, _)| scripts_of(&settings, site, tree))
        .collect()
}

/// The scripts of the tree that the command of a check runs.
pub(crate) fn scripts_of(
    settings: &CheckPolicy,
    site: &CheckSite,
    tree: &WorkTree,
) -> BTreeSet<PathBuf> {
    let Some(folder) = folder_of(settings, site, tree) else { return BTreeSet::new() };
    let is_separator = |char: char| char.is_whitespace() || ";&|()".contains(char);
    let words: Vec<&str> = settings
        .command
        .iter()
        .flat_map(|word| word.split(|char: char| settings.shell && is_separator(char)))
        .filter(|word| !word.is_empty())
        .collect();
    script_words(&words).iter().filter_map(|word| tree_path(&folder, word)).collect()
}

/// The folder in which a check runs, relative to the root; `None` if it is not in the tree.
pub(crate) fn folder_of(
    settings: &CheckPolicy,
    site: &CheckSite,
    tree: &WorkTree,
) -> Option<PathBuf> {
    let folder = site.folder_of(settings).real_path().ok()?;
    Some(folder.strip_prefix(tree.root()).ok()?.to_owned())
}

/// The words that are paths of programs, or follow an interpreter.
fn script_words<'w>(words: &[&'w str]) -> Vec<&'w str> {
    let mut scripts = Vec::new();
    let mut follows_interpreter = false;
    // Then the words after an interpreter are tests or modules.
    let is_test_runner = words.iter().any(|word| *word == "--test" || *word == "-m");
    for (index, word) in words.iter().enumerate() {
        let name = word.rsplit('/').next().unwrap_or(word);
        if follows_interpreter && !word.starts_with('-') {
            scripts.push(*word);
            follows_interpreter = false;
        } else if INTERPRETERS.contains(&name) {
            follows_interpreter = !is_test_runner;
        } else if (index == 0 || word.starts_with("./")) && word.contains('/') {
            scripts.push(*word);
        }
    }
    scripts
}

/// The path of a word relative to the tree's root. The word is relative to the folder that a command
/// runs in.
fn tree_path(folder: &Path, word: &str) -> Option<PathBuf> {
    let mut path = PathBuf::new();
    for component in folder.join(word).components() {
        match component {
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
            let words: Vec<_> = command.split(' ').collect();
            assert_eq!(script_words(&words), expected, "{command}");
        }
        assert_eq!(tree_path(Path::new("app"), "../ci/a.sh"), Some("ci/a.sh".into()));
        assert_eq!(tree_path(Path::new(""), "../a.sh"), None);
    }
}
