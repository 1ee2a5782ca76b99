//! Finds the runner that a check's command starts, and its arguments: in a command, in a
//! script for a shell, and in a script of `package.json`.

use std::fs;
use std::path::Path;

use gate_core::decide::policy::CheckPolicy;
use serde_json::Value;

use super::{Runner, find, program_name};

/// A runner in a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RunnerCommand {
    pub(crate) runner: Runner,
    pub(crate) args: Vec<String>,
    /// The command starts the runner and nothing else: its exit code is the runner's.
    pub(crate) alone: bool,
}

/// Deepest nesting of scripts that call one another.
const MAX_DEPTH: usize = 4;

/// The runner that a check starts in this folder, if gate can plant a control for it.
pub(crate) fn recognise(settings: &CheckPolicy, cwd: &Path) -> Option<RunnerCommand> {
    let (words, is_script) = if settings.shell {
        (words_of_script(&settings.command.join(" ")), true)
    } else {
        words_of_argv(&settings.command)
    };
    let command = in_words(&words, cwd, MAX_DEPTH)?;
    if !command.runner.has_control() {
        return None;
    }
    Some(RunnerCommand { alone: command.alone && !is_script, ..command })
}

/// The words of a command, and whether they are a script's: a shell that is given
/// one stands for it.
fn words_of_argv(argv: &[String]) -> (Vec<String>, bool) {
    let shell = argv.first().map(|word| program_name(word));
    let is_shell = matches!(shell, Some("sh" | "bash" | "dash" | "zsh" | "ksh"));
    let script = argv
        .iter()
        .position(|word| word.starts_with('-') && !word.starts_with("--") && word.ends_with('c'));
    match script.and_then(|at| argv.get(at + 1)) {
        Some(script) if is_shell => (words_of_script(script), true),
        _ => (argv.to_vec(), false),
    }
}

/// Ends a command in a script.
const END: &str = ";";

/// The words of a script: roughly, which is enough to find names in it.
fn words_of_script(script: &str) -> Vec<String> {
    let mut spaced = String::with_capacity(script.len());
    for letter in script.chars() {
        match letter {
            ';' | '|' | '&' | '(' | ')' | '\n' | '{' | '}' => spaced.push_str(" ; "),
            letter => spaced.push(letter),
        }
    }
    spaced.split_whitespace().map(|word| word.trim_matches(['"', '\'']).to_owned()).collect()
}

fn in_words(words: &[String], cwd: &Path, depth: usize) -> Option<RunnerCommand> {
    words.split(|word| word == END).find_map(|command| in_command(command, cwd, depth))
}

/// The runner in one command. What is no runner and no prefix of one ends the
/// search: `echo pytest` starts none.
fn in_command(words: &[String], cwd: &Path, depth: usize) -> Option<RunnerCommand> {
    // A shell sets variables before a command.
    let begin = words.iter().take_while(|word| is_assignment(word)).count();
    let words = &words[begin..];
    // These start another program, and have an exit code of their own.
    let is_judged = matches!(words.first().map(|word| program_name(word)), Some("c8" | "nyc"));
    let words = &words[usize::from(is_judged)..];
    if let Some(found) = find(words) {
        let args = words[found.options.min(words.len())..].to_vec();
        let alone = !is_judged && begin == 0;
        return Some(RunnerCommand { runner: found.runner, args, alone });
    }
    let program = words.first().map(|word| program_name(word))?;
    match script(program, &words[1..]) {
        Some(script) => in_package(script, cwd, depth),
        None if program == "make" => in_makefile(&words[1..], cwd, depth),
        None => None,
    }
}

fn is_assignment(word: &str) -> bool {
    let is_name = |name: &str| name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    word.split_once('=').is_some_and(|(name, _)| !name.is_empty() && is_name(name))
}

/// The runner in the recipe of the target that make is called for.
fn in_makefile(rest: &[String], cwd: &Path, depth: usize) -> Option<RunnerCommand> {
    let target = rest.iter().find(|word| !word.starts_with('-') && !is_assignment(word))?;
    let makefiles = ["GNUmakefile", "makefile", "Makefile"].map(|name| cwd.join(name));
    let text = makefiles.iter().find_map(|file| fs::read_to_string(file).ok())?;
    let mut lines = text.lines().skip_while(|line| {
        !line.split_once(':').is_some_and(|(names, _)| {
            !line.starts_with('\t') && names.split_whitespace().any(|name| name == target)
        })
    });
    lines.next()?;
    let recipe = lines.take_while(|line| line.starts_with('\t') || line.trim().is_empty());
    let recipe: Vec<_> =
        recipe.map(|line| line.trim().trim_start_matches(['@', '-', '+'])).collect();
    let found = in_words(&words_of_script(&recipe.join("\n")), cwd, depth.checked_sub(1)?);
    found.map(|found| RunnerCommand { alone: false, ..found })
}

/// The script of `package.json` that a package manager runs.
fn script<'a>(word: &str, rest: &'a [String]) -> Option<&'a str> {
    let verbs = rest.iter().map(String::as_str).filter(|word| !word.starts_with('-'));
    let verbs: Vec<_> = verbs.take(2).collect();
    match (word, verbs.as_slice()) {
        ("npm" | "pnpm" | "yarn" | "bun", ["test" | "t", ..]) => Some("test"),
        ("npm" | "pnpm" | "yarn" | "bun", ["run" | "run-script", script, ..]) => Some(script),
        _ => None,
    }
}

fn in_package(script: &str, cwd: &Path, depth: usize) -> Option<RunnerCommand> {
    let text = fs::read_to_string(cwd.join("package.json")).ok()?;
    let package: Value = serde_json::from_str(&text).ok()?;
    let script = package["scripts"][script].as_str()?;
    let found = in_words(&words_of_script(script), cwd, depth.checked_sub(1)?);
    found.map(|found| RunnerCommand { alone: false, ..found })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, expected: Option<(Runner, &str)>) {
        let words = words_of_script(line);
        let found = in_words(&words, Path::new("/nowhere"), MAX_DEPTH);
        let found = found.as_ref().map(|found| (found.runner, found.args.join(" ")));
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
        let (words, is_script) = words_of_argv(&argv);
        let found = in_words(&words, Path::new("/nowhere"), MAX_DEPTH);
        assert_eq!((found.map(|found| found.runner), is_script), (Some(Runner::Pytest), true));
    }

    #[test]
    fn a_script_of_a_package_is_looked_up() {
        let folder = tempfile::tempdir().unwrap();
        let package =
            r#"{"scripts":{"test":"npm run unit","unit":"jest --ci","loop":"npm run loop"}}"#;
        fs::write(folder.path().join("package.json"), package).unwrap();
        let look = |line: &str| in_words(&words_of_script(line), folder.path(), MAX_DEPTH);
        let found = look("npm test").unwrap();
        assert!(found.args == ["--ci"] && !found.alone, "{found:?}");
        assert!(look("npx jest").unwrap().alone && !look("nyc jest").unwrap().alone);
        assert_eq!(look("npm run loop"), None);
        let makefile = "all: test\ntest: build\n\t@cd x && pytest -q\n\nbuild:\n\ttrue\n";
        fs::write(folder.path().join("Makefile"), makefile).unwrap();
        let found = look("make -s test").unwrap();
        assert!(found.runner == Runner::Pytest && !found.alone, "{found:?}");
        assert_eq!(look("make build"), None);
    }
}
