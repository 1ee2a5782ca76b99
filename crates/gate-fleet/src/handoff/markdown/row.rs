//! Entries with several fields in a line: a verification, a risk.

use pulldown_cmark::{Event, Parser};
use serde_json::Value;

use super::super::form::field;
use super::super::problem::Problem;
use super::arrow::{ARROWS, Arrow, arrows, deciding_arrow, has_result};
use super::outline::Item;
use super::quote::{leading_string, unquote};
use super::{Reader, key_and_value};
use crate::tree::{Entry, Node};

impl Reader {
    /// `` `command` -> PASS (note) ``, with `severity:` and `rollback:` below it; or
    /// each under its own key.
    pub(super) fn verification(&mut self, item: &Item<'_>, schema: &Value, path: &str) -> Node {
        self.expect_list_only(item, path);
        let head = item.text();
        // A command between marks may begin as a key does.
        let mut entries =
            if begins_with_marked_command(&head) { Vec::new() } else { keyed_lines(item, schema) };
        if entries.is_empty() {
            entries = self.command_line(&head, item.line, path);
        }
        let blocker_schema = field(schema, "blocker").unwrap_or(&Value::Null);
        let children = self.entries(&item.children, schema, path).into_iter();
        let (blocker_entries, child_entries): (Vec<_>, Vec<_>) =
            children.partition(|entry| field(blocker_schema, &entry.key).is_some());
        entries.extend(child_entries);
        let blocker = entries.iter_mut().find(|entry| entry.key == "blocker");
        match blocker.map(|entry| &mut entry.value) {
            Some(Node::Map(members)) => members.extend(blocker_entries),
            _ if blocker_entries.is_empty() => {}
            _ => {
                let (key, value) = ("blocker".to_owned(), Node::Map(blocker_entries));
                entries.push(Entry { key, value, line: item.line });
            }
        }
        Node::Map(entries)
    }

    /// The parts of a line about a command.
    fn command_line(&mut self, head: &str, line: usize, path: &str) -> Vec<Entry> {
        let (command, behind_arrow) = split_command(head);
        let (result, behind_result) = split_result(behind_arrow);
        let note = note(behind_result);
        let notes = note.map(unquote);
        // A text between double quotes is a note, and nothing else.
        if notes.as_deref() == note && has_result(behind_result) {
            let message = format!(
                "line {line}: a further arrow says again what came of it; one arrow with one \
                 result is expected, and a note with another stands between double quotes"
            );
            self.problems.push(Problem::new(format!("{path}.result"), message));
        }
        let mut entries =
            vec![text_entry("command", command, line), text_entry("result", result, line)];
        entries.extend(notes.map(|notes| text_entry("notes", notes, line)));
        entries
    }

    /// `risk, impact, owner`; or each under its own key.
    pub(super) fn risk(&mut self, item: &Item<'_>, schema: &Value, path: &str) -> Node {
        self.expect_list_only(item, path);
        let child_entries = self.entries(&item.children, schema, path);
        let line_entries = keyed_lines(item, schema);
        let mut entries = match line_entries.len() {
            // One key alone may begin a line that has all three fields.
            0 => risk_line(&item.text(), item.line, child_entries.is_empty()),
            1 if child_entries.is_empty() => risk_line(&item.text(), item.line, true),
            _ => line_entries,
        };
        entries.extend(child_entries);
        Node::Map(entries)
    }
}

fn text_entry(key: &str, text: impl Into<String>, line: usize) -> Entry {
    Entry { line, ..Entry::new(key, Node::text(text)) }
}

/// The lines of an item's text as fields, if the first line begins with a known key. A line without
/// such a key goes on with the field above.
fn keyed_lines(item: &Item<'_>, schema: &Value) -> Vec<Entry> {
    let mut lines: Vec<(String, String)> = Vec::new();
    for line in item.lines() {
        let known_key = key_and_value(line).filter(|(key, _)| field(schema, key).is_some());
        match (known_key, lines.last_mut()) {
            (Some((key, value)), _) => lines.push((key, value.to_owned())),
            (None, Some((_, value))) => {
                value.push(' ');
                value.push_str(line);
            }
            (None, None) => return Vec::new(),
        }
    }
    let entries = lines.into_iter().map(|(key, value)| {
        let value = if key == "command" { command_value(&value) } else { unquote(&value) };
        text_entry(&key, value, item.line)
    });
    entries.collect()
}

