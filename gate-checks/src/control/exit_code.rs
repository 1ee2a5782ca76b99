//! Exit codes of runners, and whether one can mean more than "a test failed".

use std::fs;
use std::path::{Path, PathBuf};

use super::runner::Runner;

impl Runner {
    /// The code that it ends with where a test failed and nothing else went wrong;
    /// none where it means more.
    pub(crate) fn failing_code(self) -> Option<i32> {
        match self {
            Self::Cargo => Some(101),
            Self::Nextest => Some(100),
            Self::Pytest
            | Self::Unittest
            | Self::Jest
            | Self::Vitest
            | Self::Node
            | Self::Go
            | Self::Bats => Some(1),
            // They build, and run whatever else was asked for.
            Self::Maven | Self::Gradle => None,
        }
    }

    /// True if the exit code may depend on more than tests: a threshold of coverage, or the
    /// project's own hooks. A failing control would hide that.
    pub(crate) fn judges_more(self, args: &[String], cwd: &Path, root: &Path) -> bool {
        let told =
            |words: &[&str]| args.iter().any(|arg| words.iter().any(|word| arg.contains(word)));
        let set = |names: &[&str], words: &[&str]| {
            let files = configurations(cwd, root, names);
            let mut texts = files.iter().filter_map(|file| fs::read_to_string(file).ok());
            texts.any(|text| words.iter().any(|word| text.contains(word)))
        };
        match self {
            Self::Pytest => {
                const WORDS: &[&str] = &["fail-under", "fail_under", "compare-fail"];
                told(WORDS) || set(PYTEST, WORDS) || set(&["conftest.py"], HOOKS)
            }
            Self::Jest => {
                const WORDS: &[&str] = &["coverageThreshold"];
                told(WORDS) || set(&["package.json", "jest.config."], WORDS)
            }
            Self::Vitest => {
                const WORDS: &[&str] = &["thresholds", "typecheck"];
                told(WORDS) || set(&["vitest.config.", "vite.config.", "vitest.workspace."], WORDS)
            }
            Self::Node => told(&["--test-coverage-"]),
            _ => false,
        }
    }
}

/// Files with settings of pytest and its plug-ins.
const PYTEST: &[&str] =
    &["pytest.ini", ".pytest.ini", "pyproject.toml", "setup.cfg", "tox.ini", ".coveragerc"];

/// Words in hooks that change pytest's exit code.
const HOOKS: &[&str] = &["exitstatus", "sessionfinish"];

/// True for a file with one of these names; a name that ends with a dot is a prefix.
fn has_name(path: &Path, names: &[&str]) -> bool {
    let file = path.file_name().unwrap_or_default().to_string_lossy();
    names.iter().any(|name| file == *name || name.ends_with('.') && file.starts_with(name))
}

/// The files whose names begin like one of these, in the folder and in those above
/// it, and in the folders of tests right below.
fn configurations(cwd: &Path, root: &Path, names: &[&str]) -> Vec<PathBuf> {
    let above = cwd.ancestors().take_while(|folder| folder.starts_with(root)).map(Path::to_owned);
    let below = ["tests", "test"].map(|name| cwd.join(name));
    let entries = above.chain(below).filter_map(|folder| fs::read_dir(folder).ok()).flatten();
    let paths = entries.flatten().map(|entry| entry.path());
    paths.filter(|path| has_name(path, names)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(runner: Runner, line: &str, files: &[(&str, &str)], expected: bool) {
        let root = tempfile::tempdir().unwrap();
        let cwd = root.path().join("app");
        fs::create_dir_all(cwd.join("tests")).unwrap();
        for (name, text) in files {
            fs::write(cwd.join(name), text).unwrap();
        }
        let args: Vec<_> = line.split_whitespace().map(str::to_owned).collect();
        assert_eq!(runner.judges_more(&args, &cwd, root.path()), expected, "{line} {files:?}");
    }

    #[test]
    fn thresholds_and_hooks_are_seen() {
        check(Runner::Pytest, "--cov=a --cov-fail-under=90", &[], true);
        check(
            Runner::Pytest,
            "",
            &[("../pyproject.toml", "[tool.coverage]\nfail_under = 9")],
            true,
        );
        check(Runner::Pytest, "", &[("tests/conftest.py", "session.exitstatus = 0")], true);
        check(
            Runner::Pytest,
            "-q",
            &[("pyproject.toml", "[tool.pytest]"), ("tests/conftest.py", "")],
            false,
        );
        check(Runner::Jest, "", &[("jest.config.mjs", "coverageThreshold: {}")], true);
        check(Runner::Jest, "--ci", &[("package.json", "{}")], false);
        check(Runner::Vitest, "run", &[("vite.config.ts", "thresholds: {}")], true);
        check(Runner::Node, "--test-coverage-lines=90", &[], true);
        check(Runner::Cargo, "", &[], false);
    }
}
