//! Exit codes of runners, and whether one can mean more than "a test failed".

use std::fs;
use std::path::{Path, PathBuf};

use super::runner::Runner;

impl Runner {
    /// The code that it ends with if a test failed and nothing else went wrong.
    pub(crate) fn failing_code(self) -> i32 {
        match self {
            Self::Cargo => 101,
            Self::Nextest => 100,
            Self::Pytest | Self::Jest | Self::Vitest | Self::Node | Self::Go => 1,
        }
    }

    /// True if the exit code may depend on more than tests: a threshold of coverage, or the
    /// project's own hooks. A failing control would hide that.
    pub(crate) fn judges_more(self, args: &[String], cwd: &Path, root: &Path) -> bool {
        let (words, files): (&[&str], &[&str]) = match self {
            Self::Pytest => (&["fail-under", "fail_under", "compare-fail"], PYTEST),
            Self::Jest => (&["coverageThreshold"], &["package.json", "jest.config."]),
            Self::Vitest => (
                &["thresholds", "typecheck"],
                &["vitest.config.", "vite.config.", "vitest.workspace."],
            ),
            Self::Node => (&["--test-coverage-"], &[]),
            _ => return false,
        };
        args.iter().any(|arg| contains_any(arg, words))
            || is_configured(cwd, root, files, words)
            || (self == Self::Pytest && is_configured(cwd, root, &["conftest.py"], HOOKS))
    }
}

/// True if one of the files with these names contains one of these words.
fn is_configured(cwd: &Path, root: &Path, names: &[&str], words: &[&str]) -> bool {
    let files = configurations(cwd, root, names);
    let mut texts = files.iter().filter_map(|file| fs::read_to_string(file).ok());
    texts.any(|text| contains_any(&text, words))
}

fn contains_any(text: &str, words: &[&str]) -> bool {
    words.iter().any(|word| text.contains(word))
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
