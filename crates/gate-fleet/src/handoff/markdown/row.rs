//! Entries that say several things in a line: a verification, a risk.

use pulldown_cmark::{Event, Parser};
use serde_json::Value;

use super::super::form::field;
use super::super::problem::Problem;
use super::arrow::{ARROWS, arrows, deciding_arrow, has_result};
use super::outline::Item;
use super::quote::{leading, unquote};
use super::{Reader, keyed};
use crate::tree::{Entry, Node};

impl Reader {
    /// `` `command` -> PASS (note) ``, with `severity:` and `rollback:` below it; or
    /// each under its own key.
    pub(super) fn verification(&mut self, item: &Item<'_>, schema: &Value, at: &str) -> Node {
        self.only_list(item, at);
        let head = item.text();
        // A command between marks may begin as a key does.
        let mut entries = if is_marked(&head) { Vec::new() } else { own_lines(item, schema) };
        if entries.is_empty() {
            entries = self.row(&head, item.line, at);
        }
        let blocker = field(schema, "blocker").unwrap_or(&Value::Null);
        let below = self.entries(&item.children, schema, at).into_iter();
        let (beside, below): (Vec<_>, Vec<_>) =
            below.partition(|entry| field(blocker, &entry.key).is_some());
        entries.extend(below);
        match entries.iter_mut().find(|entry| entry.key == "blocker").map(|entry| &mut entry.value)
        {
            Some(Node::Map(members)) => members.extend(beside),
            _ if beside.is_empty() => {}
            _ => {
                let (key, value) = ("blocker".to_owned(), Node::Map(beside));
                entries.push(Entry { key, value, line: item.line });
            }
        }
        Node::Map(entries)
    }

    /// The parts of a line about a command.
    fn row(&mut self, head: &str, line: usize, at: &str) -> Vec<Entry> {
        let (command, rest) = command(head);
        let (result, rest) = result(rest);
        let note = note(rest);
        let notes = note.map(unquote);
        // What stands between double quotes is a note, and nothing else.
        if notes.as_deref() == note && has_result(rest) {
            let message = format!(
                "line {line}: a further arrow says again what came of it; one arrow with one \
                 result is expected, and a note with another stands between double quotes"
            );
            self.problems.push(Problem::new(format!("{at}.result"), message));
        }
        let mut entries = vec![text("command", command, line), text("result", result, line)];
        entries.extend(notes.map(|notes| text("notes", notes, line)));
        entries
    }

    /// `risk, impact, owner`; or each under its own key.
    pub(super) fn risk(&mut self, item: &Item<'_>, schema: &Value, at: &str) -> Node {
        self.only_list(item, at);
        let below = self.entries(&item.children, schema, at);
        let labelled = own_lines(item, schema);
        let mut entries = match labelled.len() {
            // One key alone may begin a line that says all three.
            0 => risk(&item.text(), item.line, below.is_empty()),
            1 if below.is_empty() => risk(&item.text(), item.line, true),
            _ => labelled,
        };
        entries.extend(below);
        Node::Map(entries)
    }
}

fn text(key: &str, text: impl Into<String>, line: usize) -> Entry {
    Entry { line, ..Entry::new(key, Node::text(text)) }
}

/// The lines of an item's text if each begins with a key of its own, and the first with a known
/// one; else none.
fn own_lines(item: &Item<'_>, schema: &Value) -> Vec<Entry> {
    let mut lines: Vec<(String, String)> = Vec::new();
    for line in item.lines() {
        match (keyed(line).filter(|(key, _)| field(schema, key).is_some()), lines.last_mut()) {
            (Some((key, value)), _) => lines.push((key, value.to_owned())),
            (None, Some((_, value))) => {
                value.push(' ');
                value.push_str(line);
            }
            (None, None) => return Vec::new(),
        }
    }
    let entries = lines.into_iter().map(|(key, value)| {
        let value = if key == "command" { code(&value) } else { unquote(&value) };
        text(&key, value, item.line)
    });
    entries.collect()
}

/// True if a line begins with a command between marks: alone, or before an arrow.
fn is_marked(head: &str) -> bool {
    marked(head).is_some_and(|(_, rest)| {
        rest.is_empty() || ARROWS.iter().any(|arrow| rest.starts_with(arrow))
    })
}

/// The JSON string or span of code that a line begins with, and what comes after it.
fn marked(head: &str) -> Option<(String, &str)> {
    let (text, rest) = leading(head).or_else(|| code_span(head))?;
    Some((text, rest.trim_start()))
}

/// The command that a line begins with, and what comes after its arrow: the first
/// one that a result follows, else the last.
fn command(head: &str) -> (String, &str) {
    if let Some((command, rest)) = marked(head) {
        let after = ARROWS.iter().chain(&[":"]).find_map(|arrow| rest.strip_prefix(arrow));
        match after {
            Some(after) => return (command, after),
            None if rest.is_empty() => return (command, ""),
            None => {}
        }
    }
    match deciding_arrow(head).or_else(|| arrows(head).last()) {
        Some((command, after)) => (command.trim().to_owned(), after),
        None => (head.to_owned(), ""),
    }
}

/// The span of code that a line begins with, and what comes after it.
fn code_span(line: &str) -> Option<(String, &str)> {
    // The paragraph begins, then what stands in it.
    match Parser::new(line).into_offset_iter().nth(1)? {
        (Event::Code(code), range) if range.start == 0 => {
            Some((code.trim().to_owned(), &line[range.end..]))
        }
        _ => None,
    }
}

/// A command under its own key: as it is, a span of code, or a JSON string.
fn code(value: &str) -> String {
    match code_span(value) {
        Some((code, "")) => code,
        _ => unquote(value),
    }
}

/// The word that says what came of it, and what comes after it.
fn result(rest: &str) -> (String, &str) {
    let rest = rest.trim();
    let (word, rest) = leading(rest).unwrap_or_else(|| {
        let rest = rest.trim_start_matches(['*', '_', '`']);
        let end = rest.find(|c: char| c.is_whitespace() || matches!(c, '(' | ',' | ':' | ';'));
        let (word, rest) = rest.split_at(end.unwrap_or(rest.len()));
        (word.trim_end_matches(['*', '_', '`']).to_owned(), rest)
    });
    (word, rest.trim())
}

/// The note after a result.
fn note(rest: &str) -> Option<&str> {
    match rest.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')) {
        Some(note) => Some(note.trim()),
        None => Some(rest.trim_start_matches([':', ',', ';', '-', '–', '—', ' ']))
            .filter(|note| !note.is_empty()),
    }
}

/// The risk is the text before the first comma, the owner the text after the last one, and
/// the impact lies between. With keys below it, the whole line is the risk.
fn risk(head: &str, line: usize, is_alone: bool) -> Vec<Entry> {
    if let Some((risk, "")) = leading(head) {
        return vec![text("risk", risk, line)];
    }
    let parts = match head.split_once(',') {
        Some((risk, rest)) if is_alone => match rest.rsplit_once(',') {
            None => vec![("risk", risk), ("impact", rest)],
            Some((impact, owner)) => vec![("risk", risk), ("impact", impact), ("owner", owner)],
        },
        _ => vec![("risk", head)],
    };
    let entries = parts.into_iter().map(|(key, value)| {
        let value = match keyed(value) {
            Some((label, value)) if label == key => value,
            _ => value,
        };
        text(key, unquote(value), line)
    });
    entries.collect()
}
