//! Writing a handoff as Markdown.

use std::fmt::Write;

use super::super::model::{A2a, Agent, Handoff, Outcome, Risk, Verification};
use super::arrow::has_result;
use super::keyed;
use super::quote::{is_line, is_plain, quote, quote_value, quoted};

/// Writes a handoff, with its heading.
pub(crate) fn write(handoff: &Handoff) -> String {
    let mut page = Page("## Handoff\n".to_owned());
    page.text(0, "objective", &handoff.objective);
    page.texts(0, "in_scope", &handoff.in_scope);
    page.texts(0, "out_of_scope", &handoff.out_of_scope);
    page.texts(0, "changed_files", &handoff.changed_files);
    page.line(0, "- verification:");
    handoff.verification.iter().for_each(|one| page.verification(one));
    page.line(0, "- open_risks:");
    handoff.open_risks.iter().for_each(|risk| page.risk(risk));
    page.line(0, "- next_actions:");
    for (at, action) in handoff.next_actions.iter().enumerate() {
        page.line(1, &format!("{}. {}", at + 1, quote(action)));
    }
    page.texts(0, "assumptions", &handoff.assumptions);
    if let Some(a2a) = &handoff.a2a {
        page.a2a(a2a);
    }
    page.0
}

struct Page(String);

impl Page {
    fn line(&mut self, depth: usize, text: &str) {
        let _ = writeln!(self.0, "{:1$}{text}", "", depth * 2);
    }

    fn text(&mut self, depth: usize, key: &str, text: &str) {
        if text.is_empty() {
            self.line(depth, &format!("- {key}:"));
        } else {
            self.line(depth, &format!("- {key}: {}", quote_value(text)));
        }
    }

    fn texts(&mut self, depth: usize, key: &str, texts: &[String]) {
        self.line(depth, &format!("- {key}:"));
        texts.iter().for_each(|text| self.line(depth + 1, &format!("- {}", quote(text))));
    }

    fn verification(&mut self, one: &Verification) {
        let mut line = format!("- {}", code(&one.command));
        if one.result != Outcome::default() || one.notes.is_some() {
            let _ = write!(line, " -> {}", word(one.result.as_str()));
        }
        if let Some(notes) = &one.notes {
            let is_note = is_line(notes) && !notes.starts_with('"') && !has_result(notes);
            let _ = write!(line, " ({})", if is_note { notes.clone() } else { quoted(notes) });
        }
        self.line(1, &line);
        if let Some(blocker) = &one.blocker {
            self.text(2, "severity", &blocker.severity);
            self.text(2, "rollback", &blocker.rollback);
        }
    }

    fn risk(&mut self, Risk { risk, impact, owner }: &Risk) {
        let mut parts = [risk, impact, owner].into_iter();
        if parts.all(|part| is_plain(part) && !part.contains(',') && keyed(part).is_none()) {
            return self.line(1, &format!("- {risk}, {impact}, {owner}"));
        }
        self.text(1, "risk", risk);
        self.text(2, "impact", impact);
        self.text(2, "owner", owner);
    }

    fn a2a(&mut self, a2a: &A2a) {
        self.line(0, "- a2a:");
        self.text(1, "protocol_version", &a2a.protocol_version);
        self.agent("sender", &a2a.sender);
        self.agent("receiver", &a2a.receiver);
        for (key, texts) in [
            ("capabilities_declared", &a2a.capabilities_declared),
            ("capabilities_required", &a2a.capabilities_required),
        ] {
            texts.iter().for_each(|texts| self.texts(1, key, texts));
        }
        self.text(1, "interaction_id", &a2a.interaction_id);
        for (key, text) in [
            ("checkpoint_id", &a2a.checkpoint_id),
            ("agent_card_ref", &a2a.agent_card_ref),
            ("handoff_reason", &a2a.handoff_reason),
        ] {
            text.iter().for_each(|text| self.text(1, key, text));
        }
    }

    fn agent(&mut self, key: &str, agent: &Agent) {
        self.line(1, &format!("- {key}:"));
        self.text(2, "agent_id", &agent.agent_id);
        self.text(2, "provider", &agent.provider);
        self.text(2, "model", &agent.model);
    }
}

/// A command as a span of code, if one can hold it.
fn code(command: &str) -> String {
    let ticks = longest_run(command, '`') + 1;
    // From three on, the span looks like a fence to some readers.
    if command.is_empty() || !is_line(command) || ticks > 2 {
        return quoted(command);
    }
    let fence = "`".repeat(ticks);
    let gap = if command.starts_with('`') || command.ends_with('`') { " " } else { "" };
    format!("{fence}{gap}{command}{gap}{fence}")
}

/// A word that says what came of a command.
fn word(text: &str) -> String {
    if !text.is_empty() && text.chars().all(is_word) { text.to_owned() } else { quoted(text) }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '|'
}

fn longest_run(text: &str, of: char) -> usize {
    text.split(|c| c != of).map(str::len).max().unwrap_or(0)
}
