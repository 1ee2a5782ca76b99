//! The little YAML that run folders and buses hold: read as any YAML, written
//! as yaml.v3 of Go writes it, as the programs do that these files are shared with.

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

/// The lines of a value that does not stand in its key's line; None if it does.
fn block(node: &Node, indent: usize) -> Option<String> {
    let pad = " ".repeat(indent);
    let entry = |Entry { key, value, .. }: &Entry| {
        let key = spelled(key, true);
        // A block inside another begins at the next multiple of four.
        match block(value, STEP * (indent / STEP + 1)) {
            Some(block) => format!("{pad}{key}:\n{block}"),
            None => format!("{pad}{key}: {}\n", flat(value)),
        }
    };
    let item = |item: &Node| match block(item, indent + 2) {
        Some(block) => format!("{pad}- {}", block.trim_start_matches(' ')),
        None => format!("{pad}- {}\n", flat(item)),
    };
    match node {
        Node::Map(entries) if !entries.is_empty() => Some(entries.iter().map(entry).collect()),
        Node::List(items) if !items.is_empty() => Some(items.iter().map(item).collect()),
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
