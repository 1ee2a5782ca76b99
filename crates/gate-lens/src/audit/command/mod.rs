//! A command that an agent ran: the test run that it starts, and the files that it writes.

mod names;
mod scope;
mod writes;

use gate_report::runners::program_name;

use super::shell::{Part, Then, parts};
use names::past_prefixes;
pub(crate) use scope::Scope;

/// A command line, looked at.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Inspection {
    /// The last run of a known test runner in it.
    pub check: Option<Check>,
    /// The last command in it that may check the work, and is no known test runner.
    pub other: Option<String>,
    /// The command in it that shows a log, which may hold the end of an earlier check.
    pub log: Option<String>,
    /// The files that it writes.
    pub writes: Vec<String>,
    /// It does one thing: if that fails, nothing was written.
    pub is_single: bool,
    /// It commits or pushes, and hooks of the repository may check the work.
    pub runs_hooks: bool,
    /// It leaves hooks out (`--no-verify`).
    pub leaves_hooks_out: bool,
    /// It looks at commits that are not in the history of the work.
    pub looks_up_history: bool,
}

/// A run of a known test runner in a command line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Check {
    pub command: String,
    /// None if the command is no runner that is known.
    pub scope: Option<Scope>,
    /// Exit code 0 shows that the tests passed.
    pub code_shows_pass: bool,
    /// Another exit code shows that they failed.
    pub code_shows_failure: bool,
}

/// Looks at a command line.
pub(crate) fn inspect(line: &str) -> Inspection {
    let parts = without_ends(unwrapped(parts(line), 0));
    let writes = writes::writes(line, &parts);
    let mut inspected = Inspection { is_single: parts.len() == 1, ..Inspection::default() };
    let (mut is_stashed, mut last_run) = (false, None);
    for (at, part) in parts.iter().enumerate() {
        inspected.facts(part);
        let words = past_prefixes(&part.words);
        if names::shows_log(words) {
            inspected.log = Some(part.words.join(" "));
        }
        is_stashed |= names::stashes(words);
        // What runs now looks at the state before the work.
        if is_stashed {
            continue;
        }
        let is_edit = !writes.is_empty() && writes::runs_code(words);
        if let Some(scope) = Scope::new(words) {
            last_run = if names::runs_nothing(words) { last_run } else { Some((at, scope)) };
        } else if !is_edit && !names::only_looks(words) {
            inspected.other = Some(part.words.join(" "));
        }
    }
    inspected.check = last_run.map(|(at, scope)| check(&parts, at, scope));
    inspected.writes = writes;
    inspected
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
                let mut inner = unwrapped(super::shell::parts(script), depth + 1);
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

/// The check that the command at this index is, with what its exit code shows.
fn check(parts: &[Part], at: usize, scope: Scope) -> Check {
    let from_check = &parts[at..];
    let ends_at_failure = is_set(&parts[..at], |option| {
        option
            .strip_prefix('-')
            .is_some_and(|letters| !option.starts_with("--") && letters.contains('e'))
    });
    let is_strict = is_set(&parts[..at], |option| option.contains("pipefail"));
    // What is piped behind `&&` only starts if the tests passed.
    let code_shows_pass = from_check.iter().enumerate().all(|(behind, part)| match part.then {
        Then::And | Then::End => true,
        Then::Pipe => is_strict || (behind > 0 && from_check[0].then == Then::And),
        Then::Next => ends_at_failure,
        Then::Or => false,
    });
    // What stands before `;` has no part in the exit code, unless the shell ends at a failure.
    let chain =
        parts[..at].iter().rev().take_while(|part| ends_at_failure || part.then != Then::Next);
    let is_first = chain
        .filter(|part| part.then != Then::Pipe)
        .all(|part| names::rarely_fails(past_prefixes(&part.words)));
    let is_last =
        from_check.iter().skip(1).all(|part| names::shows_output(past_prefixes(&part.words)));
    Check {
        command: parts[at].words.join(" "),
        scope: Some(scope),
        code_shows_pass,
        code_shows_failure: code_shows_pass && is_first && is_last,
    }
}

/// One of these commands gives such an option to the shell.
fn is_set(parts: &[Part], is_option: impl Fn(&str) -> bool) -> bool {
    let sets = parts.iter().filter(|part| part.words.first().is_some_and(|word| word == "set"));
    sets.flat_map(|part| &part.words).any(|word| is_option(word))
}

impl Inspection {
    fn facts(&mut self, part: &Part) {
        let words = past_prefixes(&part.words);
        let has = |option: &str| words.iter().any(|word| word == option);
        match words.iter().map(|word| program_name(word)).collect::<Vec<_>>().as_slice() {
            ["git", "commit" | "push", ..] => {
                let leaves_hooks_out = has("--no-verify") || has("-n");
                self.leaves_hooks_out |= leaves_hooks_out;
                self.runs_hooks |= !leaves_hooks_out;
            }
            ["git", "log", ..] => self.looks_up_history |= has("--all"),
            ["git", "reflog" | "fetch", ..] => self.looks_up_history = true,
            ["git", "show", revisions @ ..] => {
                self.looks_up_history |= revisions.iter().any(|word| word.starts_with("origin"));
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests;
