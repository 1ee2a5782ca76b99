//! A command that an agent ran: the check that it starts, and the files that it writes.

use super::shell::{Part, Then, parts};

/// The kind of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum CheckKind {
    Test,
    /// A build or a type check.
    Build,
    Lint,
}

/// A command line, inspected at.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Inspection {
    /// The check that it starts. Of several, the one that shows most.
    pub(super) check: Option<(CheckKind, String)>,
    /// Exit code 0 says that the check passed.
    pub(super) code_shows_pass: bool,
    /// Another exit code says that the check failed.
    pub(super) code_shows_failure: bool,
    /// It runs a program of the project, or asks a server of the project, by hand.
    pub(super) runs_by_hand: bool,
    /// The files that it writes.
    pub(super) writes: Vec<String>,
    /// It leaves hooks out (`--no-verify`).
    pub(super) leaves_hooks_out: bool,
    /// It looks at commits that are not in the history of the work.
    pub(super) looks_up_history: bool,
}

const TESTS: [&str; 21] = [
    "pytest",
    "py.test",
    "nosetests",
    "tox",
    "nox",
    "jest",
    "vitest",
    "mocha",
    "ava",
    "tap",
    "playwright",
    "cypress",
    "rspec",
    "phpunit",
    "pest",
    "ctest",
    "bats",
    "busted",
    "nextest",
    "cargo-nextest",
    "karma",
];

const BUILDS: [&str; 16] = [
    "tsc",
    "vue-tsc",
    "svelte-check",
    "mypy",
    "pyright",
    "javac",
    "gcc",
    "g++",
    "clang",
    "cmake",
    "ninja",
    "xcodebuild",
    "kotlinc",
    "rustc",
    "ghc",
    "pyre",
];

const LINTS: [&str; 14] = [
    "eslint",
    "ruff",
    "flake8",
    "pylint",
    "biome",
    "shellcheck",
    "golangci-lint",
    "rubocop",
    "stylelint",
    "hadolint",
    "prettier",
    "black",
    "pre-commit",
    "clippy-driver",
];

/// Programs whose next word is a verb or the name of a script.
const VERBS: [&str; 30] = [
    "npm", "pnpm", "yarn", "bun", "deno", "just", "make", "gmake", "task", "rake", "gradle",
    "gradlew", "mvn", "mvnw", "composer", "mix", "dotnet", "swift", "zig", "flutter", "dart",
    "sbt", "bazel", "ant", "hatch", "pdm", "invoke", "lein", "stack", "cabal",
];

/// Words before the program that is meant, with the options of each that take a value.
const PREFIXES: [&str; 26] = [
    "time",
    "timeout",
    "gtimeout",
    "env",
    "sudo",
    "nice",
    "nohup",
    "npx",
    "bunx",
    "pnpx",
    "uvx",
    "uv",
    "poetry",
    "pipenv",
    "rye",
    "bundle",
    "exec",
    "dlx",
    "xvfb-run",
    "command",
    "run",
    "then",
    "do",
    "if",
    "!",
    "cross-env",
];

/// Options of prefixes and package managers that take a value.
const WITH_VALUE: [&str; 14] = [
    "-C",
    "--prefix",
    "--filter",
    "-F",
    "-w",
    "--workspace",
    "--cwd",
    "--dir",
    "-f",
    "--directory",
    "--manifest-path",
    "--with",
    "-k",
    "--project",
];

/// Looks at a command line.
pub(super) fn inspect(line: &str) -> Inspection {
    let parts = parts(line);
    let mut inspected = Inspection::default();
    let strict = parts.iter().any(|part| {
        part.words.first().is_some_and(|word| word == "set")
            && part.words.iter().any(|word| word.contains("pipefail"))
    });
    let kinds: Vec<_> = parts.iter().map(|part| check_kind(&part.words, 0)).collect();
    for (at, part) in parts.iter().enumerate() {
        inspected.facts(part);
        let Some(kind) = kinds[at] else {
            inspected.runs_by_hand |= runs_by_hand(&part.words);
            continue;
        };
        if inspected.check.as_ref().is_some_and(|(known, _)| *known <= kind) {
            continue;
        }
        inspected.check = Some((kind, part.words.join(" ")));
        let rest = &parts[at..];
        let ends = |then: Then| match then {
            Then::And | Then::End => true,
            Then::Pipe => strict,
            Then::Or | Then::Next => false,
        };
        inspected.code_shows_pass = rest.iter().all(|part| ends(part.then));
        let alone = kinds[at..].iter().all(Option::is_some) || rest.len() == 1;
        let first = parts[..at].iter().all(|part| is_harmless(&part.words));
        inspected.code_shows_failure =
            inspected.code_shows_pass && first && (alone || rest.iter().skip(1).all(is_shown_part));
    }
    inspected
}

