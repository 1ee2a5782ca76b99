//! The little YAML that run folders and buses hold: read as any YAML, written
//! as the programs write that these files are shared with.
//!
//! Scalars stay text, with a note of whether they were quoted: an id that looks
//! like a number must not become one.

mod read;
mod style;
#[cfg(test)]
mod tests;
mod write;

pub use read::YamlError;
pub(super) use read::mapping;
pub(super) use write::text;

/// A value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Node {
    /// Text, a number, a moment.
    Scalar(Scalar),
    /// A list.
    List(Vec<Node>),
    /// A mapping, in its order.
    Map(Vec<Entry>),
}

/// A scalar.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Scalar {
    /// Its text without quotes and escapes.
    pub(super) text: String,
    /// True if it was quoted, and so is text whatever it looks like.
    pub(super) quoted: bool,
}

/// A key with its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    /// The key.
    pub(super) key: String,
    /// The line it stands in, from 1; 0 if it was not read.
    pub(super) line: usize,
    /// The value.
    pub(super) value: Node,
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
            Self::Scalar(scalar) if !scalar.quoted && style::is_null(&scalar.text) => Some(""),
            Self::Scalar(scalar) => Some(&scalar.text),
            _ => None,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        match self {
            Self::Scalar(_) => self.as_str() == Some(""),
            Self::List(items) => items.is_empty(),
            Self::Map(entries) => entries.is_empty(),
        }
    }
}

impl Entry {
    /// An entry to be written.
    pub(super) fn new(key: impl Into<String>, value: Node) -> Self {
        Self { key: key.into(), line: 0, value }
    }
}
