//! The doctor's card for a person: a line for each finding, gate first, then
//! the project, then each check.

use std::collections::BTreeSet;

use gate_checks::{Finding, Level, Proof, SelfTestOutcome};

use super::record::{AgentRecord, DoctorRecord};
use gate_core::text::counted;

use crate::render::{Mark, Page};

/// The card of an examination.
pub(super) fn doctor_card(record: &DoctorRecord) -> String {
    let mut card = Card { page: Page::new() };
    let gate_count = record.about_gate.min(record.findings.len());
    let (of_gate, of_project) = record.findings.split_at(gate_count);
    card.add_group("gate", of_gate.iter(), None);
    card.add_group("project", of_project.iter().filter(|finding| finding.check.is_none()), None);
    for check in check_names(record) {
        let findings = of_project.iter().filter(|finding| finding.check.as_deref() == Some(check));
        let proof = record.self_test.iter().find(|proof| proof.check == check);
        card.add_group(&format!("check {check}"), findings, proof);
    }
    card.add_sum(record);
    card.page.into_text()
}

/// The card of an agent's installation, with the source of what gate knows of the client.
pub(super) fn agent_card(record: &AgentRecord, source: &str) -> String {
    let mut card = Card { page: Page::new() };
    card.add_group(&format!("{} ({source})", record.agent), record.findings.iter(), None);
    let problems = match record.problems() {
        0 => "no problem found".to_owned(),
        problems => counted(problems, "problem"),
    };
    card.page.text(&problems);
    card.page.into_text()
}

/// The names of the checks that have a finding or a proof.
fn check_names(record: &DoctorRecord) -> BTreeSet<&str> {
    let of_findings = record.findings.iter().filter_map(|finding| finding.check.as_deref());
    let of_proofs = record.self_test.iter().map(|proof| proof.check.as_str());
    of_findings.chain(of_proofs).collect()
}

struct Card {
    page: Page,
}

impl Card {
    fn add_group<'a>(
        &mut self,
        title: &str,
        findings: impl Iterator<Item = &'a Finding>,
        proof: Option<&Proof>,
    ) {
        let mut findings = findings.peekable();
        if findings.peek().is_none() && proof.is_none() {
            return;
        }
        self.page.text(title);
        findings.for_each(|finding| self.add_finding(finding));
        if let Some(proof) = proof {
            self.add_proof(proof);
        }
        self.page.blank();
    }

    fn add_finding(&mut self, finding: &Finding) {
        let is_missing = finding.code.ends_with("-missing");
        let (words, mark) = match finding.level {
            Level::Ok => ("ok", Mark::Good),
            Level::Problem if is_missing => ("missing", Mark::Bad),
            Level::Problem => ("problem", Mark::Bad),
            Level::Note => ("note", Mark::Unsure),
        };
        self.page.finding(words, mark, &finding.message);
        if let Some(hint) = &finding.hint {
            self.page.finding("", Mark::None, &format!("do: {hint}"));
        }
    }

    fn add_proof(&mut self, proof: &Proof) {
        let (words, mark) = match proof.outcome {
            SelfTestOutcome::CanFail => ("can fail", Mark::Good),
            SelfTestOutcome::CannotFail => ("cannot fail", Mark::Bad),
            SelfTestOutcome::NotShown if proof.does_not_pass => ("problem", Mark::Bad),
            SelfTestOutcome::NotShown => ("not shown", Mark::Unsure),
        };
        self.page.finding(words, mark, &proof.account);
        if proof.does_not_pass {
            self.page.finding(
                "",
                Mark::None,
                "do: make it pass first; until then no loop can end, and nothing is shown",
            );
        }
        if let Some(log) = &proof.log {
            self.page.finding("", Mark::None, &format!("log: {log}"));
        }
    }

    /// The last line: the number of problems, or of checks without a proof.
    fn add_sum(&mut self, record: &DoctorRecord) {
        let is_unproven = |proof: &&Proof| proof.outcome == SelfTestOutcome::NotShown;
        let unproven = record.self_test.iter().filter(is_unproven).count();
        let text = match (record.problems(), unproven) {
            (0, 0) => "no problem found".to_owned(),
            (0, 1) => "no problem found; of 1 check nothing proves that it can fail".to_owned(),
            (0, checks) => {
                format!("no problem found; of {checks} checks nothing proves that they can fail")
            }
            (problems, _) => counted(problems, "problem"),
        };
        self.page.text(&text);
    }
}
