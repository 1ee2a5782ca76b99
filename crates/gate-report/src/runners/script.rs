//! Finds the runner that a check's command starts, and its arguments: in a command, in a
//! script for a shell, and in a script of `package.json`.

use std::fs;
use std::path::Path;

use gate_core::decide::policy::CheckPolicy;
use serde_json::Value;

use super::{Runner, find, program_name};

/// A runner in a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunnerCommand {
    /// The runner.
    pub runner: Runner,
    /// Its arguments.
    pub args: Vec<String>,
    /// The command starts the runner and nothing else: its exit code is the runner's.
    pub starts_runner_alone: bool,
}

/// Deepest nesting of scripts that call one another.
const MAX_DEPTH: usize = 4;

/// The runner that a check starts in this folder, if gate can plant a control for it.
pub fn recognise(settings: &CheckPolicy, cwd: &Path) -> Option<RunnerCommand> {
    let script = if settings.shell {
        Some(settings.command.join(" "))
    } else {
        shell_script(&settings.command)
    };
    let words = script.as_deref().map_or_else(|| settings.command.clone(), script_words);
    let command = runner_in_words(&words, cwd, MAX_DEPTH)?;
    if !command.runner.has_control() {
        return None;
    }
    let starts_runner_alone = command.starts_runner_alone && script.is_none();
    Some(RunnerCommand { starts_runner_alone, ..command })
}

/// The script that a command gives to a shell: `bash -ec 'pytest || true'`.
fn shell_script(argv: &[String]) -> Option<String> {
    let program = argv.first().map(|word| program_name(word));
    if !matches!(program, Some("sh" | "bash" | "dash" | "zsh" | "ksh")) {
        return None;
    }
    let option = argv
        .iter()
        .position(|word| word.starts_with('-') && !word.starts_with("--") && word.ends_with('c'))?;
    argv.get(option + 1).cloned()
}

/// Ends a command in a script.
const END: &str = ";";

/// The words of a script: roughly, which is enough to find names in it.
fn script_words(script: &str) -> Vec<String> {
    let mut spaced = String::with_capacity(script.len());
    for letter in script.chars() {
        match letter {
            ';' | '|' | '&' | '(' | ')' | '\n' | '{' | '}' => spaced.push_str(" ; "),
            letter => spaced.push(letter),
        }
    }
    spaced.split_whitespace().map(|word| word.trim_matches(['"', '\'']).to_owned()).collect()
}

fn runner_in_words(words: &[String], cwd: &Path, depth: usize) -> Option<RunnerCommand> {
    words.split(|word| word == END).find_map(|command| runner_in_command(command, cwd, depth))
}

/// The runner in one command. What is no runner and no prefix of one ends the
/// search: `echo pytest` starts none.
fn runner_in_command(words: &[String], cwd: &Path, depth: usize) -> Option<RunnerCommand> {
    // A shell sets variables before a command.
    let assignments = words.iter().take_while(|word| is_assignment(word)).count();
    let command = &words[assignments..];
    // Tools for coverage start another program, and have an exit code of their own.
    let is_wrapper = |word: &String| matches!(program_name(word), "c8" | "nyc");
    if let Some(invocation) = find(command) {
        let args = command[invocation.options_start.min(command.len())..].to_vec();
        let is_wrapped = command[..invocation.program_index].iter().any(is_wrapper);
        let starts_runner_alone = !is_wrapped && assignments == 0;
        return Some(RunnerCommand { runner: invocation.runner, args, starts_runner_alone });
    }
    let argv = &command[usize::from(command.first().is_some_and(is_wrapper))..];
    let program = argv.first().map(|word| program_name(word))?;
    match package_script(program, &argv[1..]) {
        Some(name) => runner_in_package(name, cwd, depth),
        None if program == "make" => runner_in_makefile(&argv[1..], cwd, depth),
        None => None,
    }
}

fn is_assignment(word: &str) -> bool {
    let is_name = |name: &str| name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    word.split_once('=').is_some_and(|(name, _)| !name.is_empty() && is_name(name))
}

/// The runner in the recipe of the target that make is called for.
fn runner_in_makefile(args: &[String], cwd: &Path, depth: usize) -> Option<RunnerCommand> {
    let target = args.iter().find(|word| !word.starts_with('-') && !is_assignment(word))?;
    let makefiles = ["GNUmakefile", "makefile", "Makefile"].map(|name| cwd.join(name));
    let text = makefiles.iter().find_map(|file| fs::read_to_string(file).ok())?;
    let mut lines = text.lines().skip_while(|line| {
        !line.split_once(':').is_some_and(|(names, _)| {
            !line.starts_with('\t') && names.split_whitespace().any(|name| name == target)
        })
    });
    lines.next()?;
    let recipe = lines.take_while(|line| line.starts_with('\t') || line.trim().is_empty());
    let commands: Vec<_> =
        recipe.map(|line| line.trim().trim_start_matches(['@', '-', '+'])).collect();
    runner_in_script(&commands.join("\n"), cwd, depth)
}

