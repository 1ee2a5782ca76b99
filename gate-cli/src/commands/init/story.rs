//! The answer of `gate init`: the tools that it found, the file that it wrote, the next
//! steps.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use gate_checks::project::{Aim, Detected, Proposal};
use gate_core::decide::evidence::Outcome;
use gate_core::text::clean;

use super::cannot_pass;
use super::measured::Measured;
use super::shown::length;
use crate::agent::Agent;

/// The answer. The agent is one that the user has.
pub(super) fn answer(
    detected: &Detected,
    times: &BTreeMap<String, Measured>,
    file: &Path,
    agent: Agent,
) -> String {
    let mut text = found_list(detected, times);
    for note in &detected.notes {
        let _ = writeln!(text, "note: {}", clean(note));
    }
    let _ = writeln!(text, "wrote {}", file.display());
    let _ = writeln!(text, "next:");
    for (number, step) in (1..).zip(steps(detected, times, agent)) {
        let _ = writeln!(text, "  {number}. {step}");
    }
    text
}

/// The widest column of commands, in characters.
const MAX_COMMAND_WIDTH: usize = 48;

pub(super) fn found_list(detected: &Detected, times: &BTreeMap<String, Measured>) -> String {
    let mut lines: Vec<[String; 3]> = Vec::new();
    for proposal in detected.proposals.iter().filter(|proposal| !proposal.optional) {
        let what = proposal.command.join(" ");
        let time = times.get(&proposal.check).map(came_to);
        let why =
            time.map_or_else(|| proposal.why.clone(), |time| format!("{}; {time}", proposal.why));
        lines.push([proposal.check.clone(), what, why]);
    }
    if detected.repository {
        lines.push(["clean_git".to_owned(), "git".to_owned(), "a git repository".to_owned()]);
    }
    if !detected.criteria.is_empty() {
        let files = detected.criteria.join(", ");
        lines.push(["acceptance_criteria".to_owned(), files, "a plan with items".to_owned()]);
    }
    if lines.is_empty() {
        return "found nothing that checks this project: no known tool for tests or builds\n"
            .to_owned();
    }
    let optional = detected.proposals.iter().filter(|proposal| proposal.optional);
    table(&lines) + &mentions(optional, times)
}

fn table(lines: &[[String; 3]]) -> String {
    let mut widths = [0, 0];
    for line in lines {
        for (width, cell) in widths.iter_mut().zip(line) {
            *width = cell.chars().count().max(*width);
        }
    }
    let [check_width, command_width] = [widths[0], widths[1].min(MAX_COMMAND_WIDTH)];
    let mut text = "found:\n".to_owned();
    for [check, what, why] in lines {
        let (check, what, why) = (clean(check), clean(what), clean(why));
        let _ = writeln!(text, "  {check:check_width$}  {what:command_width$}  ({why})");
    }
    text
}

fn mentions<'a>(
    optional: impl Iterator<Item = &'a Proposal>,
    times: &BTreeMap<String, Measured>,
) -> String {
    let names: Vec<_> = optional
        .map(|proposal| {
            let why = times.get(&proposal.check).map(|measured| match measured.has_no_tests {
                true => "; no test yet".to_owned(),
                false => format!("; {}", came_to(measured)),
            });
            let command = clean(&proposal.command.join(" "));
            format!("{} ({command}{})", proposal.check, why.unwrap_or_default())
        })
        .collect();
    match names.as_slice() {
        [] => String::new(),
        names => format!("also found, switched off in gate.toml: {}\n", names.join(", ")),
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

/// The next steps, in order.
fn steps(detected: &Detected, times: &BTreeMap<String, Measured>, agent: Agent) -> Vec<String> {
    let required: Vec<_> =
        detected.proposals.iter().filter(|proposal| !proposal.optional).collect();
    let has_failed = |proposal: &&&Proposal| {
        times.get(&proposal.check).is_some_and(|measured| measured.outcome == Outcome::Fail)
    };
    let cannot = names(cannot_pass(detected, times).into_iter());
    let failed = names(required.iter().filter(has_failed).copied());
    let without_tests = |proposal: &&Proposal| {
        times.get(&proposal.check).is_some_and(|measured| measured.has_no_tests)
    };
    let empty = names(detected.proposals.iter().filter(without_tests));
    let first = if !cannot.is_empty() {
        format!(
            "make {cannot} run: install what is missing, or change the command in gate.toml \
             and `gate trust`; until then the loop cannot end"
        )
    } else if !failed.is_empty() {
        format!("repair {failed}, or change the command in gate.toml and `gate trust`")
    } else if required.iter().any(|proposal| proposal.aim == Aim::Tests) {
        "read gate.toml".to_owned()
    } else if !empty.is_empty() {
        format!("write a test, then switch {empty} on in gate.toml and `gate trust`")
    } else {
        "name the command that runs your tests in gate.toml, then `gate trust`".to_owned()
    };
    let commit = detected.repository.then(|| {
        "commit it, or it counts as a change of the agent's: \
         git add gate.toml && git commit -m 'Add gate.toml'"
            .to_owned()
    });
    let hook = format!(
        "gate install {}   (in front of an agent that you talk to; `gate install` asks for each)",
        agent.name()
    );
    let around = "or around one: gate init --loop bash, or `gate run`; in a loop of your own, put \
                  `gate prompt` into the prompt, and call `gate check OUTPUT`";
    [Some(first), commit, Some(hook), Some(around.to_owned())].into_iter().flatten().collect()
}
