//! Entries that say several things in a line: a verification, a risk.

use super::super::form::{Entry, Field, Node, field, fields_within, handoff_fields};
use super::super::problem::Problem;
use super::arrow::{ARROWS, arrows, deciding_arrow, has_result};
use super::outline::Item;
use super::quote::{leading, unquote};
use super::{Reader, keyed, text_of};

impl Reader {
    /// `` `command` -> PASS (note) ``, with `severity:` and `rollback:` below it; or
    /// each under its own key.
    pub(super) fn verification(&mut self, item: &Item<'_>, at: &str) -> Node {
        self.only_list(item, at);
        let fields = fields_within(handoff_fields(), "verification");
        let head = item.text();
        // A command between marks may begin as a key does.
        let labelled = if is_marked(&head) { Vec::new() } else { own_lines(item, fields) };
        let mut entries = labelled;
        if entries.is_empty() {
            let row = Row::parse(&head);
            if row.is_torn {
                let message = format!(
                    "line {}: a further arrow says again what came of it; one arrow with one \
                     result is expected, and a note with another stands between double quotes",
                    item.line
                );
                self.problems.push(Problem::new(format!("{at}.result"), message));
            }
            entries = row.entries(item.line);
        }
        let mut blocker = Vec::new();
        for (key, value, child) in self.children(item, at) {
            let line = Some(child.line);
            if field(fields_within(fields, "blocker"), &key).is_some() {
                blocker.push(Entry { key, value: Node::Text(text_of(&value, child)), line });
            } else if key == "blocker" && value.is_empty() {
                self.only_list(child, &format!("{at}.blocker"));
                let inner = self.children(child, &format!("{at}.blocker"));
                blocker.extend(inner.into_iter().map(|(key, value, line)| text(key, &value, line)));
            } else {
                entries.push(text(key, &value, child));
            }
        }
        if !blocker.is_empty() {
            let line = Some(item.line);
            entries.push(Entry { key: "blocker".to_owned(), value: Node::Table(blocker), line });
        }
        Node::Table(entries)
    }

    /// `risk, impact, owner`; or each under its own key.
    pub(super) fn risk(&mut self, item: &Item<'_>, at: &str) -> Node {
        self.only_list(item, at);
        let below = self.children(item, at);
        let labelled = own_lines(item, fields_within(handoff_fields(), "open_risks"));
        let mut entries = match labelled.len() {
            // One key alone may begin a line that says all three.
            0 => risk(&item.text(), item.line, below.is_empty()),
            1 if below.is_empty() => risk(&item.text(), item.line, true),
            _ => labelled,
        };
        entries.extend(below.into_iter().map(|(key, value, child)| text(key, &value, child)));
        Node::Table(entries)
    }
}

fn text(key: String, value: &str, item: &Item<'_>) -> Entry {
    Entry { key, value: Node::Text(text_of(value, item)), line: Some(item.line) }
}

/// The lines of an item's text if each begins with a key of its own, and the first with a known
/// one; else none.
fn own_lines(item: &Item<'_>, fields: &[Field]) -> Vec<Entry> {
    let mut entries: Vec<(String, String)> = Vec::new();
    for line in item.lines() {
        match (keyed(line).filter(|(key, _)| field(fields, key).is_some()), entries.last_mut()) {
            (Some((key, value)), _) => entries.push((key, value.to_owned())),
            (None, Some((_, value))) => {
                value.push(' ');
                value.push_str(line);
            }
            (None, None) => return Vec::new(),
        }
    }
    let line = Some(item.line);
    let entries = entries.into_iter().map(|(key, value)| {
        let value = if key == "command" { code(&value) } else { unquote(&value) };
        Entry { key, value: Node::Text(value), line }
    });
    entries.collect()
}

/// The parts of a line about a command.
struct Row {
    command: String,
    result: String,
    notes: Option<String>,
    /// True if it has two results for one command.
    is_torn: bool,
}

impl Row {
    fn parse(head: &str) -> Self {
        let (command, rest) = command(head);
        let (result, rest) = result(rest);
        let note = note(rest);
        let notes = note.map(unquote);
        // What stands between double quotes is a note, and nothing else.
        let is_quoted = notes.as_deref() != note;
        Self { command, result, is_torn: !is_quoted && has_result(rest), notes }
    }

    fn entries(self, line: usize) -> Vec<Entry> {
        let parts =
            [("command", Some(self.command)), ("result", Some(self.result)), ("notes", self.notes)];
        let mut entries = Vec::new();
        for (key, value) in parts {
            let Some(value) = value else { continue };
            entries.push(Entry { key: key.to_owned(), value: Node::Text(value), line: Some(line) });
        }
        entries
    }
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
    let ticks = line.bytes().take_while(|byte| *byte == b'`').count();
    if ticks == 0 {
        return None;
    }
    let start = &line[ticks..];
    let mut rest = start;
    loop {
        rest = &rest[rest.find('`')?..];
        let run = rest.bytes().take_while(|byte| *byte == b'`').count();
        if run == ticks {
            let code = &start[..start.len() - rest.len()];
            return Some((code.trim().to_owned(), &rest[run..]));
        }
        rest = &rest[run..];
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
    if let Some((text, "")) = leading(head) {
        return vec![Entry { key: "risk".to_owned(), value: Node::Text(text), line: Some(line) }];
    }
    let parts = match head.split_once(',') {
        Some((risk, rest)) if is_alone => match rest.rsplit_once(',') {
            None => vec![("risk", risk), ("impact", rest)],
            Some((impact, owner)) => vec![("risk", risk), ("impact", impact), ("owner", owner)],
        },
        _ => vec![("risk", head)],
    };
    let entries = parts.into_iter().map(|(key, value)| Entry {
        key: key.to_owned(),
        value: Node::Text(unquote(unlabelled(key, value))),
        line: Some(line),
    });
    entries.collect()
}

/// A value without the name of its field before it.
fn unlabelled<'v>(key: &str, value: &'v str) -> &'v str {
    match keyed(value) {
        Some((label, rest)) if label == key => rest,
        _ => value.trim(),
    }
}
