//! Modules and packages that a command names: are they installed?

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use gate_core::config::nearest_name;

use crate::doctor::finding::{Finding, problem};

/// A script in which Python looks for a module, without the folder that it runs in.
const FIND_MODULE: &str =
    "import importlib.util, sys; sys.exit(importlib.util.find_spec(sys.argv[1]) is None)";

/// Words by which a package manager runs a program of an installed package, and the words that
/// install what is missing.
const PACKAGE_PROGRAMS: [([&str; 2], &str); 3] = [
    (["npx", "--no-install"], "npm install"),
    (["pnpm", "exec"], "pnpm install"),
    (["bunx", "--no-install"], "bun install"),
];

/// Modules that an environment has to have installed. Any other module that it lacks may be a part
/// of Python or of the project.
const RUNNERS: [&str; 14] = [
    "behave", "black", "coverage", "flake8", "isort", "mypy", "nose2", "nox", "pylint", "pyright",
    "pytest", "ruff", "tox", "ty",
];

/// A module or package that a command runs by another program, and that is not installed. `program`
/// is the path of that other program. It is not started if it is in the tree, where an agent can
/// write it.
pub(super) fn missing_module(
    command: &[String],
    cwd: &Path,
    root: &Path,
    program: &Path,
    is_program_in_tree: bool,
) -> Option<Finding> {
    let words: Vec<&str> = command.iter().map(String::as_str).collect();
    match words.as_slice() {
        [python, "-m", module, ..] if is_python(python) && *module != "unittest" => {
            let package = module.split('.').next().unwrap_or_default();
            let is_installed = if is_in_folder(cwd, package) {
                true
            } else if is_program_in_tree || python.contains('/') {
                !RUNNERS.contains(&package) || is_in_environment(&cwd.join(python), package)?
            } else {
                finds_module(program, package)?
            };
            (!is_installed).then(|| match RUNNERS.contains(&package) {
                true => not_installed(package, format!("{python} -m pip install {package}")),
                false => no_module(package),
            })
        }
        [manager, option, name, ..] => {
            let (_, install) =
                PACKAGE_PROGRAMS.iter().find(|(words, _)| words == &[*manager, *option])?;
            let mut folders = cwd.ancestors().take_while(|folder| folder.starts_with(root));
            let is_installed =
                folders.any(|folder| folder.join("node_modules/.bin").join(name).exists());
            (!is_installed).then(|| not_installed(name, (*install).to_owned()))
        }
        _ => None,
    }
}

fn not_installed(name: &str, hint: String) -> Finding {
    problem("not-installed", format!("{name} is not installed, so the check cannot pass"))
        .hint(hint)
}

/// A module that is no known runner may be a slip of the pen, and a package of its name may be
/// anybody's: no command that installs it is given.
fn no_module(module: &str) -> Finding {
    let known_modules = [&RUNNERS[..], &["unittest"][..]].concat();
    let hint = match nearest_name(module, &known_modules) {
        Some(runner) => format!("did you mean {runner}? put `command` right, or install {module}"),
        None => format!("put `command` right, or install {module}"),
    };
    problem("not-installed", format!("Python finds no module {module}, so the check cannot pass"))
        .hint(hint)
}

fn is_python(word: &str) -> bool {
    word.rsplit('/').next().is_some_and(|name| name == "python" || name == "python3")
}

/// A module of the folder that Python runs in: it is found there first.
fn is_in_folder(cwd: &Path, module: &str) -> bool {
    cwd.join(module).is_dir() || cwd.join(format!("{module}.py")).is_file()
}

/// A module of the environment of this Python. `None` if the environment also uses packages of the
/// system.
fn is_in_environment(python: &Path, module: &str) -> Option<bool> {
    let environment = python.parent()?.parent()?;
    let settings = fs::read_to_string(environment.join("pyvenv.cfg")).ok()?;
    if settings.lines().any(|line| line.replace(' ', "") == "include-system-site-packages=true") {
        return None;
    }
    let versions = fs::read_dir(environment.join("lib")).ok()?.flatten();
    let mut packages = versions.map(|version| version.path().join("site-packages"));
    Some(packages.any(|folder: PathBuf| {
        folder.join(module).exists() || folder.join(format!("{module}.py")).exists()
    }))
}

/// Asks Python for a module. `None` if it gives no answer.
fn finds_module(python: &Path, module: &str) -> Option<bool> {
    let mut command = Command::new(python);
    command.args(["-I", "-c", FIND_MODULE, module]).current_dir("/");
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    match command.status().ok()?.code()? {
        0 => Some(true),
        1 => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(files: &[&str], command: &[&str], expected: Option<&str>) {
        let folder = tempfile::tempdir().unwrap();
        for file in files {
            let file = folder.path().join(file);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, "home = /usr/bin\n").unwrap();
        }
        let command: Vec<_> = command.iter().map(|&word| word.to_owned()).collect();
        let program = folder.path().join("none");
        let finding = missing_module(&command, folder.path(), folder.path(), &program, true);
        assert_eq!(finding.and_then(|finding| finding.hint).as_deref(), expected, "{command:?}");
    }

    #[test]
    fn a_runner_that_is_missing_in_the_environment_is_a_problem() {
        let pytest = [".venv/bin/python", "-m", "pytest"];
        let hint = Some(".venv/bin/python -m pip install pytest");
        let packages = ".venv/lib/python3.13/site-packages";
        let other = format!("{packages}/other.py");
        check(&[".venv/pyvenv.cfg", &other], &pytest, hint);
        let own = format!("{packages}/pytest/__init__.py");
        check(&[".venv/pyvenv.cfg", &own], &pytest, None);
        check(&[&other], &pytest, None);
        check(&[".venv/pyvenv.cfg", &other], &[".venv/bin/python", "-m", "unittest"], None);
    }

    #[test]
    fn a_module_of_the_project_or_of_python_is_no_problem() {
        let settings = ".venv/pyvenv.cfg";
        let python = ".venv/bin/python";
        let other = ".venv/lib/python3.13/site-packages/other.py";
        check(&[settings, other], &[python, "-m", "compileall", "-q", "."], None);
        check(&[settings, other], &[python, "-m", "selfcheck"], None);
        check(&[settings, other, "pytest.py"], &[python, "-m", "pytest"], None);
        check(&["selfcheck/__main__.py"], &["python3", "-m", "selfcheck.quick"], None);
        check(&["selfcheck.py"], &["python3", "-m", "selfcheck"], None);
    }

    #[test]
    fn a_module_that_is_no_runner_may_be_a_slip_of_the_pen() {
        for (module, expected) in [
            ("pytset", "did you mean pytest? put `command` right, or install pytset"),
            ("unitest", "did you mean unittest? put `command` right, or install unitest"),
            ("selfcheck", "put `command` right, or install selfcheck"),
        ] {
            assert_eq!(no_module(module).hint.as_deref(), Some(expected));
        }
    }

    #[test]
    fn a_program_of_a_package_that_is_missing_is_a_problem() {
        let vitest = ["npx", "--no-install", "vitest", "run"];
        check(&[], &vitest, Some("npm install"));
        check(&["node_modules/.bin/vitest"], &vitest, None);
        check(&[], &["pnpm", "exec", "jest"], Some("pnpm install"));
        check(&[], &["npx", "vitest"], None);
    }
}
