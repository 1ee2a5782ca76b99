//! The work of a simple command does, by the names of its program and script.

use super::lists::{
    BUILDERS, BUILDS, CHECK_OPTIONS, CONTAINERS, FORMATTERS, LINTS, NO_TASKS, OTHER_VERBS, PARSERS,
    PREFIXES, RUNNERS, SILENT, TARGETS, TESTS, WITH_VALUE,
};

use crate::audit::files::is_scratch;

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
    let name = name.split_once('@').map_or(name, |(name, _)| name);
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
        program if CONTAINERS.contains(&program) => {
            (1..rest.len()).find(|at| is_tool(base(&rest[*at])) || is_shell(&rest[*at]))?
        }
        "eval" => 0,
        _ => {
            // The whole command may be one word.
            let at = option(|word| matches!(word, "--run" | "--command"))? + 1;
            rest.get(at).filter(|word| word.contains(' '))?;
            return rest.get(at).cloned();
        }
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
    let name = base(program);
    let has = |option: &str| rest.iter().any(|word| word == option);
    if is_scratch(program) && !TESTS.contains(&name) {
        return None;
    }
    if has("--version") || has("--help") || has("-h") || has("--init") {
        return None;
    }
    if PARSERS.iter().any(|(known, option)| *known == name && (option.is_empty() || has(option))) {
        return Some(Lint);
    }
    let checks = || rest.iter().any(|word| CHECK_OPTIONS.contains(&word.as_str()));
    match name {
        "cargo" if matches!(rest.first()?.as_str(), "t" | "b" | "c") => {
            Some(if rest[0] == "t" { Test } else { Build })
        }
        "npm" if rest.first()? == "ci" => None,
        "mvn" | "mvnw" if has("install") => Some(Test),
        "terraform" | "tofu" if has("plan") => Some(Build),
        "cmake" => has("--build").then_some(Build),
        "node" | "tsx" if has("--test") => Some(Test),
        "bash" | "sh" | "zsh" => script_kind(rest).or_else(|| task_kind(name, &rest[1..])),
        "node" | "tsx" | "ts-node" if !has("--run") => {
            script_kind(rest).filter(|kind| *kind == Test)
        }
        _ if is_python(name) => python_kind(rest),
        _ if NO_TASKS.contains(&name) => {
            let at = rest.iter().position(|word| word.starts_with("-exec"))?;
            check_kind(&rest[at + 1..])
        }
        _ if FORMATTERS.contains(&name) && !checks() => None,
        _ if matches!(rest.first().map(String::as_str), Some("fmt" | "format")) && !checks() => {
            None
        }
        "docker" | "docker-compose" if has("up") && has("--build") => Some(Build),
        _ if CONTAINERS.contains(&name) && !has("build") => {
            rest.iter().skip(1).find_map(|word| tool_kind(image(word)))
        }
        _ if tool_kind(name).is_some() && !rest.first().is_some_and(|word| is_other(word)) => {
            tool_kind(name).map(|kind| if has("test") { Test } else { kind })
        }
        // A program that was built elsewhere may have any name.
        _ if program.contains('/') && (!program.starts_with('/') || program.ends_with(".sh")) => {
            file_kind(name).or_else(|| task_kind(name, rest))
        }
        _ => task_kind(name, rest),
    }
}

