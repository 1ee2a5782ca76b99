//! A command that an agent ran: the check that it starts, and the files that it writes.

mod filters;
mod kinds;
mod lists;
mod names;
mod programs;
mod writes;

use super::shell::{Part, Then, parts};
use filters::{Filtered, filtered, shows_failures};
use kinds::check_kind;
use names::{base, is_silent, may_check, meant, own_script};

pub(super) use kinds::{CheckKind, label_kind, line_kind};

/// A command line, looked at.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Inspection {
    /// The check that it starts. Of several, the one that shows most.
    pub(super) check: Option<Check>,
    /// It starts other checks too.
    pub(super) has_more_checks: bool,
    /// The scripts and programs that it runs that may check the work.
    pub(super) scripts: Vec<String>,
    /// The files that it writes.
    pub(super) writes: Vec<String>,
    /// It does one thing: if that fails, nothing was written.
    pub(super) is_single: bool,
    /// It commits or pushes, and hooks of the repository may check the work.
    pub(super) runs_hooks: bool,
    /// It leaves hooks out (`--no-verify`).
    pub(super) leaves_hooks_out: bool,
    /// It looks at commits that are not in the history of the work.
    pub(super) looks_up_history: bool,
}

/// A check in a command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Check {
    pub(super) kind: CheckKind,
    pub(super) command: String,
    /// The script that it is, if it is none of the trade's programs.
    pub(super) script: Option<String>,
    /// It only parses data: a check of the files that it names.
    pub(super) parses: bool,
    /// It is one-off code: if it fails, that may be its own fault.
    pub(super) is_one_off: bool,
    /// Exit code 0 shows that the check passed.
    pub(super) code_shows_pass: bool,
    /// Another exit code shows that the check failed.
    pub(super) code_shows_failure: bool,
    /// It prints nothing if it passes, and all that it prints is shown.
    pub(super) is_silent: bool,
    /// It names errors by words that are known, and all that it prints is shown.
    pub(super) names_errors: bool,
    /// The text that the command line prints when the check is over.
    pub(super) end_text: Option<String>,
    /// The text that it prints if the check passed, or if it failed.
    pub(super) pass_text: Option<String>,
    pub(super) failure_text: Option<String>,
    /// The text that it prints with the check's exit code, which is `$?` in this text.
    pub(super) code_text: Option<String>,
}

/// Variables of a shell that hold the exit code of a command.
const CODES: [&str; 5] = ["${PIPESTATUS[0]}", "$PIPESTATUS", "$LASTEXITCODE", "$status", "$?"];

/// Words by which code in a command line parses data.
const PARSES: [&str; 9] = [
    "yaml.safe_load",
    "json.load",
    "tomllib.load",
    "ast.parse",
    "py_compile.compile",
    "JSON.parse",
    "YAML.load",
    "ElementTree.parse",
    "plistlib.load",
];

/// Looks at a command line.
pub(super) fn inspect(line: &str) -> Inspection {
    let parts = without_ends(unwrapped(parts(line), 0));
    let mut inspected = Inspection::default();
    let (mut is_stashed, mut shows_most) = (false, None);
    for (at, part) in parts.iter().enumerate() {
        inspected.facts(part);
        is_stashed |= names::stashes(&part.words);
        if is_stashed {
            // What runs now looks at the state before the work.
            continue;
        }
        let Some(kind) = check_kind(&part.words) else {
            inspected.scripts.extend(may_check(&part.words).map(str::to_owned));
            continue;
        };
        inspected.has_more_checks |= shows_most.is_some();
        if shows_most.is_none_or(|(known, _)| kind <= known) {
            shows_most = Some((kind, at));
        }
    }
    inspected.check = shows_most.map(|(kind, at)| check(kind, &parts, at));
    inspected.writes = writes::writes(line, &parts);
    if inspected.check.is_none() && inspected.writes.is_empty() {
        inspected.check = parser(line, &parts).or_else(|| one_off_code(line, &parts));
    }
    let is_one_off = inspected.check.as_ref().is_some_and(|check| check.is_one_off);
    if !is_one_off
        && parts.iter().any(|part| writes::runs_code(&part.words))
        && (names::calls_check(line) || (!inspected.writes.is_empty() && parses(line)))
    {
        inspected.scripts.push(line.to_owned());
    }
    inspected.is_single = parts.len() == 1;
    inspected
}

