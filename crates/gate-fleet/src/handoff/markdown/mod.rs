//! A handoff as Markdown.
//!
//! It is the list below the heading `## Handoff`, up to the next heading; in a
//! document without that heading, every list of it. A field is an item
//! `- key: value`, whose value stands behind the colon or in a list below.
//! Other text is passed over. A key may be bold, and in any case.

mod arrow;
mod outline;
mod quote;
mod row;
mod write;

use serde_json::Value;

use super::ParsedHandoff;
use super::form::{self, SCHEMA, element_schema, field, key_path};
use super::problem::Problem;
use crate::tree::{Entry, Node};

use outline::{Item, Section};
use quote::unquote;

pub(super) use write::write;

/// The longest key, in bytes.
const MAX_KEY_BYTES: usize = 40;

/// Reads a handoff.
pub(super) fn read(text: &str) -> ParsedHandoff {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut reader = Reader { problems: Vec::new() };
    let items = reader.section(outline::read(text));
    let entries = reader.entries(&items, &SCHEMA, "");
    if !entries.iter().any(|entry| field(&SCHEMA, &entry.key).is_some()) {
        let message = "there is no handoff: a heading `## Handoff` is expected, and below it a \
                       list of fields such as `- objective: …`";
        return ParsedHandoff::unreadable(Problem::new("", message));
    }
    form::handoff(entries, reader.problems)
}

struct Reader {
    problems: Vec<Problem>,
}

impl Reader {
    /// The items of the section that is the handoff.
    fn section<'s>(&mut self, sections: Vec<Section<'s>>) -> Vec<Item<'s>> {
        let (handoffs, other_sections): (Vec<_>, Vec<_>) =
            sections.into_iter().partition(|section| is_handoff_heading(&section.heading));
        if handoffs.is_empty() {
            return other_sections.into_iter().flat_map(|section| section.items).collect();
        }
        // The heading of a document may name what a heading below it holds.
        let mut handoffs = handoffs.into_iter().filter(|section| !section.items.is_empty());
        let first = handoffs.next().unwrap_or_default();
        if let Some(second) = handoffs.next() {
            let lines = format!("lines {} and {}", first.line, second.line);
            let message = format!("{lines}: one handoff is expected, not two");
            self.problems.push(Problem::new("", message));
        }
        first.items
    }

    /// The fields of a list's items.
    fn entries(&mut self, items: &[Item<'_>], schema: &Value, table_path: &str) -> Vec<Entry> {
        let mut entries = Vec::new();
        for item in items {
            let (text, line) = (item.text(), item.line);
            let Some((key, value)) = key_and_value(&text) else {
                let shown = gate_core::text::brief(&text, 60);
                let message = format!("line {line}: `key: value` is expected, not `{shown}`");
                self.problems.push(Problem::new(table_path, message));
                continue;
            };
            // An unknown key has no schema, and is reported with the form.
            let schema = field(schema, &key).unwrap_or(&Value::Null);
            let value = self.value(value, item, schema, &key_path(table_path, &key));
            entries.push(Entry { key, value, line });
        }
        entries
    }

    /// Reports content of an item beside its text and the list below, which no field takes.
    fn expect_list_only(&mut self, item: &Item<'_>, path: &str) {
        if item.is_mixed {
            let message = format!("line {}: only a list is read here", item.line);
            self.problems.push(Problem::new(path, message));
        }
    }

    fn value(&mut self, value: &str, item: &Item<'_>, schema: &Value, path: &str) -> Node {
        let Some(kind @ ("array" | "object")) = schema["type"].as_str() else {
            return Node::text(text_of(value, item));
        };
        self.expect_list_only(item, path);
        match uncommented(value) {
            value if kind == "array" => self.list(value, item, element_schema(schema), path),
            "" => Node::Map(self.entries(&item.children, schema, path)),
            _ => Node::text(value),
        }
    }

    /// A list: the text behind its key, and each item below.
    fn list(&mut self, value: &str, item: &Item<'_>, schema: &Value, path: &str) -> Node {
        let mut nodes = Vec::new();
        if schema["type"] == "string" {
            match serde_json::from_str::<Vec<String>>(value) {
                Ok(texts) => nodes.extend(texts.into_iter().map(Node::text)),
                Err(_) if value.is_empty() => {}
                Err(_) => nodes.push(Node::text(unquote(value))),
            }
            nodes.extend(
                item.children.iter().map(|child| Node::text(text_of(&child.text(), child))),
            );
            return Node::List(nodes);
        }
        let inline_item = (!value.is_empty() && value != "[]").then(|| Item::new(value, item.line));
        for (index, item) in inline_item.iter().chain(&item.children).enumerate() {
            let path = format!("{path}[{index}]");
            nodes.push(match field(schema, "command") {
                Some(_) => self.verification(item, schema, &path),
                None => self.risk(item, schema, &path),
            });
        }
        Node::List(nodes)
    }
}

fn is_handoff_heading(heading: &str) -> bool {
    let mut words = heading.split(|char: char| !char.is_alphanumeric());
    let first_word = words.find(|word| !word.is_empty());
    first_word.is_some_and(|word| word.eq_ignore_ascii_case("handoff"))
}

/// The key that a line begins with, in the spelling of the fields, and the text behind its
/// colon.
fn key_and_value(line: &str) -> Option<(String, &str)> {
    const MARKS: [char; 3] = ['*', '_', '`'];
    let is_in_key = |char: char| char.is_alphanumeric() || matches!(char, '_' | '-' | ' ');
    let (marked_key, value) = line.split_once(':')?;
    let marked_key = marked_key.trim();
    let key = marked_key.trim_matches(MARKS);
    if key.is_empty() || key.len() > MAX_KEY_BYTES || !key.chars().all(is_in_key) {
        return None;
    }
    // Of `**key:** value` the second mark stands behind the colon.
    let opening_mark = &marked_key[..marked_key.len() - marked_key.trim_start_matches(MARKS).len()];
    let value = match marked_key.ends_with(MARKS) {
        true => value,
        false => value.strip_prefix(opening_mark).unwrap_or(value),
    };
    Some((key.to_lowercase().replace(['-', ' '], "_"), value.trim()))
}

/// A text: the one behind the key, with the other content of the item.
fn text_of(value: &str, item: &Item<'_>) -> String {
    if item.is_plain() {
        return unquote(value);
    }
    match &item.children[..] {
        [child] if value.is_empty() && !item.is_mixed => text_of(&child.text(), child),
        _ => {
            let source = item.dedented_source();
            match source.split_once(':') {
                Some((_, value_source)) if item.text() != value => value_source.trim().to_owned(),
                _ => source.trim().to_owned(),
            }
        }
    }
}

/// The value after the key of a list; empty for a comment.
fn uncommented(value: &str) -> &str {
    if value == "#" || value.starts_with("# ") { "" } else { value }
}
