//! Running some test files alone: those that were laid over before. The others have
//! just run as they stand in the tree.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::report::TestReport;
use crate::runner::Runner;

/// The most files that a command line should name: the system limits its length.
const MAX_FILES: usize = 2_000;

/// A command in the tree, which is to run less.
pub(super) struct Selection<'a> {
    pub(super) root: &'a Path,
    /// The real tree, of which the root is a copy.
    pub(super) tree: &'a Path,
    pub(super) cwd: &'a Path,
    pub(super) args: &'a [String],
}

impl Selection<'_> {
    /// The options that leave all files out but the selected ones. `None` if the runner has no such
    /// option, or if the command already selects tests. The report names the other files.
    pub(super) fn options(
        &self,
        runner: Runner,
        selected: &[PathBuf],
        report: &TestReport,
    ) -> Option<Vec<String>> {
        match runner {
            Runner::Pytest => self.pytest_options(selected, report),
            Runner::Cargo | Runner::Nextest => self.cargo_options(selected),
            _ => None,
        }
    }

    fn pytest_options(&self, selected: &[PathBuf], report: &TestReport) -> Option<Vec<String>> {
        let names_files = self.args.iter().any(|word| self.cwd.join(word).is_file());
        // ControlNames are relative to a folder of pytest's choice: that of the command or one above.
        let folders: Vec<_> =
            self.cwd.ancestors().take_while(|folder| folder.starts_with(self.root)).collect();
        let reported_files: BTreeSet<&str> =
            report.tests.iter().filter_map(|test| test.id.split("::").next()).collect();
        let mut paths = Vec::new();
        for file in reported_files {
            match folders.iter().map(|folder| folder.join(file)).find(|path| path.is_file()) {
                Some(path) => paths.push(path),
                // The file was left out of the copy.
                None if self.is_in_tree(&folders, file) => {}
                None => return None,
            }
        }
        if names_files || paths.len() > MAX_FILES {
            return None;
        }
        let selected: BTreeSet<_> = selected.iter().map(|file| self.root.join(file)).collect();
        let ignored = paths.iter().filter(|path| !selected.contains(*path));
        Some(ignored.map(|path| format!("--ignore={}", path.display())).collect())
    }

    fn is_in_tree(&self, folders: &[&Path], file: &str) -> bool {
        folders
            .iter()
            .filter_map(|folder| folder.strip_prefix(self.root).ok())
            .any(|folder| self.tree.join(folder).join(file).is_file())
    }

    /// A file right below `tests` is a program of its own.
    fn cargo_options(&self, selected: &[PathBuf]) -> Option<Vec<String>> {
        let mut words = self.args.iter().take_while(|word| *word != "--");
        if words.any(|word| !word.starts_with('-') || TARGETS.contains(&word.as_str())) {
            return None;
        }
        selected.iter().map(|file| self.cargo_target(file)).collect()
    }

    fn cargo_target(&self, file: &Path) -> Option<String> {
        let folder = file.parent()?;
        if folder.file_name()? != "tests" {
            return None;
        }
        let manifest = self.root.join(folder.parent()?).join("Cargo.toml");
        let stem = file.file_stem()?.to_str()?;
        manifest.is_file().then(|| format!("--test={stem}"))
    }
}

/// Options of cargo that choose targets.
const TARGETS: [&str; 8] =
    ["--lib", "--bins", "--examples", "--tests", "--benches", "--all-targets", "--doc", "--no-run"];

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::report::{Format, Status, Test};

    fn options(runner: Runner, args: &str, selected: &[&str], new: &str) -> Option<String> {
        let tree = tempfile::tempdir().unwrap();
        fs::create_dir(tree.path().join("tests")).unwrap();
        fs::write(tree.path().join("tests/test_new.py"), "").unwrap();
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        fs::create_dir(root.join("tests")).unwrap();
        for file in ["tests/test_a.py", "tests/test_b.py", "tests/it.rs", "Cargo.toml"] {
            fs::write(root.join(file), "").unwrap();
        }
        let test = |id: &str| Test { id: id.to_owned(), status: Status::Passed };
        let report = TestReport {
            format: Format::Pytest,
            tests: vec![test("tests/test_a.py::a"), test("tests/test_b.py::T::b"), test(new)],
            passed: 3,
            failed: 0,
            skipped: 0,
            flaky: Vec::new(),
            errors: Vec::new(),
            problems: Vec::new(),
            failures: Vec::new(),
        };
        let args: Vec<_> = args.split_whitespace().map(str::to_owned).collect();
        let selected: Vec<_> = selected.iter().map(PathBuf::from).collect();
        let selection = Selection { root: &root, tree: tree.path(), cwd: &root, args: &args };
        let options = selection.options(runner, &selected, &report)?;
        Some(options.join(" ").replace(&format!("{}/", root.display()), ""))
    }

    #[test]
    fn only_what_was_laid_over_runs() {
        let check = |runner, args, selected: &[&str], expected: Option<&str>| {
            let options = options(runner, args, selected, "tests/test_new.py::c");
            assert_eq!(options.as_deref(), expected, "{args} {selected:?}");
        };
        // A file that stands nowhere may have another name here.
        let unknown = "tests/test_c.py::c";
        assert_eq!(options(Runner::Pytest, "-q", &["tests/test_a.py"], unknown), None);
        check(Runner::Pytest, "-q", &["tests/test_a.py"], Some("--ignore=tests/test_b.py"));
        check(Runner::Pytest, "tests/test_a.py", &["tests/test_a.py"], None);
        check(Runner::Cargo, "--offline -- -q", &["tests/it.rs"], Some("--test=it"));
        check(Runner::Cargo, "--lib", &["tests/it.rs"], None);
        check(Runner::Cargo, "adds", &["tests/it.rs"], None);
        check(Runner::Cargo, "", &["src/tests.rs"], None);
        check(Runner::Go, "./...", &["a_test.go"], None);
    }
}
