//! Writing a handoff as Markdown.

use std::fmt::Write;

use super::super::model::{Handoff, Outcome, Risk, Verification};
use super::arrow::has_result;
use super::key_and_value;
use super::quote::{is_line, is_plain, quote, quote_value, quoted};
use crate::tree::{Entry, Node, members};

/// Writes a handoff, with its heading.
pub(crate) fn write(handoff: &Handoff) -> String {
    let mut page = Page("## Handoff\n".to_owned());
    for Entry { key, value, .. } in members(handoff) {
        match key.as_str() {
            "verification" => {
                page.line(0, "- verification:");
                handoff.verification.iter().for_each(|claim| page.verification(claim));
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

    fn verification(&mut self, claim: &Verification) {
        let mut line = format!("- {}", code_span(&claim.command));
        if claim.result != Outcome::default() || claim.notes.is_some() {
            let _ = write!(line, " -> {}", result_word(claim.result.as_str()));
        }
        if let Some(notes) = &claim.notes {
            let is_plain_note = is_line(notes) && !notes.starts_with('"') && !has_result(notes);
            let _ =
                write!(line, " ({})", if is_plain_note { notes.clone() } else { quoted(notes) });
        }
        self.line(1, &line);
        for Entry { key, value, .. } in claim.blocker.iter().flat_map(members) {
            self.field(2, &key, &value);
        }
    }

    fn risk(&mut self, risk: &Risk) {
        let Risk { risk: danger, impact, owner } = risk;
        let may_share_line =
            |text: &String| is_plain(text) && !text.contains(',') && key_and_value(text).is_none();
        if [danger, impact, owner].into_iter().all(may_share_line) {
            return self.line(1, &format!("- {danger}, {impact}, {owner}"));
        }
        for (Entry { key, value, .. }, depth) in members(risk).iter().zip([1, 2, 2]) {
            self.field(depth, key, value);
        }
    }
}

/// A command as a span of code, if one can hold it.
fn code_span(command: &str) -> String {
    let ticks = command.split(|char| char != '`').map(str::len).max().unwrap_or(0) + 1;
    // From three on, the span looks like a fence to some readers.
    if command.is_empty() || !is_line(command) || ticks > 2 {
        return quoted(command);
    }
    let fence = "`".repeat(ticks);
    let gap = if command.starts_with('`') || command.ends_with('`') { " " } else { "" };
    format!("{fence}{gap}{command}{gap}{fence}")
}

/// The word for the result of a command, quoted if it is no plain word.
fn result_word(text: &str) -> String {
    let is_in_word = |char: char| char.is_alphanumeric() || char == '|';
    if !text.is_empty() && text.chars().all(is_in_word) { text.to_owned() } else { quoted(text) }
}
