//! A handoff as one JSON object.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor};

use super::Read;
use super::form::{self, Entry, Node};
use super::model::Handoff;
use super::problem::Problem;

/// A text without the mark of UTF-8 and the blanks that may stand before it.
pub(super) fn bare(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text).trim_start()
}

/// Reads a handoff.
pub(super) fn read(text: &str) -> Read {
    match parse(text) {
        Ok(entries) => form::handoff(entries, Vec::new()),
        Err(problem) => Read::nothing(problem),
    }
}

/// The entries of a text that is one JSON object.
pub(super) fn parse(text: &str) -> Result<Vec<Entry>, Problem> {
    let is_empty = bare(text).is_empty();
    // The blanks stay, so that lines are counted from the beginning.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    match serde_json::from_str::<Node>(text) {
        Ok(Node::Table(entries)) => Ok(entries),
        Ok(node) => {
            Err(Problem::new("", format!("an object is expected, and this is {}", node.name())))
        }
        Err(_) if is_empty => Err(Problem::new("", "it is empty: a JSON object is expected")),
        Err(error) => Err(Problem::new("", format!("no JSON: {error}"))),
    }
}

/// Writes a handoff, indented, with a line's end.
pub(super) fn write(handoff: &Handoff) -> String {
    // Texts and lists of texts always have a form in JSON.
    serde_json::to_string_pretty(handoff).map(|text| text + "\n").unwrap_or_default()
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(Any)
    }
}

/// Takes any value, with all keys of an object, repeated ones too.
struct Any;

impl<'de> Visitor<'de> for Any {
    type Value = Node;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_str<E>(self, text: &str) -> Result<Node, E> {
        Ok(Node::Text(text.to_owned()))
    }

    fn visit_bool<E>(self, _: bool) -> Result<Node, E> {
        Ok(Node::Other("true or false"))
    }

    fn visit_i64<E>(self, _: i64) -> Result<Node, E> {
        Ok(Node::Other("a number"))
    }

    fn visit_u64<E>(self, _: u64) -> Result<Node, E> {
        Ok(Node::Other("a number"))
    }

    fn visit_f64<E>(self, _: f64) -> Result<Node, E> {
        Ok(Node::Other("a number"))
    }

    fn visit_unit<E>(self) -> Result<Node, E> {
        Ok(Node::Other("null"))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut from: A) -> Result<Node, A::Error> {
        let mut nodes = Vec::new();
        while let Some(node) = from.next_element()? {
            nodes.push(node);
        }
        Ok(Node::List(nodes))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut from: A) -> Result<Node, A::Error> {
        let mut entries = Vec::new();
        while let Some((key, value)) = from.next_entry()? {
            entries.push(Entry { key, value, line: None });
        }
        Ok(Node::Table(entries))
    }
}