/// The name of the script in `package.json` that a package manager runs.
fn package_script<'a>(program: &str, args: &'a [String]) -> Option<&'a str> {
    let verbs = args.iter().map(String::as_str).filter(|word| !word.starts_with('-'));
    let verbs: Vec<_> = verbs.take(2).collect();
    match (program, verbs.as_slice()) {
        ("npm" | "pnpm" | "yarn" | "bun", ["test" | "t", ..]) => Some("test"),
        ("npm" | "pnpm" | "yarn" | "bun", ["run" | "run-script", script, ..]) => Some(script),
        _ => None,
    }
}

fn runner_in_package(script: &str, cwd: &Path, depth: usize) -> Option<RunnerCommand> {
    let text = fs::read_to_string(cwd.join("package.json")).ok()?;
    let package: Value = serde_json::from_str(&text).ok()?;
    runner_in_script(package["scripts"][script].as_str()?, cwd, depth)
}

/// The runner in a script that a command calls.
fn runner_in_script(script: &str, cwd: &Path, depth: usize) -> Option<RunnerCommand> {
    let command = runner_in_words(&script_words(script), cwd, depth.checked_sub(1)?)?;
    Some(RunnerCommand { starts_runner_alone: false, ..command })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, expected: Option<(Runner, &str)>) {
        let command = runner_in_words(&script_words(line), Path::new("/nowhere"), MAX_DEPTH);
        let found = command.map(|command| (command.runner, command.args.join(" ")));
        assert_eq!(found, expected.map(|(runner, args)| (runner, args.to_owned())), "{line}");
    }

    #[test]
    fn runners_in_commands() {
        check("cargo +nightly test --workspace", Some((Runner::Cargo, "--workspace")));
        check("cargo --config a=b t -p test", Some((Runner::Cargo, "-p test")));
        check("cargo nextest run -p a", Some((Runner::Nextest, "-p a")));
        check("uv run --frozen pytest -q", Some((Runner::Pytest, "-q")));
        check("A=b npx vitest run", Some((Runner::Vitest, "run")));
        check("node --import tsx --test a", Some((Runner::Node, "--import tsx --test a")));
        check("go test ./...", Some((Runner::Go, "./...")));
    }

    #[test]
    fn runners_in_scripts() {
        check("cd a && cargo test || true", Some((Runner::Cargo, "")));
        check("set -x; pytest 'test' | tee log", Some((Runner::Pytest, "test")));
    }

    #[test]
    fn what_starts_no_runner() {
        for line in
            ["make test", "echo pytest", "cargo run test", "go vet test", "pip install pytest"]
        {
            check(line, None);
        }
    }

    #[test]
    fn a_shell_stands_for_its_script() {
        let argv = ["bash", "-ec", "pytest || true"].map(str::to_owned);
        assert_eq!(shell_script(&argv).as_deref(), Some("pytest || true"));
        assert_eq!(shell_script(&argv[1..]), None);
        check("pytest || true", Some((Runner::Pytest, "")));
    }

    #[test]
    fn a_script_of_a_package_is_looked_up() {
        let folder = tempfile::tempdir().unwrap();
        let package =
            r#"{"scripts":{"test":"npm run unit","unit":"jest --ci","loop":"npm run loop"}}"#;
        fs::write(folder.path().join("package.json"), package).unwrap();
        let look = |line: &str| runner_in_words(&script_words(line), folder.path(), MAX_DEPTH);
        let found = look("npm test").unwrap();
        assert!(found.args == ["--ci"] && !found.starts_runner_alone, "{found:?}");
        assert!(
            look("npx jest").unwrap().starts_runner_alone
                && !look("nyc jest").unwrap().starts_runner_alone
        );
        assert_eq!(look("npm run loop"), None);
        let makefile = "all: test\ntest: build\n\t@cd x && pytest -q\n\nbuild:\n\ttrue\n";
        fs::write(folder.path().join("Makefile"), makefile).unwrap();
        let found = look("make -s test").unwrap();
        assert!(found.runner == Runner::Pytest && !found.starts_runner_alone, "{found:?}");
        assert_eq!(look("make build"), None);
    }
}