fn parses(line: &str) -> bool {
    PARSES.iter().any(|words| line.contains(words))
}

/// The check that parses data.
fn parser(line: &str, parts: &[Part]) -> Option<Check> {
    let at = parts.iter().position(|part| names::may_parse(&part.words))?;
    let is_parser = names::is_parser(&parts[at].words) || parses(line);
    is_parser.then(|| Check {
        parses: true,
        command: line.to_owned(),
        ..check(CheckKind::Lint, parts, at)
    })
}

/// The check that one-off code on the command line is.
fn one_off_code(line: &str, parts: &[Part]) -> Option<Check> {
    let at = parts.iter().position(|part| writes::runs_code(&part.words))?;
    names::calls_check(line).then(|| Check {
        command: line.to_owned(),
        is_one_off: true,
        ..check(CheckKind::Lint, parts, at)
    })
}

/// The deepest nesting of shells that is looked at.
const MAX_DEPTH: usize = 3;

/// The commands with those of the shells that they start, in their place.
fn unwrapped(parts: Vec<Part>, depth: usize) -> Vec<Part> {
    let mut all = Vec::new();
    for part in parts {
        let script = if depth < MAX_DEPTH { names::script(&part.words) } else { None };
        match script {
            Some(script) => {
                let mut inner = unwrapped(super::shell::parts(&script), depth + 1);
                if let Some(last) = inner.last_mut() {
                    last.then = part.then;
                    last.writes.extend(part.writes);
                }
                all.append(&mut inner);
            }
            None => all.push(part),
        }
    }
    all
}

/// The commands without the words that end a loop or a branch, which ends as its last command does.
fn without_ends(parts: Vec<Part>) -> Vec<Part> {
    let mut all: Vec<Part> = Vec::new();
    for part in parts {
        match part.words.as_slice() {
            [end] if matches!(end.as_str(), "done" | "fi" | "esac") && part.writes.is_empty() => {
                if let Some(last) = all.last_mut() {
                    last.then = part.then;
                }
            }
            _ => all.push(part),
        }
    }
    all
}

