//! The kind of check that a simple command is, by the names of its program, script or task.

use gate_checks::project::Aim;

use super::lists::{
    BUILDERS, CHECK_OPTIONS, CONTAINERS, NO_RUN, NO_TASKS, OTHER_VERBS, RUNNERS, TARGETS,
    WITH_VALUE,
};
use super::names::{base, meant, script_file};
use super::programs::{BUILDS, FORMATTERS, LINTS, PARSERS, TESTS};
use crate::audit::files::is_scratch;
use crate::audit::shell::parts;

/// The kind of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::audit) enum CheckKind {
    Test,
    /// A build or a type check.
    Build,
    Lint,
}

use CheckKind::{Build, Lint, Test};

impl From<Aim> for CheckKind {
    fn from(aim: Aim) -> Self {
        match aim {
            Aim::Tests => Test,
            Aim::Build | Aim::Typecheck => Build,
            Aim::Lint => Lint,
        }
    }
}

/// The kind of check that a line of a hook's output starts.
pub(in crate::audit) fn line_kind(line: &str) -> Option<CheckKind> {
    parts(line).iter().filter_map(|part| check_kind(&part.words)).min()
}

/// The kind of check that a hook is named after. The hooks that most projects have look at blanks
/// and sizes of files, and begin with `check` and `fix`.
pub(in crate::audit) fn label_kind(label: &str) -> Option<CheckKind> {
    let label = label.to_ascii_lowercase();
    label
        .split(|c: char| !c.is_ascii_alphanumeric() && c != '-')
        .filter(|word| !matches!(*word, "check" | "fix" | "ci"))
        .filter_map(word_kind)
        .min()
}

/// Commands in commands that are looked at, one in the other.
const MAX_DEPTH: usize = 32;

/// Times that each word of a command may be looked at again as a part of a command in that one.
const MAX_LOOKS: usize = 64;

/// The kind of check that a simple command starts.
pub(super) fn check_kind(words: &[String]) -> Option<CheckKind> {
    CommandSearch { words_left: (words.len() + 1) * MAX_LOOKS, depth: 0 }.check_kind(words)
}

/// A search for the check in a command. Each word may begin another command, and each word of that
/// one a further one: without bounds, a line of thirty words takes seconds, and a long one
/// overflows the stack.
struct CommandSearch {
    words_left: usize,
    depth: usize,
}

impl CommandSearch {
    /// The kind of check that these words start; none if they lie too deep, or too many were
    /// looked at before.
    fn check_kind(&mut self, words: &[String]) -> Option<CheckKind> {
        self.spend(words.len() + 1)?;
        if self.depth == MAX_DEPTH {
            return None;
        }
        self.depth += 1;
        let kind = command_kind(words, self);
        self.depth -= 1;
        kind
    }

    /// Takes so many words from those that may be looked at; none if too few are left.
    fn spend(&mut self, words: usize) -> Option<()> {
        let left = self.words_left.checked_sub(words);
        self.words_left = left.unwrap_or(0);
        left.map(drop)
    }
}

fn command_kind(words: &[String], search: &mut CommandSearch) -> Option<CheckKind> {
    let meant = meant(words);
    let (program, rest) = meant.split_first()?;
    let name = base(program);
    let has = |option: &str| rest.iter().any(|word| word == option);
    // A program that was built for one use may have any name.
    if (is_scratch(program) || program.starts_with('$')) && !is_listed(name) {
        return None;
    }
    if NO_RUN.iter().any(|option| has(option)) || name.starts_with('[') {
        return None;
    }
    if PARSERS.iter().any(|(known, option)| *known == name && (option.is_empty() || has(option))) {
        return Some(Lint);
    }
    if gate_checks::report::is_runner(meant) {
        return Some(Test);
    }
    let checks = || rest.iter().any(|word| CHECK_OPTIONS.contains(&word.as_str()));
    match name {
        "cargo" if matches!(rest.first()?.as_str(), "b" | "c") => Some(Build),
        "npm" if rest.first()? == "ci" => None,
        "mvn" | "mvnw" if has("install") => Some(Test),
        "terraform" | "tofu" if has("plan") => Some(Build),
        "cmake" => has("--build").then_some(Build),
        "cargo" | "go" | "swift" | "dotnet" | "flutter" | "dart" | "zig" | "cabal" | "stack"
            if rest.first()? == "run" =>
        {
            None
        }
        "bash" | "sh" | "zsh" => {
            script_kind(rest).or_else(|| rest.iter().skip(1).find_map(|word| verb_kind(word)))
        }
        "node" | "tsx" | "ts-node" | "pwsh" | "powershell" if !has("--run") => script_kind(rest),
        _ if is_python(name) => python_kind(rest, search),
        _ if NO_TASKS.contains(&name) => {
            let at = rest.iter().position(|word| word.starts_with("-exec"))?;
            search.check_kind(&rest[at + 1..])
        }
        _ if FORMATTERS.contains(&name) && !checks() => None,
        _ if matches!(rest.first().map(String::as_str), Some("fmt" | "format")) && !checks() => {
            None
        }
        _ if CONTAINERS.contains(&name) && rest.iter().take(2).any(|word| word == "build") => {
            Some(Build)
        }
        "docker" | "docker-compose" if has("up") && has("--build") => Some(Build),
        _ if CONTAINERS.contains(&name) => {
            let runs = rest.iter().take(5).any(|word| matches!(word.as_str(), "run" | "exec"));
            let tools = rest.iter().take(if runs { rest.len() } else { 1 });
            tools.filter_map(|word| tool_kind(image(word))).next()
        }
        _ if tool_kind(name).is_some() && !rest.first().is_some_and(|word| is_other(word)) => {
            tool_kind(name).map(|kind| if has("test") { Test } else { kind })
        }
        // A program that was built elsewhere may have any name.
        _ if program.contains('/') && (!program.starts_with('/') || program.ends_with(".sh")) => {
            file_kind(name).or_else(|| task_kind(name, rest, search))
        }
        _ => task_kind(name, rest, search),
    }
}

