//! A handoff as Markdown.
//!
//! It is the list below the heading `## Handoff`, up to the next heading; in a
//! document without that heading, every list of it. A field is an item
//! `- key: value`, and what belongs to it stands behind the colon or in a list
//! below. Other text is passed over. A key may be bold, and in any case.

mod arrow;
mod outline;
mod quote;
mod row;
mod write;

use serde_json::Value;

use super::Read;
use super::form::{self, SCHEMA, field, items, path};
use super::problem::Problem;
use crate::tree::{Entry, Node};

use outline::{Item, Section};
use quote::unquote;

pub(super) use write::write;

/// The longest that a key is, in bytes.
const LONGEST_KEY: usize = 40;

/// Reads a handoff.
pub(super) fn read(text: &str) -> Read {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut reader = Reader { problems: Vec::new() };
    let items = reader.section(outline::read(text));
    let entries = reader.entries(&items, &SCHEMA, "");
    if !entries.iter().any(|entry| field(&SCHEMA, &entry.key).is_some()) {
        let message = "there is no handoff: a heading `## Handoff` is expected, and below it a \
                       list of fields such as `- objective: …`";
        return Read::nothing(Problem::new("", message));
    }
    form::handoff(entries, reader.problems)
}

struct Reader {
    problems: Vec<Problem>,
}

impl Reader {
    /// The items of the section that is the handoff.
    fn section<'s>(&mut self, sections: Vec<Section<'s>>) -> Vec<Item<'s>> {
        let (named, others): (Vec<_>, Vec<_>) =
            sections.into_iter().partition(|section| names_it(&section.heading));
        if named.is_empty() {
            return others.into_iter().flat_map(|section| section.items).collect();
        }
        // The heading of a document may name what a heading below it holds.
        let mut named = named.into_iter().filter(|section| !section.items.is_empty());
        let first = named.next().unwrap_or_default();
        if let Some(second) = named.next() {
            let lines = format!("lines {} and {}", first.line, second.line);
            let message = format!("{lines}: one handoff is expected, not two");
            self.problems.push(Problem::new("", message));
        }
        first.items
    }

    /// The fields that items are.
    fn entries(&mut self, items: &[Item<'_>], schema: &Value, at: &str) -> Vec<Entry> {
        let mut entries = Vec::new();
        for item in items {
            let (text, line) = (item.text(), item.line);
            let Some((key, value)) = keyed(&text) else {
                let shown = gate_core::text::brief(&text, 60);
                let message = format!("line {line}: `key: value` is expected, not `{shown}`");
                self.problems.push(Problem::new(at, message));
                continue;
            };
            // What a key means that is not known does not matter.
            let schema = field(schema, &key).unwrap_or(&Value::Null);
            let value = self.value(value, item, schema, &path(at, &key));
            entries.push(Entry { key, value, line });
        }
        entries
    }

    /// Reports content of an item beside its text and the list below, which no field takes.
    fn only_list(&mut self, item: &Item<'_>, at: &str) {
        if item.is_mixed {
            let message = format!("line {}: only a list is read here", item.line);
            self.problems.push(Problem::new(at, message));
        }
    }

    fn value(&mut self, value: &str, item: &Item<'_>, schema: &Value, at: &str) -> Node {
        let Some(kind @ ("array" | "object")) = schema["type"].as_str() else {
            return Node::text(text_of(value, item));
        };
        self.only_list(item, at);
        match uncommented(value) {
            value if kind == "array" => self.list(value, item, items(schema), at),
            "" => Node::Map(self.entries(&item.children, schema, at)),
            _ => Node::text(value),
        }
    }

    /// A list: what stands behind its key, and each item below.
    fn list(&mut self, value: &str, item: &Item<'_>, schema: &Value, at: &str) -> Node {
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
        let inline = (!value.is_empty() && value != "[]").then(|| Item::new(value, item.line));
        for (index, entry) in inline.iter().chain(&item.children).enumerate() {
            let at = format!("{at}[{index}]");
            nodes.push(match field(schema, "command") {
                Some(_) => self.verification(entry, schema, &at),
                None => self.risk(entry, schema, &at),
            });
        }
        Node::List(nodes)
    }
}

fn names_it(heading: &str) -> bool {
    let word = heading.split(|c: char| !c.is_alphanumeric()).find(|word| !word.is_empty());
    word.is_some_and(|word| word.eq_ignore_ascii_case("handoff"))
}

/// The key that a line begins with, in the spelling of the fields, and what stands
/// behind its colon.
fn keyed(line: &str) -> Option<(String, &str)> {
    const MARKS: [char; 3] = ['*', '_', '`'];
    let (key, value) = line.split_once(':')?;
    let key = key.trim();
    let bare = key.trim_matches(MARKS);
    if bare.is_empty() || bare.len() > LONGEST_KEY || !bare.chars().all(is_name) {
        return None;
    }
    // Of `**key:** value` the second mark stands behind the colon.
    let before = &key[..key.len() - key.trim_start_matches(MARKS).len()];
    let value =
        if key.ends_with(MARKS) { value } else { value.strip_prefix(before).unwrap_or(value) };
    Some((bare.to_lowercase().replace(['-', ' '], "_"), value.trim()))
}

fn is_name(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-' | ' ')
}

/// A text: what stands behind the key, with what else the item holds.
fn text_of(value: &str, item: &Item<'_>) -> String {
    if item.is_plain() {
        return unquote(value);
    }
    match &item.children[..] {
        [only] if value.is_empty() && !item.is_mixed => text_of(&only.text(), only),
        _ => {
            let whole = item.whole();
            match whole.split_once(':') {
                Some((_, rest)) if item.text() != value => rest.trim().to_owned(),
                _ => whole.trim().to_owned(),
            }
        }
    }
}

/// The value after the key of a list; empty for a comment.
fn uncommented(value: &str) -> &str {
    if value == "#" || value.starts_with("# ") { "" } else { value }
}
