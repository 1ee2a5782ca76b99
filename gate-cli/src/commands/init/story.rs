//! The answer of `gate init`: the tools that it found, the file that it wrote, the next
//! steps.

use std::collections::BTreeMap;
use std::path::Path;

use gate_checks::project::{Aim, Detected, Proposal};
use gate_core::decide::evidence::Outcome;

use super::measured::Measured;
use super::shown::length;
use super::{NAME_TESTS, cannot_pass};
use crate::agent::Agent;
use crate::render::{Mark, Page};

/// The answer. The agent is one that the user has.
pub(super) fn answer(
    detected: &Detected,
    times: &BTreeMap<String, Measured>,
    file: &Path,
    agent: Agent,
) -> String {
    let mut page = found_page(detected, times);
    page.blank();
    page.row("wrote", &file.display().to_string());
    for (number, step) in (1..).zip(steps(detected, times, agent)) {
        page.row(if number == 1 { "next" } else { "" }, &format!("{number}. {step}"));
    }
    page.into_text()
}

/// The checks that were found, with their commands, reasons and times; then what is only
/// mentioned, and notes.
pub(super) fn found_page(detected: &Detected, times: &BTreeMap<String, Measured>) -> Page {
    let mut page = Page::new();
    let (optional, required): (Vec<_>, Vec<_>) =
        detected.proposals.iter().partition(|proposal| proposal.optional);
    let count = required.len() + usize::from(detected.repository);
    let count = count + usize::from(!detected.criteria.is_empty());
    let sentence = match count {
        0 => "nothing that checks this project: no known tool for tests or builds".to_owned(),
        1 => "1 check".to_owned(),
        more => format!("{more} checks"),
    };
    page.head(if count > 0 { Mark::Good } else { Mark::Unsure }, "FOUND", &sentence);
    if count > 0 || !optional.is_empty() || !detected.notes.is_empty() {
        page.blank();
    }
    for proposal in required {
        let measured = times.get(&proposal.check);
        page.marked(mark(measured), &proposal.check, &command(proposal));
        let time = measured.map(|measured| format!("; {}", came_to(measured)));
        page.detail(&format!("from {}{}", proposal.why, time.unwrap_or_default()));
    }
    if detected.repository {
        page.row("clean_git", "is all work committed? is no test weakened? (also: integrity)");
    }
    if !detected.criteria.is_empty() {
        page.row("acceptance_criteria", &detected.criteria.join(", "));
    }
    let missing: Vec<_> =
        optional.iter().filter(|proposal| proposal.is_missing).map(|own| &own.needs_tool).collect();
    for proposal in optional {
        page.row("off", &format!("{}: {}", proposal.check, command(proposal)));
        page.detail(&reason(proposal, times.get(&proposal.check)));
    }
    for note in &detected.notes {
        let tool = note.strip_suffix(" is not installed");
        let is_shown = tool.is_some_and(|tool| missing.iter().any(|missing| *missing == tool));
        if !is_shown {
            page.marked(Mark::Unsure, "note", note);
        }
    }
    page
}

fn mark(measured: Option<&Measured>) -> Mark {
    match measured.map(|measured| measured.outcome) {
        Some(Outcome::Pass) => Mark::Good,
        Some(Outcome::Fail | Outcome::Tamper) => Mark::Bad,
        Some(_) => Mark::Unsure,
        None => Mark::None,
    }
}

fn command(proposal: &Proposal) -> String {
    let cwd = proposal.cwd.as_ref().map(|cwd| format!(" (in {cwd})")).unwrap_or_default();
    format!("{}{cwd}", proposal.command.join(" "))
}

/// Why a check is switched off.
fn reason(proposal: &Proposal, measured: Option<&Measured>) -> String {
    match measured {
        Some(measured) if measured.has_no_tests => "there is no test yet".to_owned(),
        Some(measured) => came_to(measured),
        None if proposal.is_missing => format!("{} is not installed", proposal.needs_tool),
        None => format!("from {}; nobody asks for it", proposal.why),
    }
}

fn came_to(measured: &Measured) -> String {
    let took = length(measured.took);
    match measured.outcome {
        Outcome::Pass => format!("passed in {took}"),
        Outcome::Fail => format!("FAILED in {took}: {}", measured.summary),
        _ => format!("COULD NOT RUN: {}", measured.summary),
    }
}

fn names<'a>(proposals: impl Iterator<Item = &'a Proposal>) -> String {
    let names: Vec<_> = proposals.map(|proposal| format!("`{}`", proposal.check)).collect();
    names.join(", ")
}

/// The step without which no loop can end; none if the checks pass, or were not run.
pub(super) fn repair(detected: &Detected, times: &BTreeMap<String, Measured>) -> Option<String> {
    let required = detected.proposals.iter().filter(|proposal| !proposal.optional);
    let cannot = names(cannot_pass(detected, times).into_iter());
    let failed = names(required.clone().filter(|proposal| {
        times.get(&proposal.check).is_some_and(|measured| measured.outcome == Outcome::Fail)
    }));
    let empty = names(detected.proposals.iter().filter(|proposal| {
        times.get(&proposal.check).is_some_and(|measured| measured.has_no_tests)
    }));
    if !cannot.is_empty() {
        Some(format!(
            "make {cannot} run: install what is missing, or change the command in gate.toml \
             and `gate trust`; until then the loop cannot end"
        ))
    } else if !failed.is_empty() {
        Some(format!("repair {failed}, or change the command in gate.toml and `gate trust`"))
    } else if required.clone().any(|proposal| proposal.aim == Aim::Tests) {
        None
    } else if !empty.is_empty() {
        Some(format!("write a test, then switch {empty} on in gate.toml and `gate trust`"))
    } else {
        Some(NAME_TESTS.to_owned())
    }
}

/// The next steps, in order.
fn steps(detected: &Detected, times: &BTreeMap<String, Measured>, agent: Agent) -> Vec<String> {
    let first = repair(detected, times).unwrap_or_else(|| "read gate.toml".to_owned());
    let commit = detected.repository.then(|| {
        "commit it, or it counts as a change of the agent's: \
         git add gate.toml && git commit -m 'Add gate.toml'"
            .to_owned()
    });
    let hook = format!(
        "gate install {} (in front of an agent that you talk to; `gate install` asks for each)",
        agent.name()
    );
    let around = format!(
        "or around one: gate init --loop bash, or `gate run --prompt PROMPT.md --agent {}`; in a \
         loop of your own, put `gate prompt` into the prompt, and call `gate check OUTPUT`",
        agent.name()
    );
    [Some(first), commit, Some(hook), Some(around)].into_iter().flatten().collect()
}
