//! Runs Python's programs in the project's environment.

use crate::project::folder::Folder;

/// Lock files and how programs are run where they are.
const LOCKS: [(&str, &[&str]); 4] = [
    ("uv.lock", &["uv", "run"]),
    ("poetry.lock", &["poetry", "run"]),
    ("pdm.lock", &["pdm", "run"]),
    ("Pipfile.lock", &["pipenv", "run"]),
];

/// The words before a Python program.
#[derive(Clone, Copy, Debug)]
pub(super) struct Runner {
    /// The words before the program; none without a lock file.
    before: &'static [&'static str],
    /// Python's name.
    python: &'static str,
}

impl Runner {
    pub(super) fn detect(folder: &Folder<'_>) -> Self {
        let locked = LOCKS.iter().find(|(lock, _)| folder.has(lock));
        let before = locked.map_or(&[][..], |(_, before)| before);
        let only_old = before.is_empty() && !folder.finds("python3") && folder.finds("python");
        let python = if !before.is_empty() || only_old { "python" } else { "python3" };
        Self { before, python }
    }

    /// Without a runner as a module, which also makes the project's own
    /// modules known.
    pub(super) fn pytest(self) -> Vec<&'static str> {
        match self.before {
            [] => vec![self.python, "-m", "pytest"],
            before => [before, &["pytest"]].concat(),
        }
    }

    pub(super) fn unittest(self, start: &[&'static str]) -> Vec<&'static str> {
        [self.before, &[self.python, "-m", "unittest", "discover"], start].concat()
    }

    pub(super) fn tool(self, words: &[&'static str]) -> Vec<&'static str> {
        [self.before, words].concat()
    }
}
