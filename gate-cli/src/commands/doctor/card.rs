//! The doctor's card for a person: a line for each finding, gate first, then
//! the project, then each check.

use std::collections::BTreeSet;
use std::fmt::Write;

use anstyle::{AnsiColor, Style};
use gate_checks::{Finding, Level, Proof, SelfTestOutcome};

use super::record::{AgentRecord, DoctorRecord};
use crate::render::plain;

/// The card of an examination.
pub(super) fn doctor_card(record: &DoctorRecord) -> String {
    let mut card = Card::default();
    let (gate, others) = record.findings.split_at(record.about_gate.min(record.findings.len()));
    card.group("gate", gate.iter(), None);
    card.group("project", others.iter().filter(|finding| finding.check.is_none()), None);
    for check in checks(record) {
        let findings = others.iter().filter(|finding| finding.check.as_deref() == Some(check));
        let proof = record.self_test.iter().find(|proof| proof.check == check);
        card.group(&format!("check {check}"), findings, proof);
    }
    card.end(record);
    card.text
}

/// The card of an agent's installation.
pub(super) fn agent_card(record: &AgentRecord) -> String {
    let mut card = Card::default();
    card.group(&record.agent, record.findings.iter(), None);
    let problems = match record.problems() {
        0 => "no problem found".to_owned(),
        more => counted(more),
    };
    card.text + &problems + "\n"
}

fn counted(problems: usize) -> String {
    if problems == 1 { "1 problem".to_owned() } else { format!("{problems} problems") }
}

fn not_shown(record: &DoctorRecord) -> usize {
    let not_shown = |proof: &&Proof| proof.standing == SelfTestOutcome::NotShown;
    record.self_test.iter().filter(not_shown).count()
}

fn checks(record: &DoctorRecord) -> BTreeSet<&str> {
    let found = record.findings.iter().filter_map(|finding| finding.check.as_deref());
    found.chain(record.self_test.iter().map(|proof| proof.check.as_str())).collect()
}

#[derive(Default)]
struct Card {
    text: String,
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
        let _ = writeln!(self.text, "{}", plain(title));
        findings.for_each(|finding| self.finding(finding));
        if let Some(proof) = proof {
            self.proof(proof);
        }
        self.text.push('\n');
    }

    fn finding(&mut self, finding: &Finding) {
        let missing = finding.code.ends_with("-missing");
        let (word, color) = match finding.level {
            Level::Ok => ("ok", AnsiColor::Green),
            Level::Problem if missing => ("missing", AnsiColor::Red),
            Level::Problem => ("problem", AnsiColor::Red),
            Level::Note => ("note", AnsiColor::Yellow),
        };
        self.row(word, color, &finding.message);
        if let Some(hint) = &finding.hint {
            self.more(&format!("do: {hint}"));
        }
    }

    fn proof(&mut self, proof: &Proof) {
        let (word, color) = match proof.standing {
            SelfTestOutcome::CanFail => ("can fail", AnsiColor::Green),
            SelfTestOutcome::CannotFail => ("cannot fail", AnsiColor::Red),
            SelfTestOutcome::NotShown if proof.does_not_pass => ("problem", AnsiColor::Red),
            SelfTestOutcome::NotShown => ("not shown", AnsiColor::Yellow),
        };
        self.row(word, color, &proof.how);
        if proof.does_not_pass {
            self.more("do: make it pass first; until then no loop can end, and nothing is shown");
        }
        if let Some(log) = &proof.log {
            self.more(&format!("log: {log}"));
        }
    }

    fn row(&mut self, word: &str, color: AnsiColor, text: &str) {
        let style = Style::new().fg_color(Some(color.into()));
        let _ = writeln!(self.text, "  {style}{word:<12}{style:#}{}", plain(text));
    }

    fn more(&mut self, text: &str) {
        let _ = writeln!(self.text, "  {:<12}{}", "", plain(text));
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
            more => counted(more),
        };
        let _ = writeln!(self.text, "{text}");
    }
}