/// A part behind a pipe that shows the output and does not fail by itself.
fn is_shown_part(part: &Part) -> bool {
    let shows = ["tail", "head", "cat", "tee", "grep", "sed", "echo"];
    part.words.first().is_some_and(|word| shows.contains(&base(word)))
}

/// A command before a check that hardly fails.
fn is_harmless(words: &[String]) -> bool {
    let harmless = ["cd", "export", "source", ".", "set", "echo", "pwd", "sleep", "clear", "date"];
    words.first().is_none_or(|word| harmless.contains(&base(word)) || word.contains('='))
}

impl Inspection {
    fn facts(&mut self, part: &Part) {
        let words = &part.words;
        let has = |option: &str| words.iter().any(|word| word == option);
        self.writes.extend(part.writes.iter().filter(|file| is_kept(file)).cloned());
        match words.iter().map(|word| base(word)).collect::<Vec<_>>().as_slice() {
            ["sed", ..] if words.iter().any(|word| word.starts_with("-i")) => {
                self.writes.extend(words.last().cloned());
            }
            ["perl", ..]
                if words.iter().any(|word| word.starts_with("-") && word.contains('i')) =>
            {
                self.writes.extend(words.last().cloned());
            }
            ["tee", rest @ ..] => {
                self.writes
                    .extend(rest.iter().filter(|word| is_kept(word)).map(|s| (*s).to_owned()));
            }
            ["patch", ..] | ["git", "apply", ..] => self.writes.push("a patch".to_owned()),
            ["mv" | "cp", .., last] => self.writes.push((*last).to_owned()),
            [
                "git",
                "mv" | "rm" | "checkout" | "restore" | "revert" | "stash" | "reset",
                rest @ ..,
            ] if rest.contains(&"--") || rest.contains(&"--hard") => {
                self.writes.push("files of git".to_owned());
            }
            ["git", "commit" | "push", ..] => {
                self.leaves_hooks_out |= has("--no-verify") || has("-n");
            }
            ["git", "log", ..] => self.looks_up_history |= has("--all"),
            ["git", "reflog" | "fetch", ..] => self.looks_up_history = true,
            ["git", "show", rest @ ..] => {
                self.looks_up_history |= rest.iter().any(|word| word.starts_with("origin"));
            }
            _ => {}
        }
    }
}

/// False for a file that is no work: a device, a file for the time being, a log.
fn is_kept(file: &str) -> bool {
    let ignored = file.starts_with("/dev/") || file.starts_with("/tmp/") || file.ends_with(".log");
    !ignored && !file.starts_with('$') && !file.starts_with('&')
}

/// The name of a program without its folder and ending.
fn base(word: &str) -> &str {
    let name = word.rsplit('/').next().unwrap_or(word);
    name.strip_suffix(".js").or_else(|| name.strip_suffix(".exe")).unwrap_or(name)
}

