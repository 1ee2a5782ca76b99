//! The text of a gate.toml, for what a project was found to have.

use std::collections::BTreeMap;
use std::time::Duration;

use gate_checks::project::{Aim, Detected, Proposal};
use gate_core::decide::evidence::Outcome;
use gate_core::text::clean;

use super::measure::{LIMIT, Measured, length};

/// The text before the checks.
const HEAD: &str = include_str!("../../templates/gate.toml");

/// The text if no tests were found.
const EXAMPLE: &str = "
# No tests were found. Name the command that runs yours:
# [checks.tests]
# command = [\"PROGRAM\", \"ARGUMENT\"]
# timeout = \"10m\"
";

const CLEAN_GIT: &str = "
# All work is committed: nothing staged, changed or untracked.
[checks.clean_git]
# mode = \"require\"            # default: \"count\"
# ignore = [\"*.log\"]          # globs of files that may be uncommitted
";

const INTEGRITY: &str = "
# Nothing gets around the checks: no new file hides a tool or a module, no link leads
# out of the tree, and what changed among guarded files is named. It compares with the
# commit at which the branch began, or with what `gate baseline` took.
[checks.integrity]

# What you allow is recorded, with its reason:
# [[integrity.allow]]
# path = \"tests/legacy/**\"
# reason = \"the old importer is gone\"
";

/// A check that takes longer keeps the person in front of a hook waiting.
const MAX_HOOK_TIME: Duration = Duration::from_secs(60);

/// A timeout is this multiple of the time that was measured.
const TIMEOUT_FACTOR: u32 = 3;

/// The whole file.
pub(super) fn settings(detected: &Detected, runs: &BTreeMap<String, Measured>) -> String {
    let has_tests = detected.proposals.iter().any(|proposal| proposal.aim == Aim::Tests);
    let example = if has_tests { "" } else { EXAMPLE };
    format!("{HEAD}{example}{}", checks(detected, runs))
}

/// The tables of the checks alone.
pub(super) fn checks(detected: &Detected, runs: &BTreeMap<String, Measured>) -> String {
    let mut text = String::new();
    for proposal in &detected.proposals {
        text.push_str(&check(proposal, runs.get(&proposal.check)));
    }
    if detected.repository {
        text.push_str(CLEAN_GIT);
    }
    text.push_str(&criteria(&detected.criteria));
    if detected.repository {
        text.push_str(INTEGRITY);
    }
    text
}

/// The table of a check, with its comment; behind a slow one, that of a quick part for the hook.
fn check(proposal: &Proposal, measured: Option<&Measured>) -> String {
    let is_slow = is_slow(measured);
    let mut lines = vec![
        format!("[checks.{}]", proposal.check),
        format!("command = {}", list(&proposal.command)),
    ];
    lines.extend(proposal.cwd.as_ref().map(|cwd| format!("cwd = {}", quoted(cwd))));
    lines.push(format!("timeout = \"{}m\"", timeout_minutes(proposal, measured)));
    if is_slow {
        lines.push("when = [\"check\", \"run\"]".to_owned());
    }
    // A check that is switched off stands there as a comment, for a person to take in.
    let prefix = if proposal.optional { "# " } else { "" };
    let table: String = lines.into_iter().map(|line| format!("{prefix}{line}\n")).collect();
    let quick_table = if is_slow { quick_check(proposal) } else { String::new() };
    format!("\n{}{table}{quick_table}", comments(proposal, measured))
}

/// The comment above a check: its reason, and the result of running it.
fn comments(proposal: &Proposal, measured: Option<&Measured>) -> String {
    let mut comments = vec![format!("From {}.", proposal.evidence)];
    match measured {
        Some(measured) if measured.has_no_tests => {
            comments.push("It found no test: take it in once there is one.".to_owned());
        }
        Some(measured) if measured.is_over_limit => comments.push(over_limit(proposal)),
        Some(measured) if proposal.optional => {
            comments.push(format!("{} Take it in once it can run.", result_sentence(measured)));
        }
        Some(measured) => comments.push(result_sentence(measured)),
        None if proposal.is_missing => {
            comments.push(format!("{} is not installed.", proposal.needs_tool));
        }
        None if proposal.optional => {
            comments.push("Not asked for by the project: take it in if you want it.".to_owned());
        }
        None if has_more_time(proposal) => {
            comments.push(format!("Not timed. CI gives it {} minutes.", ci_minutes(proposal)));
        }
        None => comments.push("Not timed.".to_owned()),
    }
    if is_slow(measured) && !proposal.optional {
        comments
            .push("Too slow for a stop hook: it runs in `gate check` and `gate run`.".to_owned());
    }
    comments.iter().map(|comment| format!("# {}\n", clean(comment))).collect()
}

