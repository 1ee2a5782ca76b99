//! The command that runs some tests alone: a control, or the files of the baseline.

use std::path::{Path, PathBuf};

use super::Control;
use crate::runner::{Runner, RunnerCommand, is_switch};

impl Control {
    /// The arguments with which a command runs the tests of the control alone; `None` if the
    /// command's arguments stand in a script, where gate cannot change them.
    pub(crate) fn args_alone(&self, command: &RunnerCommand, cwd: &Path) -> Option<Vec<String>> {
        if !command.starts_runner_alone {
            return None;
        }
        let names = self.names.in_reports();
        let pattern = names.join("|");
        let files = self.files(cwd);
        let mut args = command.args.clone();
        match command.runner {
            Runner::Pytest => {
                args = without_paths(&args, cwd);
                args.extend(["-k".to_owned(), names.join(" or ")]);
                args.extend(files);
            }
            Runner::Cargo => {
                if !args.iter().any(|word| word == "--") {
                    args.push("--".to_owned());
                }
                args.extend(names);
            }
            Runner::Nextest => {
                let end = args.iter().position(|word| word == "--").unwrap_or(args.len());
                args.splice(end..end, names);
            }
            Runner::Jest | Runner::Vitest => {
                // `vitest run`: the verb is no filter, and has to stay first.
                let verb = args.iter().find(|word| *word == "run").cloned();
                args = without_paths(&args, cwd).into_iter().filter(|word| word != "run").collect();
                args.splice(0..0, verb);
                args.extend(["-t".to_owned(), pattern]);
                args.extend(files);
            }
            Runner::Node => {
                args = without_paths(&args, cwd);
                args.push(format!("--test-name-pattern={pattern}"));
                args.extend(files);
            }
            Runner::Go => {
                args.retain(|word| word.starts_with('-') && !word.starts_with("-run"));
                args.push(format!("-run={pattern}"));
                args.extend(self.folders(cwd));
            }
            Runner::Mocha => {
                args = without_paths(&args, cwd);
                args.retain(|word| word != "-i" && word != "--invert");
                args.push(format!("--grep={pattern}"));
                args.extend(files);
            }
            Runner::Unittest | Runner::Bats | Runner::Maven | Runner::Gradle => return None,
        }
        Some(args)
    }
}

/// The arguments but for paths and patterns of files.
fn without_paths(args: &[String], cwd: &Path) -> Vec<String> {
    let mut kept: Vec<String> = Vec::new();
    for word in args {
        let is_value = kept.last().is_some_and(|previous| {
            previous.starts_with('-') && !previous.contains('=') && !is_switch(previous)
        });
        // pytest names a test behind its file: `tests/a.py::test_b`.
        let file = word.split("::").next().unwrap_or(word);
        let is_path = cwd.join(file).exists() || word.contains(['*', '/']);
        if word.starts_with('-') || is_value || !is_path {
            kept.push(word.clone());
        }
    }
    kept
}

impl Control {
    /// The files that hold the tests, relative to a folder where they stand below it.
    fn files(&self, cwd: &Path) -> Vec<String> {
        let files = self.files.iter().map(|planted| planted.path.as_path());
        files.map(|file| file.strip_prefix(cwd).unwrap_or(file).display().to_string()).collect()
    }

    /// The folders of these files, as packages of Go.
    fn folders(&self, cwd: &Path) -> Vec<String> {
        let folders = self.files.iter().filter_map(|planted| planted.path.parent());
        let relative = folders.map(|folder| folder.strip_prefix(cwd).unwrap_or(folder));
        let mut packages: Vec<PathBuf> =
            relative.map(|folder| Path::new(".").join(folder)).collect();
        packages.sort();
        packages.dedup();
        packages.iter().map(|folder| folder.display().to_string()).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::control::{ControlNames, FailureKind, PlantedFile};

    #[track_caller]
    fn check(runner: Runner, args: &str, expected: &str) {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("tests")).unwrap();
        fs::write(folder.path().join("pytest.ini"), "").unwrap();
        let args = args.split_whitespace().map(str::to_owned).collect();
        let command = RunnerCommand { runner, args, starts_runner_alone: true };
        let path = folder.path().join("tests/order_1.x");
        let files = vec![PlantedFile { path, original: None }];
        let names = ControlNames::numbered(&[(FailureKind::Raise, 1), (FailureKind::Assertion, 2)]);
        let control = Control { names, files };
        let words = control.args_alone(&command, folder.path()).unwrap();
        assert_eq!(words.join(" "), expected);
    }

    #[test]
    fn the_tests_of_a_control_run_alone() {
        let pytest = "-k order_1 or order_2 tests/order_1.x";
        check(Runner::Pytest, "-q tests -c pytest.ini", &format!("-q -c pytest.ini {pytest}"));
        check(Runner::Pytest, "tests/a.py::b -n 4", &format!("-n 4 {pytest}"));
        check(Runner::Cargo, "--workspace", "--workspace -- order_1 order_2");
        check(Runner::Cargo, "-p a -- --nocapture", "-p a -- --nocapture order_1 order_2");
        check(Runner::Nextest, "-p a", "-p a order_1 order_2");
        let named = "-t order_1|order_2 tests/order_1.x";
        check(Runner::Jest, "--ci tests", &format!("--ci {named}"));
        check(Runner::Vitest, "run src/a", &format!("run {named}"));
        let pattern = "--test-name-pattern=order_1|order_2 tests/order_1.x";
        check(Runner::Node, "test/*.test.js", pattern);
        let chosen = "--grep=order_1|order_2 tests/order_1.x";
        check(Runner::Mocha, "-i --recursive tests", &format!("--recursive {chosen}"));
        check(Runner::Go, "-race ./...", "-race -run=order_1|order_2 ./tests");
    }
}