/// The kind of the task that a program is to run. The words after `--` are the task's arguments,
/// or a command.
fn task_kind(program: &str, rest: &[String], search: &mut CommandSearch) -> Option<CheckKind> {
    let has_targets = TARGETS.contains(&program);
    let mut found = None;
    let mut seen = 0;
    let mut words = rest.iter().enumerate();
    while let Some((at, word)) = words.next() {
        if RUNNERS.contains(&word.as_str()) {
            let options = rest[at + 1..].iter().take_while(|word| word.starts_with('-')).count();
            search.spend(options)?;
            if let Some(kind) = search.check_kind(&rest[at + 1 + options..]) {
                return Some(found.map_or(kind, |known| kind.min(known)));
            }
            if word == "--" {
                break;
            }
        } else if WITH_VALUE.contains(&word.as_str()) {
            words.next();
        } else if let Some(task) = task(word) {
            if is_tool(task) && !has_targets {
                return search.check_kind(&rest[at..]);
            }
            let kind = match seen {
                _ if has_targets => target_kind(task),
                0 => named_kind(task),
                _ => verb_kind(task),
            };
            found = [found, kind].into_iter().flatten().min();
            seen += 1;
            if !has_targets && (seen > 2 || is_other(task)) {
                break;
            }
        } else if !word.starts_with('-') && !has_targets {
            seen += 1;
        }
    }
    let builds_all = TARGETS[..BUILDERS].contains(&program) && seen == 0;
    found.or(builds_all.then_some(Build))
}

/// The name of a task in a word: that of a project's task stands behind the project.
fn task(word: &str) -> Option<&str> {
    let name = match word.rsplit_once('/') {
        Some((_, name)) => name.split_once(':')?.1,
        None => word,
    };
    let is_name = name.starts_with(|c: char| c.is_ascii_lowercase() || c == ':')
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_:".contains(&byte));
    is_name.then_some(name)
}

pub(super) fn is_other(word: &str) -> bool {
    OTHER_VERBS.contains(&word)
}

/// The name of a container's image without its version.
fn image(word: &str) -> &str {
    base(word).split(':').next().unwrap_or(word)
}

/// The kind of a program that is known by its name.
fn tool_kind(name: &str) -> Option<CheckKind> {
    let ends = |ending: &str| name.len() > ending.len() && name.ends_with(ending);
    let mut words = name.split(['-', '_', '.']);
    if let Some(aim) = gate_checks::project::aim_of_tool(name) {
        Some(CheckKind::from(aim))
    } else if TESTS.contains(&name) || ends("-test") || ends("-tests") {
        Some(Test)
    } else if BUILDS.contains(&name) || ends("build") || ends("typecheck") || ends("-check") {
        Some(Build)
    } else if LINTS.contains(&name) || ends("check") {
        Some(Lint)
    } else {
        let is_linter = |word: &str| {
            let endings = ["lint", "linter", "validator", "checker"];
            endings.iter().any(|ending| word.ends_with(ending))
        };
        words.any(is_linter).then_some(Lint)
    }
}

pub(super) fn is_tool(name: &str) -> bool {
    tool_kind(name).is_some()
}

pub(super) fn is_python(program: &str) -> bool {
    let version = program.strip_prefix("python").or_else(|| program.strip_prefix("py"));
    version.is_some_and(|rest| rest.chars().all(|c| c.is_ascii_digit() || c == '.'))
        || program == "manage.py"
}

