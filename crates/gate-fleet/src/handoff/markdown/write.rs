//! Writing a handoff as Markdown.

use std::fmt::Write;

use super::super::model::{Handoff, Outcome, Risk, Verification};
use super::arrow::has_result;
use super::keyed;
use super::quote::{is_line, is_plain, quote, quote_value, quoted};
use crate::tree::{Entry, Node, members};

/// Writes a handoff, with its heading.
pub(crate) fn write(handoff: &Handoff) -> String {
    let mut page = Page("## Handoff\n".to_owned());
    for Entry { key, value, .. } in members(handoff) {
        match key.as_str() {
            "verification" => {
                page.line(0, "- verification:");
                handoff.verification.iter().for_each(|one| page.verification(one));
            }
            "open_risks" => {
                page.line(0, "- open_risks:");
                handoff.open_risks.iter().for_each(|risk| page.risk(risk));
            }
            key => page.field(0, key, &value),
        }
    }
    page.0
}

struct Page(String);

impl Page {
    fn line(&mut self, depth: usize, text: &str) {
        let _ = writeln!(self.0, "{:1$}{text}", "", depth * 2);
    }

    fn field(&mut self, depth: usize, key: &str, value: &Node) {
        match value {
            Node::Scalar(scalar) if !scalar.text.is_empty() => {
                return self.line(depth, &format!("- {key}: {}", quote_value(&scalar.text)));
            }
            _ => self.line(depth, &format!("- {key}:")),
        }
        match value {
            Node::Scalar(_) => {}
            Node::List(nodes) => {
                for (text, number) in nodes.iter().filter_map(Node::as_str).zip(1..) {
                    let mark = match key {
                        "next_actions" => format!("{number}."),
                        _ => "-".to_owned(),
                    };
                    self.line(depth + 1, &format!("{mark} {}", quote(text)));
                }
            }
            Node::Map(entries) => {
                for Entry { key, value, .. } in entries {
                    self.field(depth + 1, key, value);
                }
            }
        }
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
        for Entry { key, value, .. } in one.blocker.iter().flat_map(members) {
            self.field(2, &key, &value);
        }
    }

    fn risk(&mut self, risk: &Risk) {
        let Risk { risk: danger, impact, owner } = risk;
        let mut parts = [danger, impact, owner].into_iter();
        if parts.all(|part| is_plain(part) && !part.contains(',') && keyed(part).is_none()) {
            return self.line(1, &format!("- {danger}, {impact}, {owner}"));
        }
        for (Entry { key, value, .. }, depth) in members(risk).iter().zip([1, 2, 2]) {
            self.field(depth, key, value);
        }
    }
}

/// A command as a span of code, if one can hold it.
fn code(command: &str) -> String {
    let ticks = command.split(|c| c != '`').map(str::len).max().unwrap_or(0) + 1;
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
    let is_word = |c: char| c.is_alphanumeric() || c == '|';
    if !text.is_empty() && text.chars().all(is_word) { text.to_owned() } else { quoted(text) }
}