/// The kind of the task that a program is told to run; what comes behind `--` is for the task,
/// or a command.
fn task_kind(program: &str, rest: &[String]) -> Option<CheckKind> {
    let has_targets = TARGETS.contains(&program);
    let mut found = None;
    let mut seen = 0;
    let mut words = rest.iter().enumerate();
    while let Some((at, word)) = words.next() {
        if RUNNERS.contains(&word.as_str()) {
            let options = rest[at + 1..].iter().take_while(|word| word.starts_with('-')).count();
            if let Some(kind) = check_kind(&rest[at + 1 + options..]) {
                return Some(found.map_or(kind, |known| kind.min(known)));
            }
            if word == "--" {
                break;
            }
        } else if WITH_VALUE.contains(&word.as_str()) {
            words.next();
        } else if let Some(task) = task(word) {
            if is_tool(task) && !has_targets {
                return check_kind(&rest[at..]);
            }
            let kind = if has_targets { target_kind(task) } else { named_kind(task) };
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

fn is_other(word: &str) -> bool {
    OTHER_VERBS.contains(&word)
}

/// The name of a container's image without its version.
fn image(word: &str) -> &str {
    base(word).split(':').next().unwrap_or(word)
}

/// The kind of a program that is known by its name.
fn tool_kind(name: &str) -> Option<CheckKind> {
    let ends = |ending: &str| name.len() > ending.len() && name.ends_with(ending);
    if TESTS.contains(&name) || ends("-test") || ends("-tests") || name == "ctest" {
        Some(Test)
    } else if BUILDS.contains(&name) || ends("build") || ends("-check") {
        Some(Build)
    } else {
        (LINTS.contains(&name) || ends("lint") || ends("check")).then_some(Lint)
    }
}

fn is_tool(name: &str) -> bool {
    tool_kind(name).is_some()
}

pub(super) fn is_python(program: &str) -> bool {
    let version = program.strip_prefix("python").or_else(|| program.strip_prefix("py"));
    version.is_some_and(|rest| rest.chars().all(|c| c.is_ascii_digit() || c == '.'))
        || program == "manage.py"
}

fn python_kind(rest: &[String]) -> Option<CheckKind> {
    match rest.iter().position(|word| word == "-m").and_then(|at| rest.get(at + 1)) {
        Some(module) => match module.as_str() {
            "unittest" | "nose" | "doctest" => Some(Test),
            "py_compile" | "compileall" => Some(Lint),
            "build" => Some(Build),
            _ => rest.iter().position(|word| word == module).and_then(|at| check_kind(&rest[at..])),
        },
        None if rest.iter().any(|word| word == "test") => Some(Test),
        None => script_kind(rest).filter(|kind| *kind == Test),
    }
}

/// A script that is named after a check. Code on the command line has no name.
fn script_kind(rest: &[String]) -> Option<CheckKind> {
    file_kind(script_file(rest)?)
}

/// The kind of check that a script file is named after, at the beginning or at the end of its
/// name.
fn file_kind(file: &str) -> Option<CheckKind> {
    let name = base(file);
    let name = name.split_once('.').map_or(name, |(name, _)| name);
    let words: Vec<_> = name.split(|c: char| !c.is_ascii_alphanumeric()).collect();
    // All of what, such a name does not say.
    let words: Vec<_> = words.into_iter().filter(|word| *word != "all").collect();
    [words.first(), words.last()].into_iter().flatten().filter_map(|word| word_kind(word)).min()
}

/// The script file that a check is, unless it is a program of the trade.
pub(super) fn own_script(words: &[String]) -> Option<&str> {
    let (program, rest) = meant(words).split_first()?;
    let only_parses = rest.iter().any(|word| matches!(word.as_str(), "-n" | "-c" | "--check"));
    match base(program) {
        _ if only_parses => None,
        "bash" | "sh" | "zsh" | "node" | "tsx" | "ts-node" => script_file(rest),
        name if is_python(name) && !rest.iter().any(|word| word == "-m") => script_file(rest),
        name if program.contains('/') && !is_tool(name) && !TARGETS.contains(&name) => {
            Some(program)
        }
        _ => None,
    }
}

/// The file that an interpreter runs.
fn script_file(rest: &[String]) -> Option<&str> {
    let is_code = |word: &str| matches!(word, "-c" | "-e" | "--eval" | "-p" | "-");
    let script = rest.iter().find(|word| is_code(word) || !word.starts_with('-'))?;
    (!is_code(script)).then_some(script)
}

/// The kind of check that a script or a task is named after.
fn named_kind(name: &str) -> Option<CheckKind> {
    let mut from = 0;
    let mut kinds = Vec::new();
    let ends = name.char_indices().skip(1).filter(|(at, letter)| {
        !letter.is_ascii_alphanumeric()
            || (letter.is_ascii_uppercase() && name.as_bytes()[at - 1].is_ascii_lowercase())
    });
    for end in ends.map(|(at, _)| at).chain([name.len()]) {
        let word = name[from..end].trim_start_matches(|c: char| !c.is_ascii_alphanumeric());
        kinds.extend(word_kind(&word.to_ascii_lowercase()));
        from = end;
    }
    kinds.into_iter().min()
}

fn word_kind(word: &str) -> Option<CheckKind> {
    match word {
        "test" | "tests" | "spec" | "specs" | "e2e" | "unittest" | "smoke" | "coverage" => {
            Some(Test)
        }
        "build" | "rebuild" | "compile" | "types" | "check" | "checks" | "verify" | "validate"
        | "ci" => Some(Build),
        "fmt" | "format" | "fix" | "clippy" | "analyze" | "vet" | "audit" | "credo"
        | "dialyzer" | "lint" => Some(Lint),
        _ => tool_kind(word),
    }
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

/// True for the name of a task that builds what it brings elsewhere or shows.
fn is_deployment(task: &str) -> bool {
    task.split(|c: char| !c.is_ascii_alphanumeric())
        .any(|word| matches!(word, "deploy" | "dev" | "release" | "publish" | "preview"))
}

/// True if a command takes the changes away.
pub(super) fn stashes(words: &[String]) -> bool {
    let words: Vec<_> = meant(words).iter().map(|word| base(word)).collect();
    matches!(
        words.as_slice(),
        ["git", "stash"] | ["git", "stash", "push" | "save" | "-u" | "-q", ..]
    )
}

/// True for a program that parses the data that it is given, and no more.
pub(super) fn is_parser(words: &[String]) -> bool {
    let meant = meant(words);
    let has = |word: &str| meant.iter().any(|known| known == word);
    meant.first().is_some_and(|program| base(program) == "jq") || has("json.tool")
}

/// True for a program that may parse data: such a parser, or an interpreter of code.
pub(super) fn may_parse(words: &[String]) -> bool {
    is_parser(words) || super::writes::runs_code(meant(words))
}

/// The script or program that a command runs, if it may check the work although its name does not
/// say so.
pub(super) fn may_check(words: &[String]) -> Option<&str> {
    let (program, rest) = meant(words).split_first()?;
    if rest.iter().any(|word| CHECK_OPTIONS.contains(&word.as_str())) {
        return (!matches!(base(program), "git" | "gh" | "pip" | "echo")).then_some(program);
    }
    let names = |words: &[&str]| rest.iter().take(words.len()).eq(words.iter().copied());
    let script = match base(program) {
        "gh" if names(&["run", "watch"]) || names(&["pr", "checks"]) => return Some(program),
        _ if rest.iter().take(2).any(|word| is_deployment(word)) => return Some(program),
        "bash" | "sh" | "zsh" => script_file(rest)?,
        _ if program.contains('/') => program,
        _ => return None,
    };
    script.ends_with(".sh").then_some(script)
}