fn python_kind(rest: &[String], search: &mut CommandSearch) -> Option<CheckKind> {
    match rest.iter().position(|word| word == "-m").and_then(|at| rest.get(at + 1)) {
        Some(module) => match module.as_str() {
            "unittest" | "nose" | "doctest" => Some(Test),
            "py_compile" | "compileall" => Some(Lint),
            "build" => Some(Build),
            _ => {
                let at = rest.iter().position(|word| word == module)?;
                search.check_kind(&rest[at..])
            }
        },
        None if rest.iter().any(|word| word == "test") => Some(Test),
        None => script_kind(rest),
    }
}

/// A script of the project that is named after a check. Code on the command line has no name.
fn script_kind(rest: &[String]) -> Option<CheckKind> {
    script_file(rest).filter(|file| !is_scratch(file)).and_then(file_kind)
}

/// The kind of check that a script file is named after, at the beginning or at the end of its
/// name. One that builds some thing is named after more than that.
pub(super) fn file_kind(file: &str) -> Option<CheckKind> {
    let name = base(file);
    let name = name.split_once('.').map_or(name, |(name, _)| name);
    let words: Vec<_> = name.split(|c: char| !c.is_ascii_alphanumeric()).collect();
    if words.iter().any(|word| is_of_machine(word)) {
        return None;
    }
    // The word `all` does not name what is checked.
    let words: Vec<_> = words.into_iter().filter(|word| *word != "all").collect();
    let makes = |word: &str| matches!(word, "build" | "rebuild" | "compile" | "format" | "fix");
    let telling = [words.first(), words.last()].into_iter().flatten();
    let telling = telling.filter(|word| words.len() == 1 || !makes(word));
    telling.filter_map(|word| word_kind(&word.to_ascii_lowercase())).min()
}

/// The kind of check that a script or a task is named after.
fn named_kind(name: &str) -> Option<CheckKind> {
    let (mut from, mut kinds, mut is_of_work) = (0, Vec::new(), true);
    let ends = name.char_indices().skip(1).filter(|(at, letter)| {
        !letter.is_ascii_alphanumeric()
            || (letter.is_ascii_uppercase() && name.as_bytes()[at - 1].is_ascii_lowercase())
    });
    for end in ends.map(|(at, _)| at).chain([name.len()]) {
        let word = name[from..end].trim_start_matches(|c: char| !c.is_ascii_alphanumeric());
        kinds.extend(word_kind(&word.to_ascii_lowercase()));
        is_of_work &= !is_of_machine(word);
        from = end;
    }
    if is_of_work { kinds.into_iter().min() } else { None }
}

/// True for a word by which a check looks at a machine, an account or the state of a plan, and not
/// at the work.
fn is_of_machine(word: &str) -> bool {
    let words = [
        "prerequisites",
        "prereqs",
        "requirements",
        "dependencies",
        "deps",
        "environment",
        "env",
        "status",
        "version",
        "versions",
        "updates",
        "access",
        "auth",
        "login",
        "connection",
        "health",
    ];
    words.iter().any(|known| known.eq_ignore_ascii_case(word))
}

fn word_kind(word: &str) -> Option<CheckKind> {
    match word {
        "tests" | "spec" | "specs" | "e2e" | "unittest" | "smoke" | "coverage" => Some(Test),
        "types" | "checks" | "ci" => Some(Build),
        "fmt" | "format" | "fix" | "audit" | "credo" | "dialyzer" => Some(Lint),
        _ => verb_kind(word).or_else(|| is_listed(word).then(|| tool_kind(word)).flatten()),
    }
}

/// The kind of check that a verb stands for, wherever it stands.
fn verb_kind(word: &str) -> Option<CheckKind> {
    match word {
        "test" => Some(Test),
        "build" | "rebuild" | "compile" | "typecheck" | "type-check" | "check" | "verify"
        | "validate" => Some(Build),
        "lint" | "clippy" | "analyze" | "vet" => Some(Lint),
        _ => None,
    }
}

fn is_listed(word: &str) -> bool {
    [&TESTS[..], &BUILDS, &LINTS].iter().any(|list| list.contains(&word))
        || word.ends_with("lint")
        || gate_checks::project::aim_of_tool(word).is_some()
}

/// The kind of check that a target is named after. Where there are no scripts for linters, `check`
/// runs the tests.
fn target_kind(name: &str) -> Option<CheckKind> {
    match name {
        "check" | "verify" | "ci" => Some(Test),
        "all" | "package" => Some(Build),
        _ if name.starts_with("assemble") => Some(Build),
        _ => named_kind(name),
    }
}