fn result_sentence(measured: &Measured) -> String {
    let time = length(measured.duration);
    match measured.outcome {
        Outcome::Pass => format!("It passed in {time}: {}.", measured.summary),
        Outcome::Fail => format!("It failed in {time}: {}.", measured.summary),
        _ => format!("It could not run: {}.", measured.summary),
    }
}

fn is_slow(measured: Option<&Measured>) -> bool {
    measured.is_some_and(|measured| measured.is_over_limit || measured.duration > MAX_HOOK_TIME)
}

/// CI gives it more time than gate waited for.
pub(super) fn has_more_time(proposal: &Proposal) -> bool {
    ci_minutes(proposal) > LIMIT.as_secs() / 60
}

fn ci_minutes(proposal: &Proposal) -> u64 {
    proposal.ci_minutes.unwrap_or_default()
}

/// The sentences about a suite that was ended.
fn over_limit(proposal: &Proposal) -> String {
    let ended = format!("It did not end within {} minutes.", LIMIT.as_secs() / 60);
    match has_more_time(proposal) {
        true => format!("{ended} CI gives it {}, and so does this.", ci_minutes(proposal)),
        false => {
            format!("{ended} Name a part of it that does, or raise `timeout`; then take it in.")
        }
    }
}

/// The timeout of a check, in minutes.
fn timeout_minutes(proposal: &Proposal, measured: Option<&Measured>) -> u64 {
    let minutes = match measured {
        Some(measured) if !measured.is_over_limit => {
            (measured.duration * TIMEOUT_FACTOR).as_secs().div_ceil(60)
        }
        _ => ci_minutes(proposal),
    };
    minutes.max(LIMIT.as_secs() / 60)
}

/// A second check for the hook, beside a slow one: the part that the project names, or that a person
/// has to name.
fn quick_check(proposal: &Proposal) -> String {
    let command = match &proposal.quick {
        Some(quick) => quick.command.clone(),
        None => [&proposal.command[..], &quick_args(proposal)].concat(),
    };
    let lines = [
        "The stop hook needs something quick instead: name a part of it.".to_owned(),
        format!("[checks.{}-quick]", proposal.check),
        format!("command = {}", list(&command)),
        "timeout = \"1m\"".to_owned(),
        "when = [\"hook\"]".to_owned(),
    ];
    let cwd = proposal.cwd.as_ref().map(|cwd| format!("cwd = {}", quoted(cwd)));
    let comments = lines.into_iter().chain(cwd).map(|line| format!("# {line}\n"));
    format!("\n{}", comments.collect::<String>())
}

/// The arguments by which a tool runs only a part.
fn quick_args(proposal: &Proposal) -> Vec<String> {
    let words: &[&str] = match (proposal.aim, proposal.tool) {
        (Aim::Tests, "cargo" | "nextest") => &["--lib"],
        (Aim::Tests, "go") => &["-short"],
        (Aim::Tests, "pytest") => &["-m", "not slow"],
        _ => &["…"],
    };
    words.iter().map(|&word| word.to_owned()).collect()
}

fn criteria(files: &[String]) -> String {
    if files.is_empty() {
        return String::new();
    }
    format!(
        "
# Every item in these files is marked as done: the agent's word, so that a pass is a
# claim, but an open item forbids exit.
[checks.acceptance_criteria]
files = {}
# optional = [\"Later\"]        # headings below which open items do not block
",
        list(files)
    )
}

pub(super) fn list(words: &[String]) -> String {
    let words: Vec<_> = words.iter().map(|word| quoted(word)).collect();
    format!("[{}]", words.join(", "))
}

/// A basic string: TOML's are JSON's, but that DEL has to be escaped too.
fn quoted(word: &str) -> String {
    serde_json::Value::from(word).to_string().replace('\u{7f}', "\\u007f")
}

#[cfg(test)]
mod tests;
