//! Entries that say several things in a line: a verification, a risk.

use super::super::form::{BLOCKER, Entry, Field, Node, RISK, VERIFICATION, field};
use super::outline::Item;
use super::quote::{leading, unquote};
use super::{Reader, keyed, text_of};

/// What stands between a command and what came of it.
const ARROWS: &[&str] = &["->", "→", "=>"];

impl Reader {
    /// `` `command` -> PASS (note) ``, with `severity:` and `rollback:` below it; or
    /// each under its own key.
    pub(super) fn verification(&mut self, item: &Item<'_>, at: &str) -> Node {
        self.only_list(item, at);
        let mut entries = own_lines(item, VERIFICATION);
        if entries.is_empty() {
            entries = verification(&item.text(), item.line);
        }
        let mut blocker = Vec::new();
        for (key, value, child) in self.children(item, at) {
            let line = Some(child.line);
            if field(BLOCKER, &key).is_some() {
                blocker.push(Entry { key, value: Node::Text(text_of(&value, child)), line });
            } else if key == "blocker" && value.is_empty() {
                self.only_list(child, &format!("{at}.blocker"));
                let inner = self.children(child, &format!("{at}.blocker"));
                blocker.extend(inner.into_iter().map(|(key, value, it)| text(key, &value, it)));
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
        let labelled = own_lines(item, RISK);
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

/// The lines of an item's text where each begins with a key of its own, and the
/// first with one that is known; else none.
fn own_lines(item: &Item<'_>, fields: &[Field]) -> Vec<Entry> {
    let mut entries: Vec<(String, String)> = Vec::new();
    for line in item.lines() {
        match (keyed(line).filter(|(key, _)| field(fields, key).is_some()), entries.last_mut()) {
            (Some((key, value)), _) => entries.push((key, value.to_owned())),
            (None, Some((_, value))) => *value = format!("{value} {line}"),
            (None, None) => return Vec::new(),
        }
    }
    let line = Some(item.line);
    let entry = |(key, value): (String, String)| {
        let value = if key == "command" { code(&value) } else { unquote(&value) };
        Entry { key, value: Node::Text(value), line }
    };
    entries.into_iter().map(entry).collect()
}

fn verification(head: &str, line: usize) -> Vec<Entry> {
    let (command, rest) = command(head);
    let (result, notes) = result(rest);
    let entry = |key: &str, value: String| Entry {
        key: key.to_owned(),
        value: Node::Text(value),
        line: Some(line),
    };
    let mut entries = vec![entry("command", command), entry("result", result)];
    entries.extend(notes.map(|notes| entry("notes", notes)));
    entries
}

/// The command that a line begins with, and what comes after its arrow.
fn command(head: &str) -> (String, &str) {
    let whole = leading(head).or_else(|| code_span(head));
    if let Some((command, rest)) = whole {
        let rest = rest.trim_start();
        let after = ARROWS.iter().chain(&[":"]).find_map(|arrow| rest.strip_prefix(arrow));
        match after {
            Some(after) => return (command, after),
            None if rest.is_empty() => return (command, ""),
            None => {}
        }
    }
    let arrow = ARROWS.iter().filter_map(|arrow| Some((head.rfind(arrow)?, arrow.len()))).max();
    match arrow {
        Some((at, length)) => (head[..at].trim().to_owned(), &head[at + length..]),
        None => (head.to_owned(), ""),
    }
}

/// The span of code that a line begins with, and what comes after it.
fn code_span(line: &str) -> Option<(String, &str)> {
    let ticks = line.bytes().take_while(|byte| *byte == b'`').count();
    let mut rest = line.get(ticks..).filter(|_| ticks > 0)?;
    let start = rest;
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

/// The word that says what came of it, and the note after it.
fn result(rest: &str) -> (String, Option<String>) {
    let rest = rest.trim();
    let (word, rest) = leading(rest).unwrap_or_else(|| {
        let rest = rest.trim_start_matches(['*', '_', '`']);
        let end = rest.find(|c: char| c.is_whitespace() || matches!(c, '(' | ',' | ':' | ';'));
        let (word, rest) = rest.split_at(end.unwrap_or(rest.len()));
        (word.trim_end_matches(['*', '_', '`']).to_owned(), rest)
    });
    let rest = rest.trim();
    let note = match rest.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')) {
        Some(note) => Some(note),
        None => Some(rest.trim_start_matches([':', ',', ';', '-', '–', '—', ' ']))
            .filter(|note| !note.is_empty()),
    };
    (word, note.map(unquote))
}

/// What comes before the first comma is the risk, what comes after the last one
/// its owner, and what lies between its impact. With keys below it, the whole line
/// is the risk.
fn risk(head: &str, line: usize, is_alone: bool) -> Vec<Entry> {
    let entry = |key: &str, value: &str| Entry {
        key: key.to_owned(),
        value: Node::Text(unquote(unlabelled(key, value))),
        line: Some(line),
    };
    if let Some((text, "")) = leading(head) {
        return vec![Entry { key: "risk".to_owned(), value: Node::Text(text), line: Some(line) }];
    }
    match head.split_once(',').filter(|_| is_alone) {
        None => vec![entry("risk", head)],
        Some((risk, rest)) => match rest.rsplit_once(',') {
            None => vec![entry("risk", risk), entry("impact", rest)],
            Some((impact, owner)) => {
                vec![entry("risk", risk), entry("impact", impact), entry("owner", owner)]
            }
        },
    }
}

/// A value without the name of its field before it.
fn unlabelled<'v>(key: &str, value: &'v str) -> &'v str {
    match keyed(value) {
        Some((label, rest)) if label == key => rest,
        _ => value.trim(),
    }
}