/// A line that begins with a command between marks: alone, or before an arrow.
fn begins_with_marked_command(head: &str) -> bool {
    marked_command(head).is_some_and(|(_, tail)| {
        tail.is_empty() || ARROWS.iter().any(|arrow| tail.starts_with(arrow))
    })
}

/// The JSON string or span of code that a line begins with, and the text behind it.
fn marked_command(head: &str) -> Option<(String, &str)> {
    let (command, tail) = leading_string(head).or_else(|| code_span(head))?;
    Some((command, tail.trim_start()))
}

/// The command that a line begins with, and the text behind its arrow: the first arrow that a
/// result follows, otherwise the last.
fn split_command(head: &str) -> (String, &str) {
    if let Some((command, tail)) = marked_command(head) {
        let behind_arrow = ARROWS.iter().chain(&[":"]).find_map(|arrow| tail.strip_prefix(arrow));
        match behind_arrow {
            Some(behind_arrow) => return (command, behind_arrow),
            None if tail.is_empty() => return (command, ""),
            None => {}
        }
    }
    match deciding_arrow(head).or_else(|| arrows(head).last()) {
        Some(Arrow { left, right }) => (left.trim().to_owned(), right),
        None => (head.to_owned(), ""),
    }
}

/// The span of code that a line begins with, and the text behind it.
fn code_span(line: &str) -> Option<(String, &str)> {
    // The first event begins the paragraph, the second one is its first content.
    match Parser::new(line).into_offset_iter().nth(1)? {
        (Event::Code(code), range) if range.start == 0 => {
            Some((code.trim().to_owned(), &line[range.end..]))
        }
        _ => None,
    }
}

/// A command under its own key: as it is, a span of code, or a JSON string.
fn command_value(value: &str) -> String {
    match code_span(value) {
        Some((code, "")) => code,
        _ => unquote(value),
    }
}

/// The word for the result that a text begins with, and the text behind it.
fn split_result(text: &str) -> (String, &str) {
    let text = text.trim();
    let (result, tail) = leading_string(text).unwrap_or_else(|| {
        let unmarked = text.trim_start_matches(['*', '_', '`']);
        let ends_word = |char: char| char.is_whitespace() || matches!(char, '(' | ',' | ':' | ';');
        let word_end = unmarked.find(ends_word).unwrap_or(unmarked.len());
        let (word, tail) = unmarked.split_at(word_end);
        (word.trim_end_matches(['*', '_', '`']).to_owned(), tail)
    });
    (result, tail.trim())
}

/// The note behind a result: in parentheses, or after a mark.
fn note(text: &str) -> Option<&str> {
    if let Some(note) = text.strip_prefix('(').and_then(|text| text.strip_suffix(')')) {
        return Some(note.trim());
    }
    let note = text.trim_start_matches([':', ',', ';', '-', '–', '—', ' ']);
    (!note.is_empty()).then_some(note)
}

/// The risk is the text before the first comma, the owner the text after the last one, and
/// the impact lies between. With keys below it, the whole line is the risk.
fn risk_line(head: &str, line: usize, is_alone: bool) -> Vec<Entry> {
    if let Some((risk, "")) = leading_string(head) {
        return vec![text_entry("risk", risk, line)];
    }
    let parts = match head.split_once(',') {
        Some((risk, tail)) if is_alone => match tail.rsplit_once(',') {
            None => vec![("risk", risk), ("impact", tail)],
            Some((impact, owner)) => vec![("risk", risk), ("impact", impact), ("owner", owner)],
        },
        _ => vec![("risk", head)],
    };
    let entries = parts.into_iter().map(|(key, value)| {
        let value = match key_and_value(value) {
            Some((label, value)) if label == key => value,
            _ => value,
        };
        text_entry(key, unquote(value), line)
    });
    entries.collect()
}