/// The words from the program that is meant on.
fn meant(words: &[String]) -> &[String] {
    let mut at = 0;
    while let Some(word) = words.get(at) {
        let assigns = word
            .split_once('=')
            .is_some_and(|(name, _)| name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_'));
        if at > 0 && WITH_VALUE.contains(&word.as_str()) {
            at += 2;
        } else if assigns
            || PREFIXES.contains(&base(word))
            || (at > 0 && (word.starts_with('-') || word.starts_with(|c: char| c.is_ascii_digit())))
        {
            at += 1;
        } else {
            break;
        }
    }
    &words[at.min(words.len())..]
}

/// Deepest nesting of shells that call one another.
const MAX_DEPTH: usize = 3;

/// The kind of check that a simple command starts.
fn check_kind(words: &[String], depth: usize) -> Option<CheckKind> {
    use CheckKind::{Build, Lint, Test};
    let meant = meant(words);
    let (program, rest) = meant.split_first()?;
    let program = base(program);
    let has = |option: &str| rest.iter().any(|word| word == option);
    if has("--version") || has("--help") || has("-h") || has("--init") {
        return None;
    }
    let verb = verb(rest);
    match program {
        "cargo" => match verb? {
            "test" | "t" | "nextest" => Some(Test),
            "build" | "b" | "check" | "c" => Some(Build),
            "clippy" => Some(Lint),
            "fmt" if has("--check") => Some(Lint),
            _ => None,
        },
        "go" => match verb? {
            "test" => Some(Test),
            "build" | "install" => Some(Build),
            "vet" => Some(Lint),
            _ => None,
        },
        "node" if has("--test") => Some(Test),
        "node" if has("--check") || has("-c") => Some(Lint),
        "php" | "ruby" if has("-l") || has("-c") => Some(Lint),
        "bash" | "sh" | "zsh" if has("-n") => Some(Lint),
        "bash" | "sh" | "zsh" if depth < MAX_DEPTH => {
            let script = rest.iter().position(|word| word.starts_with('-') && word.ends_with('c'));
            match script.and_then(|at| rest.get(at + 1)) {
                Some(script) => inner(script, depth),
                None => script_kind(rest),
            }
        }
        "docker" | "docker-compose" | "podman" | "kubectl" | "ssh" if depth < MAX_DEPTH => {
            (1..rest.len()).find_map(|at| check_kind(&rest[at..], depth + 1))
        }
        _ if is_python(program) => python_kind(rest),
        "node" | "tsx" | "ts-node" => script_kind(rest),
        "swift" | "dotnet" | "flutter" | "dart" if verb == Some("run") => None,
        _ if TESTS.contains(&program) => (!has("install")).then_some(Test),
        _ if BUILDS.contains(&program) => Some(if has("test") { Test } else { Build }),
        "black" | "prettier" if !has("--check") && !has("-c") && !has("-l") => None,
        _ if LINTS.contains(&program) => Some(Lint),
        "make" | "gmake" | "gradle" | "gradlew" | "mvn" | "mvnw" if verb.is_none() => Some(Build),
        "mvn" | "mvnw" if rest.iter().any(|word| word == "install") => Some(Test),
        _ if VERBS.contains(&program) => rest.iter().filter_map(|word| named_kind(word)).min(),
        // A program that was built elsewhere may have any name.
        _ if meant[0].contains('/') && (!meant[0].starts_with('/') || program.ends_with(".sh")) => {
            named_kind(program)
        }
        _ => None,
    }
}

fn inner(script: &str, depth: usize) -> Option<CheckKind> {
    parts(script).iter().filter_map(|part| check_kind(&part.words, depth + 1)).min()
}

fn is_python(program: &str) -> bool {
    program
        .strip_prefix("python")
        .is_some_and(|rest| rest.chars().all(|c| c.is_ascii_digit() || c == '.'))
        || program == "manage.py"
}

fn python_kind(rest: &[String]) -> Option<CheckKind> {
    match rest.iter().position(|word| word == "-m").and_then(|at| rest.get(at + 1)) {
        Some(module) => match module.as_str() {
            "pytest" | "unittest" | "nose" | "tox" | "nox" | "doctest" => Some(CheckKind::Test),
            "mypy" | "py_compile" | "compileall" | "build" => Some(CheckKind::Build),
            "ruff" | "flake8" | "pylint" | "black" => Some(CheckKind::Lint),
            _ => None,
        },
        None if rest.iter().any(|word| word == "test") => Some(CheckKind::Test),
        None => script_kind(rest),
    }
}

/// A script that is named after a check. Code on the command line has no name.
fn script_kind(rest: &[String]) -> Option<CheckKind> {
    let is_code = |word: &&String| matches!(word.as_str(), "-c" | "-e" | "--eval" | "-p");
    let script = rest.iter().find(|word| is_code(word) || !word.starts_with('-'))?;
    named_kind(base(script)).filter(|kind| *kind == CheckKind::Test)
}

/// The first word that is no option of a program.
fn verb(rest: &[String]) -> Option<&str> {
    let mut words = rest.iter();
    while let Some(word) = words.next() {
        if WITH_VALUE.contains(&word.as_str()) {
            words.next();
        } else if !word.starts_with(['-', '+']) {
            return Some(word);
        }
    }
    None
}

/// The kind of check that a script or a target is named after.
fn named_kind(name: &str) -> Option<CheckKind> {
    let words = name.split(|c: char| !c.is_ascii_alphanumeric());
    words
        .filter_map(|word| match word.to_ascii_lowercase().as_str() {
            "test" | "tests" | "spec" | "specs" | "check" | "verify" | "e2e" | "ci"
            | "unittest" | "smoke" => Some(CheckKind::Test),
            "build" | "compile" | "package" | "assemble" | "typecheck" | "tsc" | "types"
            | "all" => Some(CheckKind::Build),
            "lint" | "fmt" | "format" | "clippy" => Some(CheckKind::Lint),
            _ => None,
        })
        .min()
}

/// True if a program of the project is run, or a server of the project asked, which may
/// have shown that the work works.
fn runs_by_hand(words: &[String]) -> bool {
    let meant = meant(words);
    let Some((program, rest)) = meant.split_first() else { return false };
    match base(program) {
        "node" | "tsx" | "ts-node" | "deno" | "ruby" | "php" | "java" | "bash" | "sh" => {
            !rest.is_empty()
        }
        name if is_python(name) => !rest.is_empty(),
        "cargo" | "go" | "npm" | "pnpm" | "yarn" | "bun" | "dotnet" | "swift" | "flutter" => {
            rest.iter().any(|word| matches!(word.as_str(), "run" | "start" | "dev" | "serve"))
        }
        "curl" | "wget" | "http" => {
            rest.iter().any(|word| word.contains("localhost") || word.contains("127.0.0.1"))
        }
        "docker" | "docker-compose" => rest.iter().any(|word| word == "up" || word == "run"),
        _ => {
            program.contains('/') && !program.starts_with("/usr/") && !program.starts_with("/bin/")
        }
    }
}

#[cfg(test)]
mod tests;
