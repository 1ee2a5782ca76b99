//! The answer of `gate init`: the tools that it found, the file that it wrote, the next
//! steps.

use std::path::Path;

use gate_checks::project::{Aim, Proposal};
use gate_core::decide::evidence::Outcome;
use gate_core::text::counted;

use super::measure::{LIMIT, Measured, length};
use super::{FoundChecks, NAME_TESTS};
use crate::agent::Agent;
use crate::render::{Mark, Page};

impl FoundChecks {
    /// The answer. The agent is one that the user has.
    pub(super) fn answer(&self, file: &Path, agent: Agent) -> String {
        let mut page = self.page();
        page.blank();
        page.row("wrote", &file.display().to_string());
        let steps = (1..).zip(self.steps(agent));
        page.rows("next", steps.map(|(number, step)| format!("{number}. {step}")));
        page.into_text()
    }

    /// The checks that were found, with their commands, reasons and times; then what is only
    /// mentioned, and notes.
    pub(in crate::commands) fn page(&self) -> Page {
        let detected = &self.detected;
        let mut page = Page::new();
        let (optional, required): (Vec<_>, Vec<_>) =
            detected.proposals.iter().partition(|proposal| proposal.optional);
        let has_criteria = !detected.criteria.is_empty();
        let count = required.len() + usize::from(detected.repository) + usize::from(has_criteria);
        let sentence = match count {
            0 => "nothing that checks this project: no known tool for tests or builds".to_owned(),
            count => counted(count, "check"),
        };
        page.head(if count > 0 { Mark::Good } else { Mark::Unsure }, "FOUND", &sentence);
        if count > 0 || !optional.is_empty() || !detected.notes.is_empty() {
            page.blank();
        }
        for proposal in required {
            let measured = self.run_of(proposal);
            let mark = measured.map_or(Mark::None, |measured| Mark::from_outcome(measured.outcome));
            page.marked(mark, &proposal.check, &command_words(proposal));
            let result = measured.map(|measured| format!("; {}", result_words(measured)));
            page.detail(&format!("from {}{}", proposal.evidence, result.unwrap_or_default()));
        }
        if detected.repository {
            page.row("clean_git", "is all work committed? is no test weakened? (also: integrity)");
        }
        if has_criteria {
            page.row("acceptance_criteria", &detected.criteria.join(", "));
        }
        let missing_tools: Vec<_> = optional
            .iter()
            .filter(|proposal| proposal.is_missing)
            .map(|proposal| proposal.needs_tool.as_str())
            .collect();
        for proposal in optional {
            page.row("off", &format!("{}: {}", proposal.check, command_words(proposal)));
            page.detail(&reason_off(proposal, self.run_of(proposal)));
        }
        for note in &detected.notes {
            // The row of the check has said so already.
            let tool = note.strip_suffix(" is not installed");
            if !tool.is_some_and(|tool| missing_tools.contains(&tool)) {
                page.marked(Mark::Unsure, "note", note);
            }
        }
        page
    }

    /// The step without which no loop can end; `None` if the checks pass, or were not run.
    pub(in crate::commands) fn repair(&self) -> Option<String> {
        let proposals = &self.detected.proposals;
        let unusable = names(self.failing_here().into_iter());
        let failed = names(proposals.iter().filter(|proposal| {
            let measured = self.run_of(proposal);
            !proposal.optional && measured.is_some_and(|measured| measured.outcome == Outcome::Fail)
        }));
        let without_tests = names(proposals.iter().filter(|proposal| {
            self.run_of(proposal).is_some_and(|measured| measured.has_no_tests)
        }));
        let endless = names(proposals.iter().filter(|proposal| {
            let is_over_limit = self.run_of(proposal).is_some_and(|run| run.is_over_limit);
            proposal.optional && is_over_limit && proposal.aim == Aim::Tests
        }));
        if !endless.is_empty() {
            Some(format!(
                "name a part of {endless} in gate.toml that ends within {} minutes, or raise its \
                 `timeout`, and `gate trust`; until then no check runs them",
                LIMIT.as_secs() / 60
            ))
        } else if !unusable.is_empty() {
            Some(format!(
                "make {unusable} run: install what is missing, or change the command in gate.toml \
                 and `gate trust`; until then the loop cannot end"
            ))
        } else if !failed.is_empty() {
            Some(format!("repair {failed}, or change the command in gate.toml and `gate trust`"))
        } else if proposals.iter().any(|proposal| !proposal.optional && proposal.aim == Aim::Tests)
        {
            None
        } else if !without_tests.is_empty() {
            let step = format!("write a test, then switch {without_tests} on in gate.toml");
            Some(format!("{step} and `gate trust`"))
        } else {
            Some(NAME_TESTS.to_owned())
        }
    }

    /// The next steps, in order.
    fn steps(&self, agent: Agent) -> Vec<String> {
        let agent = agent.name();
        let mut steps = vec![self.repair().unwrap_or_else(|| "read gate.toml".to_owned())];
        if self.detected.repository {
            steps.push(
                "commit it, or it counts as a change of the agent's: \
                 git add gate.toml && git commit -m 'Add gate.toml'"
                    .to_owned(),
            );
        }
        steps.push(format!(
            "gate install {agent} (in front of an agent that you talk to; `gate install` asks for \
             each)"
        ));
        steps.push(format!(
            "or as the loop around one: `gate run --prompt PROMPT.md --agent {agent}` (a loop in \
             your own script: `gate init --loop bash`)"
        ));
        steps
    }
}

fn command_words(proposal: &Proposal) -> String {
    let cwd = proposal.cwd.as_ref().map(|cwd| format!(" (in {cwd})")).unwrap_or_default();
    format!("{}{cwd}", proposal.command.join(" "))
}

/// The reason why a check is switched off.
fn reason_off(proposal: &Proposal, measured: Option<&Measured>) -> String {
    match measured {
        Some(measured) if measured.has_no_tests => "there is no test yet".to_owned(),
        Some(measured) => result_words(measured),
        None if proposal.is_missing => format!("{} is not installed", proposal.needs_tool),
        None => format!("from {}; nobody asks for it", proposal.evidence),
    }
}

fn result_words(measured: &Measured) -> String {
    let time = length(measured.duration);
    match measured.outcome {
        _ if measured.is_over_limit => {
            format!("DID NOT END within {} minutes", LIMIT.as_secs() / 60)
        }
        Outcome::Pass => format!("passed in {time}"),
        Outcome::Fail => format!("FAILED in {time}: {}", measured.summary),
        _ => format!("COULD NOT RUN: {}", measured.summary),
    }
}

fn names<'a>(proposals: impl Iterator<Item = &'a Proposal>) -> String {
    let names: Vec<_> = proposals.map(|proposal| format!("`{}`", proposal.check)).collect();
    names.join(", ")
}
