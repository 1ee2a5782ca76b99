//! Values of YAML, JSON and Markdown as they were read, before their keys have a meaning.
//!
//! Scalars stay text, with a note of whether they were quoted: an id that looks
//! like a number must not become one.

use std::fmt;

use serde::Serialize;
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

/// A value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Node {
    /// Text, a number, a moment.
    Scalar(Scalar),
    /// A list.
    List(Vec<Node>),
    /// A mapping, in its order. In JSON and Markdown a key may stand in it twice.
    Map(Vec<Entry>),
}

/// A scalar.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Scalar {
    /// Its text without quotes and escapes.
    pub(super) text: String,
    /// It was quoted, and so is text whatever it looks like.
    pub(super) quoted: bool,
}

/// A key with its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    /// The key.
    pub(super) key: String,
    /// Its line, from 1; 0 if it is not known.
    pub(super) line: usize,
    /// The value.
    pub(super) value: Node,
}

/// The members of a structure as they are in JSON, in their order.
pub(super) fn members(structure: &impl Serialize) -> Vec<Entry> {
    // Structures of texts, numbers and lists of these always have a form in JSON.
    let json = serde_json::to_string(structure).unwrap_or_default();
    match serde_json::from_str(&json) {
        Ok(Node::Map(entries)) => entries,
        _ => Vec::new(),
    }
}

/// The value of a key, the first one if the key stands there twice.
pub(super) fn get<'e>(entries: &'e [Entry], key: &str) -> Option<&'e Node> {
    entries.iter().find(|entry| entry.key == key).map(|entry| &entry.value)
}

impl Node {
    /// Text, which is quoted if it has to be.
    pub(super) fn text(text: impl Into<String>) -> Self {
        Self::Scalar(Scalar { text: text.into(), quoted: true })
    }

    /// A number or a moment, which is never quoted.
    pub(super) fn plain(text: impl Into<String>) -> Self {
        Self::Scalar(Scalar { text: text.into(), quoted: false })
    }

    /// The text of a scalar; empty for a plain `null` or `~`.
    pub(super) fn as_str(&self) -> Option<&str> {
        match self {
            Self::Scalar(scalar) if !scalar.quoted && is_null(&scalar.text) => Some(""),
            Self::Scalar(scalar) => Some(&scalar.text),
            _ => None,
        }
    }

    /// The text of a quoted scalar.
    pub(super) fn quoted(&self) -> Option<&str> {
        match self {
            Self::Scalar(Scalar { text, quoted: true }) => Some(text),
            _ => None,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        match self {
            Self::Scalar(_) => self.as_str() == Some(""),
            Self::List(nodes) => nodes.is_empty(),
            Self::Map(entries) => entries.is_empty(),
        }
    }

    /// Its type in JSON, in words.
    pub(super) fn type_name(&self) -> &'static str {
        match self {
            Self::Scalar(scalar) if scalar.quoted => "a string",
            Self::Scalar(scalar) => match scalar.text.as_str() {
                "null" => "null",
                "true" | "false" => "true or false",
                _ => "a number",
            },
            Self::List(_) => "a list",
            Self::Map(_) => "an object",
        }
    }
}

impl Entry {
    /// An entry in no line.
    pub(super) fn new(key: impl Into<String>, value: Node) -> Self {
        Self { key: key.into(), line: 0, value }
    }
}

/// The spellings of null in YAML.
pub(super) fn is_null(text: &str) -> bool {
    matches!(text, "" | "~" | "null" | "Null" | "NULL")
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NodeVisitor)
    }
}

/// Takes any value, with all keys of an object, repeated ones too.
struct NodeVisitor;

impl<'de> Visitor<'de> for NodeVisitor {
    type Value = Node;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_str<E>(self, text: &str) -> Result<Node, E> {
        Ok(Node::text(text))
    }

    fn visit_bool<E>(self, is_true: bool) -> Result<Node, E> {
        Ok(Node::plain(is_true.to_string()))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Node, E> {
        Ok(Node::plain(number.to_string()))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Node, E> {
        Ok(Node::plain(number.to_string()))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Node, E> {
        Ok(Node::plain(number.to_string()))
    }

    fn visit_unit<E>(self) -> Result<Node, E> {
        Ok(Node::plain("null"))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<Node, A::Error> {
        let mut nodes = Vec::new();
        while let Some(node) = sequence.next_element()? {
            nodes.push(node);
        }
        Ok(Node::List(nodes))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Node, A::Error> {
        let mut entries = Vec::new();
        while let Some((key, value)) = map.next_entry::<String, _>()? {
            entries.push(Entry::new(key, value));
        }
        Ok(Node::Map(entries))
    }
}
