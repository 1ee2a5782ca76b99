//! The context of the changed files: the commands that run, the scripts that they name, and
//! the dependencies and targets of the project.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use gate_core::decide::policy::{CheckPolicy, Mode, Policy};
use gate_core::integrity::{Around, Language, idle_targets, python_dependencies};

use crate::baseline::Reader;
use crate::check_kind::with_command;
use crate::report;
use crate::site::CheckSite;
use crate::worktree::WorkTree;

/// Files that name dependencies, and files with targets.
const DECLARING: [&str; 4] =
    ["pyproject.toml", "requirements.txt", "requirements-dev.txt", "requirements/base.txt"];
const MAKING: [&str; 3] = ["Makefile", "makefile", "GNUmakefile"];

/// Targets that people and checks run by habit.
const USUAL: [&str; 6] = ["test", "tests", "check", "ci", "lint", "verify"];

/// Programs that run the script that is named next.
const INTERPRETERS: [&str; 12] = [
    "sh", "bash", "zsh", "dash", "python", "python3", "node", "ruby", "perl", "deno", "bun", "php",
];

/// A command of a check, with the folder that it runs in.
struct Running {
    settings: CheckPolicy,
    folder: PathBuf,
}

fn running(policy: &Policy, site: &CheckSite, tree: &WorkTree) -> Vec<Running> {
    let commands = policy.checks.iter().filter_map(|(name, check)| {
        let (settings, _) = with_command(name, check, site)?;
        let folder = site.folder_of(&settings).canonicalize().ok()?;
        let folder = folder.strip_prefix(tree.root()).ok()?.to_owned();
        Some(Running { settings, folder })
    });
    commands.collect()
}

pub(super) fn around(
    policy: &Policy,
    site: &CheckSite,
    tree: &WorkTree,
    was: &Reader<'_>,
) -> Around {
    let running = running(policy, site, tree);
    let required = running.iter().map(|running| &running.settings);
    let required =
        required.filter(|check| check.control && check.mode == Mode::Require && !check.shell);
    let known = required.filter(|check| report::is_runner(&check.command));
    let overlaid = known.filter_map(|check| language(&check.command)).collect();
    let mut folders = BTreeSet::from([PathBuf::new()]);
    let mut commands = Vec::new();
    for Running { settings, folder } in &running {
        commands.push((folder.to_string_lossy().into_owned(), settings.command.clone()));
        folders.insert(folder.clone());
    }
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
    Around { overlaid, commands, dependencies, targets }
}

fn baseline_text(baseline: &Reader<'_>, path: &Path) -> Option<String> {
    String::from_utf8(baseline.content(path).ok().flatten()?.bytes).ok()
}

/// The language of the tests that a known runner runs.
fn language(command: &[String]) -> Option<Language> {
    command.iter().find_map(|word| match word.rsplit('/').next().unwrap_or(word) {
        "cargo" | "cargo-nextest" => Some(Language::Rust),
        "go" => Some(Language::Go),
        "pytest" | "py.test" | "pytest-3" => Some(Language::Python),
        "jest" | "jest.js" | "vitest" | "vitest.mjs" | "node" => Some(Language::Js),
        _ => None,
    })
}

/// The files of the tree that commands name as what they run.
pub fn named_scripts(policy: &Policy, site: &CheckSite, tree: &WorkTree) -> BTreeSet<PathBuf> {
    let named = running(policy, site, tree).into_iter().flat_map(|running| {
        let words: Vec<String> = if running.settings.shell {
            running
                .settings
                .command
                .iter()
                .flat_map(|word| word.split(|c: char| c.is_whitespace() || ";&|()".contains(c)))
                .map(str::to_owned)
                .collect()
        } else {
            running.settings.command
        };
        let words = words.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>();
        run_by(&words).iter().filter_map(|word| inside(&running.folder, word)).collect::<Vec<_>>()
    });
    named.collect()
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
