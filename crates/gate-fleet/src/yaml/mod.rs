//! The little YAML that run folders and buses hold. It is read as any YAML, and written
//! as yaml.v3 of Go writes it: so do the other programs that use these files.

mod read;
mod style;
#[cfg(test)]
mod tests;

use crate::tree::{Entry, Node};
use style::spelled;

pub use read::YamlError;
pub(super) use read::mapping;

/// Spaces that a block is indented by.
const STEP: usize = 4;

/// A whole document.
pub(super) fn text(entries: Vec<Entry>) -> String {
    block(&Node::Map(entries), 0).unwrap_or_default()
}

/// The lines of a value that stands below its key's line; `None` if it stands in that line.
fn block(node: &Node, indent: usize) -> Option<String> {
    let margin = " ".repeat(indent);
    let entry_text = |Entry { key, value, .. }: &Entry| {
        let key = spelled(key, true);
        // A block inside another begins at the next multiple of four.
        match block(value, STEP * (indent / STEP + 1)) {
            Some(block) => format!("{margin}{key}:\n{block}"),
            None => format!("{margin}{key}: {}\n", flat(value)),
        }
    };
    let element_text = |element: &Node| match block(element, indent + 2) {
        Some(block) => format!("{margin}- {}", block.trim_start_matches(' ')),
        None => format!("{margin}- {}\n", flat(element)),
    };
    match node {
        Node::Map(entries) if !entries.is_empty() => Some(entries.iter().map(entry_text).collect()),
        Node::List(nodes) if !nodes.is_empty() => Some(nodes.iter().map(element_text).collect()),
        _ => None,
    }
}

/// A value that stands in its key's line.
fn flat(node: &Node) -> String {
    match node {
        Node::Scalar(scalar) => spelled(&scalar.text, scalar.quoted),
        Node::List(_) => "[]".to_owned(),
        Node::Map(_) => "{}".to_owned(),
    }
}
