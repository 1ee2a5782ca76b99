//! The work of a simple command does, by the names of its program and script.

use super::lists::{
    BUILDS, CHECK_OPTIONS, LINTS, PREFIXES, RUNNERS, SILENT, TARGETS, TESTS, VERBS, WITH_VALUE,
};

/// The kind of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::audit) enum CheckKind {
    Test,
    /// A build or a type check.
    Build,
    Lint,
}

use CheckKind::{Build, Lint, Test};

/// The name of a program without its folder and ending.
pub(super) fn base(word: &str) -> &str {
    let name = word.rsplit(['/', '\\']).next().unwrap_or(word);
    let endings = [".js", ".mjs", ".exe", ".cmd", ".bat"];
    endings.iter().find_map(|ending| name.strip_suffix(ending)).unwrap_or(name)
}

/// The words from the program that is meant on.
pub(super) fn meant(words: &[String]) -> &[String] {
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

/// The script that a command gives to a shell of its own, here or elsewhere.
pub(super) fn script(words: &[String]) -> Option<String> {
    let (program, rest) = meant(words).split_first()?;
    let option = |is: fn(&str) -> bool| rest.iter().position(|word| is(word));
    let from = match base(program) {
        "bash" | "sh" | "zsh" | "fish" => {
            option(|word| word.starts_with('-') && !word.starts_with("--") && word.ends_with('c'))?
                + 1
        }
        "cmd" => option(|word| word.eq_ignore_ascii_case("/c"))? + 1,
        "powershell" | "pwsh" => {
            option(|word| word.eq_ignore_ascii_case("-command") || word.eq_ignore_ascii_case("-c"))?
                + 1
        }
        "wsl" => option(|word| !word.starts_with('-'))?,
        "ssh" => {
            // The host comes first, with options of which some take a value.
            let mut at = 0;
            while rest.get(at)?.starts_with('-') {
                let takes = matches!(rest[at].as_str(), "-i" | "-p" | "-o" | "-l" | "-F" | "-J");
                at += if takes { 2 } else { 1 };
            }
            at + 1
        }
        "docker" | "docker-compose" | "podman" | "kubectl" => {
            (1..rest.len()).find(|at| check_kind(&rest[*at..]).is_some() || is_shell(&rest[*at]))?
        }
        "eval" => 0,
        _ => return None,
    };
    let script = rest.get(from..).filter(|script| !script.is_empty())?;
    // A container's command keeps its words apart; the others are one word, or were joined.
    Some(match script {
        [script] => script.clone(),
        words => words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" "),
    })
}

fn is_shell(word: &str) -> bool {
    matches!(base(word), "bash" | "sh" | "zsh")
}

fn quoted(word: &str) -> String {
    if word.contains([' ', '\n', ';', '|', '&', '>', '<', '"']) && !word.contains('\'') {
        format!("'{word}'")
    } else {
        word.to_owned()
    }
}

/// The kind of check that a simple command starts.
pub(super) fn check_kind(words: &[String]) -> Option<CheckKind> {
    let meant = meant(words);
    let (program, rest) = meant.split_first()?;
    let program = base(program);
    let has = |option: &str| rest.iter().any(|word| word == option);
    if has("--version") || has("--help") || has("-h") || has("--init") || has("install") {
        return (program.starts_with("mvn") && has("install")).then_some(Test);
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
            "build" => Some(Build),
            "vet" => Some(Lint),
            _ => None,
        },
        "mix" => match verb? {
            "test" => Some(Test),
            "compile" => Some(Build),
            "credo" | "dialyzer" => Some(Lint),
            "format" if has("--check-formatted") => Some(Lint),
            other => named_kind(other).filter(|kind| *kind == Test),
        },
        "docker" | "docker-compose" | "podman" => {
            let builds = |words: &[&str]| rest.iter().take(words.len()).eq(words.iter().copied());
            let does =
                builds(&["build"]) || builds(&["compose", "build"]) || builds(&["buildx", "build"]);
            (does || (has("up") && has("--build"))).then_some(Build)
        }
        "cmake" => has("--build").then_some(Build),
        "terraform" => matches!(verb?, "validate" | "plan").then_some(Build),
        "node" | "tsx" if has("--test") => Some(Test),
        "node" | "deno" if has("--check") || has("-c") => Some(Lint),
        "php" | "ruby" | "perl" if has("-l") || has("-c") => Some(Lint),
        "luac" if has("-p") => Some(Lint),
        "bash" | "sh" | "zsh" if has("-n") => Some(Lint),
        "bash" | "sh" | "zsh" | "node" | "tsx" | "ts-node" => script_kind(rest),
        "gofmt" => has("-l").then_some(Lint),
        _ if is_python(program) => python_kind(rest),
        "swift" | "dotnet" | "flutter" | "dart" | "zig" if verb == Some("run") => None,
        "flutter" | "dart" if verb == Some("analyze") => Some(Lint),
        _ if TESTS.contains(&program) => Some(Test),
        _ if BUILDS.contains(&program) => Some(if has("test") { Test } else { Build }),
        "black" if !has("--check") => None,
        "prettier" if !has("--check") && !has("-c") && !has("-l") => None,
        "ruff" | "biome" if verb == Some("format") && !has("--check") => None,
        _ if LINTS.contains(&program) => Some(Lint),
        "make" | "gmake" | "gradle" | "gradlew" | "mvn" | "mvnw" if verb.is_none() => Some(Build),
        _ if VERBS.contains(&program) => verbs_kind(program, rest),
        // A program that was built elsewhere may have any name.
        _ if meant[0].contains('/') && (!meant[0].starts_with('/') || program.ends_with(".sh")) => {
            file_kind(program)
        }
        _ => None,
    }
}

