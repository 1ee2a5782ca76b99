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
    let (gate, others) = record.findings.split_at(record.about_gate.min(record.findings.len()));
    card.group("gate", gate.iter(), None);
    card.group("project", others.iter().filter(|finding| finding.check.is_none()), None);
    for check in checks(record) {
        let findings = others.iter().filter(|finding| finding.check.as_deref() == Some(check));
        let proof = record.self_test.iter().find(|proof| proof.check == check);
        card.group(&format!("check {check}"), findings, proof);
    }
    card.end(record);
    card.page.into_text()
}

/// The card of an agent's installation, with the source of what gate knows of the client.
pub(super) fn agent_card(record: &AgentRecord, source: &str) -> String {
    let mut card = Card { page: Page::new() };
    card.group(&format!("{} ({source})", record.agent), record.findings.iter(), None);
    let problems = match record.problems() {
        0 => "no problem found".to_owned(),
        problems => counted(problems, "problem"),
    };
    card.page.text(&problems);
    card.page.into_text()
}

fn not_shown(record: &DoctorRecord) -> usize {
    record.self_test.iter().filter(|proof| proof.standing == SelfTestOutcome::NotShown).count()
}

fn checks(record: &DoctorRecord) -> BTreeSet<&str> {
    let found = record.findings.iter().filter_map(|finding| finding.check.as_deref());
    found.chain(record.self_test.iter().map(|proof| proof.check.as_str())).collect()
}

struct Card {
    page: Page,
}

impl Card {
    fn group<'a>(
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
        findings.for_each(|finding| self.finding(finding));
        if let Some(proof) = proof {
            self.proof(proof);
        }
        self.page.blank();
    }

    fn finding(&mut self, finding: &Finding) {
        let missing = finding.code.ends_with("-missing");
        let (words, mark) = match finding.level {
            Level::Ok => ("ok", Mark::Good),
            Level::Problem if missing => ("missing", Mark::Bad),
            Level::Problem => ("problem", Mark::Bad),
            Level::Note => ("note", Mark::Unsure),
        };
        self.page.finding(words, mark, &finding.message);
        if let Some(hint) = &finding.hint {
            self.page.finding("", Mark::None, &format!("do: {hint}"));
        }
    }

    fn proof(&mut self, proof: &Proof) {
        let (words, mark) = match proof.standing {
            SelfTestOutcome::CanFail => ("can fail", Mark::Good),
            SelfTestOutcome::CannotFail => ("cannot fail", Mark::Bad),
            SelfTestOutcome::NotShown if proof.does_not_pass => ("problem", Mark::Bad),
            SelfTestOutcome::NotShown => ("not shown", Mark::Unsure),
        };
        self.page.finding(words, mark, &proof.how);
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

    fn end(&mut self, record: &DoctorRecord) {
        let text = match record.problems() {
            0 => match not_shown(record) {
                0 => "no problem found".to_owned(),
                1 => "no problem found; of 1 check nothing proves that it can fail".to_owned(),
                more => {
                    format!("no problem found; of {more} checks nothing proves that they can fail")
                }
            },
            problems => counted(problems, "problem"),
        };
        self.page.text(&text);
    }
}
