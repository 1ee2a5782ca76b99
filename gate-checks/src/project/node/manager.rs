//! Package managers.

use super::package::Package;
use crate::project::folder::Folder;
use crate::project::proposal::{Aim, Found, Proposal};

/// A package manager, which also runs scripts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PackageManager {
    Npm,
    Pnpm,
    Yarn,
    Bun,
}

/// Lock files and whose they are.
const LOCKS: [(&str, PackageManager); 6] = [
    ("pnpm-lock.yaml", PackageManager::Pnpm),
    ("yarn.lock", PackageManager::Yarn),
    ("bun.lock", PackageManager::Bun),
    ("bun.lockb", PackageManager::Bun),
    ("package-lock.json", PackageManager::Npm),
    ("npm-shrinkwrap.json", PackageManager::Npm),
];

impl PackageManager {
    const ALL: [Self; 4] = [Self::Npm, Self::Pnpm, Self::Yarn, Self::Bun];

    /// The one that `packageManager` names, else whose lock file is there, else
    /// npm.
    pub(super) fn detect(folder: &Folder<'_>, package: &Package, found: &mut Found) -> Self {
        if let Some(manager) = package.text("packageManager").and_then(Self::named) {
            return manager;
        }
        let locks: Vec<_> = LOCKS.iter().filter(|(lock, _)| folder.has(lock)).collect();
        let first = locks.first().map_or(Self::Npm, |(_, manager)| *manager);
        if locks.iter().any(|(_, manager)| *manager != first) {
            let names: Vec<_> = locks.iter().map(|(lock, _)| *lock).collect();
            found.notes(format!("of {} the first is believed", names.join(", ")));
        }
        first
    }

    /// `pnpm@9.1.0+sha512.…`
    fn named(text: &str) -> Option<Self> {
        let name = text.split('@').next().unwrap_or_default();
        Self::ALL.into_iter().find(|manager| manager.name() == name)
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Npm => "npm",
            Self::Pnpm => "pnpm",
            Self::Yarn => "yarn",
            Self::Bun => "bun",
        }
    }

    /// True if packages need no node_modules.
    pub(super) fn plugs(self) -> bool {
        self == Self::Yarn
    }

    /// Runs a script. `bun test` would be Bun's own runner.
    pub(super) fn run(self, script: &str) -> Vec<String> {
        words(&[self.name(), "run", script])
    }

    /// Arguments for a script.
    pub(super) fn after(self, arguments: &[&str]) -> Vec<String> {
        let dashes: &[&str] =
            if self == Self::Npm && !arguments.is_empty() { &["--"] } else { &[] };
        words(&[dashes, arguments].concat())
    }

    /// Runs a script in all packages of a workspace that have it.
    pub(super) fn run_everywhere(self, script: &str) -> Option<Vec<String>> {
        match self {
            Self::Npm => Some(words(&["npm", "run", script, "--workspaces", "--if-present"])),
            Self::Pnpm => Some(words(&["pnpm", "--recursive", "run", script])),
            Self::Bun => Some(words(&["bun", "run", "--filter", "*", script])),
            Self::Yarn => None,
        }
    }

    /// Runs the program of an installed package, and installs none.
    pub(super) fn exec(self, program: &str) -> Vec<String> {
        match self {
            Self::Npm => words(&["npx", "--no-install", program]),
            Self::Pnpm => words(&["pnpm", "exec", program]),
            Self::Yarn => words(&["yarn", "run", program]),
            Self::Bun => words(&["bunx", "--no-install", program]),
        }
    }

    pub(super) fn proposal(
        self,
        aim: Aim,
        command: Vec<String>,
        why: impl Into<String>,
    ) -> Proposal {
        let needs_tool = command.first().cloned().unwrap_or_default();
        Proposal { command, needs_tool, ..Proposal::new(aim, self.name(), &[], why) }
    }
}

pub(super) fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|&word| word.to_owned()).collect()
}