/// The kind of the script or target that a program with verbs runs; what comes behind `--` is for
/// the script.
fn verbs_kind(program: &str, rest: &[String]) -> Option<CheckKind> {
    let own = rest.iter().take_while(|word| *word != "--");
    let mut words = Vec::new();
    let mut takes_value = false;
    for word in own {
        if !std::mem::replace(&mut takes_value, WITH_VALUE.contains(&word.as_str()))
            && !word.starts_with('-')
        {
            words.push(word.clone());
        }
    }
    let named = |words: &[String]| words.iter().filter_map(|word| named_kind(word)).min();
    if TARGETS.contains(&program) {
        // Where there are no scripts for linters, a target with this name runs the tests.
        let is_check = |word: &String| matches!(word.as_str(), "check" | "verify" | "ci");
        return if words.iter().any(is_check) { Some(Test) } else { named(&words) };
    }
    let (verb, behind) = words.split_first()?;
    match verb.as_str() {
        "exec" | "dlx" | "x" => check_kind(behind),
        verb if RUNNERS.contains(&verb) => named(&behind[..behind.len().min(2)]),
        verb if is_tool(verb) => check_kind(&words),
        verb => named_kind(verb),
    }
}

fn is_tool(name: &str) -> bool {
    [&TESTS[..], &BUILDS, &LINTS].iter().any(|list| list.contains(&name))
}

pub(super) fn is_python(program: &str) -> bool {
    let version = program.strip_prefix("python").or_else(|| program.strip_prefix("py"));
    version.is_some_and(|rest| rest.chars().all(|c| c.is_ascii_digit() || c == '.'))
        || program == "manage.py"
}

fn python_kind(rest: &[String]) -> Option<CheckKind> {
    match rest.iter().position(|word| word == "-m").and_then(|at| rest.get(at + 1)) {
        Some(module) => match module.as_str() {
            "pytest" | "unittest" | "nose" | "tox" | "nox" | "doctest" => Some(Test),
            "mypy" | "pyright" | "py_compile" | "compileall" | "build" => Some(Build),
            "ruff" | "flake8" | "pylint" | "black" | "pyflakes" => Some(Lint),
            _ => None,
        },
        None if rest.iter().any(|word| word == "test") => Some(Test),
        None => script_kind(rest),
    }
}

/// A script that is named after a check. Code on the command line has no name.
fn script_kind(rest: &[String]) -> Option<CheckKind> {
    file_kind(script_file(rest)?).filter(|kind| *kind == Test)
}

/// The kind of check that a script file is named after, at the beginning or at the end of its
/// name.
fn file_kind(file: &str) -> Option<CheckKind> {
    let name = base(file);
    let name = name.split_once('.').map_or(name, |(name, _)| name);
    let words: Vec<_> = name.split(|c: char| !c.is_ascii_alphanumeric()).collect();
    // All of what, such a name does not say.
    let words: Vec<_> = words.into_iter().filter(|word| *word != "all").collect();
    [words.first(), words.last()].into_iter().flatten().filter_map(|word| named_kind(word)).min()
}

/// The script file that a check is, unless it is a program of the trade.
pub(super) fn own_script(words: &[String]) -> Option<&str> {
    let (program, rest) = meant(words).split_first()?;
    let only_parses = rest.iter().any(|word| matches!(word.as_str(), "-n" | "-c" | "--check"));
    match base(program) {
        _ if only_parses => None,
        "bash" | "sh" | "zsh" | "node" | "tsx" | "ts-node" => script_file(rest),
        name if is_python(name) && !rest.iter().any(|word| word == "-m") => script_file(rest),
        name if program.contains('/') && !is_tool(name) && !VERBS.contains(&name) => Some(program),
        _ => None,
    }
}

/// The file that an interpreter runs.
fn script_file(rest: &[String]) -> Option<&str> {
    let is_code = |word: &str| matches!(word, "-c" | "-e" | "--eval" | "-p" | "-");
    let script = rest.iter().find(|word| is_code(word) || !word.starts_with('-'))?;
    (!is_code(script)).then_some(script)
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
            "test" | "tests" | "spec" | "specs" | "e2e" | "unittest" | "smoke" | "coverage" => {
                Some(Test)
            }
            "build" | "compile" | "package" | "assemble" | "typecheck" | "tsc" | "types"
            | "check" | "verify" | "validate" | "ci" | "all" => Some(Build),
            "lint" | "fmt" | "format" | "clippy" | "analyze" => Some(Lint),
            _ => None,
        })
        .min()
}

/// True for a check that prints nothing if it passes.
pub(super) fn is_silent(words: &[String]) -> bool {
    let Some((program, rest)) = meant(words).split_first() else { return false };
    let has = |option: &str| rest.iter().any(|word| word == option);
    match base(program) {
        "go" => has("vet") || has("build"),
        "bash" | "sh" | "zsh" => has("-n"),
        "node" => has("--check"),
        "gofmt" => true,
        name if is_python(name) => has("py_compile") || has("compileall"),
        name => SILENT.contains(&name),
    }
}

/// The script or program that a command runs, if it may check the work although its name does not
/// say so.
pub(super) fn may_check(words: &[String]) -> Option<&str> {
    let (program, rest) = meant(words).split_first()?;
    if rest.iter().any(|word| CHECK_OPTIONS.contains(&word.as_str())) {
        return (!matches!(base(program), "git" | "gh" | "pip" | "echo")).then_some(program);
    }
    let script = match base(program) {
        "bash" | "sh" | "zsh" => script_file(rest)?,
        _ if program.contains('/') => program,
        _ => return None,
    };
    script.ends_with(".sh").then_some(script)
}