fn check(kind: CheckKind, parts: &[Part], at: usize) -> Check {
    let rest = &parts[at..];
    let ends_at_failure = is_set(&parts[..at], |option| {
        option
            .strip_prefix('-')
            .is_some_and(|letters| !option.starts_with("--") && letters.contains('e'))
    });
    let is_strict = is_set(&parts[..at], |option| option.contains("pipefail"));
    // What is piped behind `&&` only starts if the check passed.
    let code_shows_pass = rest.iter().enumerate().all(|(behind, part)| match part.then {
        Then::And | Then::End => true,
        Then::Pipe => is_strict || (behind > 0 && rest[0].then == Then::And),
        Then::Next => ends_at_failure,
        Then::Or => false,
    });
    // What stands before `;` has no part in the exit code, unless the shell ends at a failure.
    let chain =
        parts[..at].iter().rev().take_while(|part| ends_at_failure || part.then != Then::Next);
    let is_first =
        chain.filter(|part| part.then != Then::Pipe).all(|part| is_harmless(&part.words));
    let is_last = rest.iter().skip(1).all(|part| {
        check_kind(&part.words).is_some() || is_shown_part(part, &["grep", "sed", "echo", "tee"])
    });
    let pipe = rest.iter().take_while(|part| part.then == Then::Pipe).count();
    let piped = || rest.iter().skip(1).take(pipe);
    let is_shown = piped().all(|part| is_shown_part(part, &["tee"]));
    let is_filtered = piped().any(|part| shows_failures(&part.words, kind))
        && piped().all(|part| is_shown_part(part, &["tee", "grep", "egrep", "rg"]));
    let (mut pass_text, mut failure_text, mut code_text) = (None, None, None);
    for pair in rest[pipe..].windows(2).take(3) {
        let [one, next] = pair else { break };
        let Some(words) = printed(next) else {
            if next.then == Then::Next || one.then != Then::Next {
                break;
            }
            continue;
        };
        let has_code = CODES.iter().any(|code| words.contains(code));
        let is_own = pipe == 0 || words.contains("PIPESTATUS");
        match one.then {
            _ if has_code && is_own => code_text = code_text.or(Some(words)),
            Then::And if pipe == 0 => pass_text = Some(words),
            Then::Or if pipe == 0 => failure_text = Some(words),
            // A filter for errors has found none. Below: a filter for successes has found none.
            Then::Or if filtered(&one.words) == Some(Filtered::Failures) => {
                pass_text = Some(words);
            }
            Then::Or if filtered(&one.words).is_some() => failure_text = Some(words),
            _ => {}
        }
    }
    Check {
        kind,
        command: parts[at].words.join(" "),
        script: own_script(&parts[at].words).map(str::to_owned),
        parses: false,
        is_one_off: false,
        code_shows_pass,
        code_shows_failure: code_shows_pass && is_first && is_last,
        is_silent: is_filtered || (is_shown && is_silent(&parts[at].words)),
        names_errors: is_shown && names::names_errors(&parts[at].words),
        end_text: rest.get(pipe..).and_then(|rest| match rest {
            [one, next, ..] if one.then == Then::Next => printed(next),
            _ => None,
        }),
        pass_text,
        failure_text,
        code_text,
    }
}

/// True if one of these commands gives such an option to the shell.
fn is_set(parts: &[Part], is_option: impl Fn(&str) -> bool) -> bool {
    let sets = parts.iter().filter(|part| part.words.first().is_some_and(|word| word == "set"));
    sets.flat_map(|part| &part.words).any(|word| is_option(word))
}

/// The words that a command prints.
fn printed(part: &Part) -> Option<String> {
    let (program, words) = part.words.split_first()?;
    let words = words.join(" ");
    let is_shown = matches!(base(program), "echo" | "printf" | "Write-Output" | "Write-Host")
        && part.writes.is_empty();
    let words = words.trim_end_matches("\\n").trim();
    (is_shown && !words.is_empty()).then(|| words.to_owned())
}

/// A part behind a pipe that shows the output as it is, or one of these programs.
fn is_shown_part(part: &Part, others: &[&str]) -> bool {
    part.words.first().is_some_and(|word| {
        let program = base(word);
        matches!(program, "tail" | "head" | "cat" | "Select-Object") || others.contains(&program)
    })
}

/// A command before a check that rarely fails.
fn is_harmless(words: &[String]) -> bool {
    let harmless = [
        "cd",
        "Set-Location",
        "export",
        "source",
        ".",
        "set",
        "echo",
        "pwd",
        "sleep",
        "clear",
        "date",
    ];
    words.first().is_none_or(|word| harmless.contains(&base(word)) || word.contains('='))
}

impl Inspection {
    fn facts(&mut self, part: &Part) {
        let words = meant(&part.words);
        let has = |option: &str| words.iter().any(|word| word == option);
        match words.iter().map(|word| base(word)).collect::<Vec<_>>().as_slice() {
            ["git", "commit" | "push", ..] => {
                let leaves_hooks_out = has("--no-verify") || has("-n");
                self.leaves_hooks_out |= leaves_hooks_out;
                self.runs_hooks |= !leaves_hooks_out;
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

#[cfg(test)]
mod tests;
