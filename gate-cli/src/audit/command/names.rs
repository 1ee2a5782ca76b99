//! The programs and scripts of a simple command.

use super::kinds::{file_kind, is_other, is_python, is_tool};
use super::lists::{CHECK_OPTIONS, CONTAINERS, PREFIXES, TARGETS, WITH_VALUE};
use super::programs::SILENT;
use crate::audit::files::is_scratch;

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
        } else if word == "command" && words.get(at + 1).is_some_and(|next| next.starts_with('-')) {
            // It looks for a program.
            break;
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
            rest.iter().take(5).find(|word| matches!(word.as_str(), "run" | "exec"))?;
            let starts = |word: &str| is_tool(base(word)) || is_shell(word) || word == "ssh";
            (1..rest.len()).find(|at| starts(&rest[*at]))?
        }
        "eval" => 0,
        _ => match shell_at(rest) {
            Some(at) => at + 2,
            None => {
                // The whole command may be one word.
                let at = option(|word| matches!(word, "--run" | "--command"))? + 1;
                rest.get(at).filter(|word| word.contains(' '))?;
                return rest.get(at).cloned();
            }
        },
    };
    let script = rest.get(from..).filter(|script| !script.is_empty())?;
    // A container's command keeps its words apart; the others are one word, or were joined.
    Some(match script {
        [script] => script.clone(),
        words => words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" "),
    })
}

/// The place of a shell that another program starts with a script.
fn shell_at(words: &[String]) -> Option<usize> {
    words.windows(2).position(|pair| {
        is_shell(&pair[0]) && matches!(pair[1].as_str(), "-c" | "-lc" | "-ec" | "-euc")
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
pub(super) fn script_file(rest: &[String]) -> Option<&str> {
    let is_code = |word: &str| matches!(word, "-c" | "-e" | "--eval" | "-p" | "-");
    let script = rest.iter().find(|word| is_code(word) || !word.starts_with('-'))?;
    (!is_code(script)).then_some(script)
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

/// True for a check that names each error by a word that other programs do not print: TypeScript's
/// `error TS`, `SyntaxError` of Node.js and Python.
pub(super) fn names_errors(words: &[String]) -> bool {
    let Some((program, rest)) = meant(words).split_first() else { return false };
    let has = |option: &str| rest.iter().any(|word| word == option);
    match base(program) {
        "node" => has("--check"),
        name if is_python(name) => has("py_compile"),
        name => matches!(name, "tsc" | "tsgo" | "vue-tsc"),
    }
}

/// True for the name of a task that builds what it brings elsewhere.
fn is_deployment(task: &str) -> bool {
    task.split(|c: char| !c.is_ascii_alphanumeric())
        .any(|word| matches!(word, "deploy" | "release" | "publish"))
}

/// True for code that asserts something, or calls a function named after a check, such as
/// `validate_all(`.
pub(super) fn calls_check(code: &str) -> bool {
    let is_check = |name: &str| {
        let lower = name.to_ascii_lowercase();
        ["validat", "verify"].iter().any(|verb| lower.contains(verb))
    };
    code.contains("assert ")
        || code.match_indices('(').any(|(at, _)| {
            let name = code[..at].rsplit(|c: char| !c.is_ascii_alphanumeric() && c != '_').next();
            name.is_some_and(is_check)
        })
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
    let is_jq = meant.first().is_some_and(|program| base(program) == "jq");
    (is_jq && (has(".") || has("empty"))) || has("json.tool")
}

/// True for a program that may parse data: such a parser, or an interpreter of code.
pub(super) fn may_parse(words: &[String]) -> bool {
    is_parser(words) || super::writes::runs_code(meant(words))
}

/// An option without its value.
fn option(word: &str) -> &str {
    word.split_once('=').map_or(word, |(option, _)| option)
}

/// The script or program that a command runs, if it may check the work although its name does not
/// say so.
pub(super) fn may_check(words: &[String]) -> Option<&str> {
    let (program, rest) = meant(words).split_first()?;
    if rest.iter().any(|word| CHECK_OPTIONS.contains(&option(word))) {
        return (!matches!(base(program), "git" | "gh" | "pip" | "echo")).then_some(program);
    }
    let names = |words: &[&str]| rest.iter().take(words.len()).eq(words.iter().copied());
    let script = match base(program) {
        "gh" if names(&["run", "watch"]) || names(&["pr", "checks"]) => return Some(program),
        _ if rest.iter().take(2).any(|word| is_deployment(word)) => return Some(program),
        // A one-off script may be named after what it checks.
        name if is_python(name) || matches!(name, "node" | "tsx" | "bun" | "ruby") => {
            return script_file(rest).filter(|file| is_scratch(file) && file_kind(file).is_some());
        }
        "bash" | "sh" | "zsh" => script_file(rest)?,
        _ if program.contains('/') => program,
        _ => return None,
    };
    let name = base(script).strip_suffix(".sh")?;
    (!is_other(name.split(['-', '_']).next()?)).then_some(script)
}
