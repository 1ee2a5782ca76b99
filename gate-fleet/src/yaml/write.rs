//! From nodes to YAML: blocks, indented by four, as yaml.v3 of Go writes them.

use super::style::spelled;
use super::{Entry, Node};

/// Spaces that a block is indented by.
const STEP: usize = 4;

/// A whole document.
pub(crate) fn text(entries: &[Entry]) -> String {
    let mut out = String::new();
    entries.iter().for_each(|member| entry(&mut out, member, 0));
    out
}

/// One key with its value, with its line break.
fn entry(out: &mut String, entry: &Entry, indent: usize) {
    pad(out, indent);
    out.push_str(&spelled(&entry.key, true));
    out.push(':');
    value(out, &entry.value, indent);
}

/// A value behind its key.
fn value(out: &mut String, node: &Node, indent: usize) {
    let inner = next(indent);
    match node {
        Node::List(items) if !items.is_empty() => {
            out.push('\n');
            items.iter().for_each(|element| item(out, element, inner));
        }
        Node::Map(entries) if !entries.is_empty() => {
            out.push('\n');
            entries.iter().for_each(|member| entry(out, member, inner));
        }
        flat => line(out, flat),
    }
}

/// An item of a list, with its dash.
fn item(out: &mut String, node: &Node, indent: usize) {
    pad(out, indent);
    out.push('-');
    let inner = indent + 2;
    match node {
        Node::Map(entries) if !entries.is_empty() => {
            let mut block = String::new();
            entries.iter().for_each(|member| entry(&mut block, member, inner));
            out.push(' ');
            out.push_str(block.trim_start_matches(' '));
        }
        Node::List(items) if !items.is_empty() => {
            let mut block = String::new();
            items.iter().for_each(|element| item(&mut block, element, inner));
            out.push(' ');
            out.push_str(block.trim_start_matches(' '));
        }
        flat => line(out, flat),
    }
}

/// A value that stands in its key's line.
fn line(out: &mut String, node: &Node) {
    out.push(' ');
    match node {
        Node::Scalar(scalar) => out.push_str(&spelled(&scalar.text, scalar.quoted)),
        Node::List(_) => out.push_str("[]"),
        Node::Map(_) => out.push_str("{}"),
    }
    out.push('\n');
}

/// The indentation of a block inside another: the next multiple of four.
fn next(indent: usize) -> usize {
    STEP * ((indent + STEP) / STEP)
}

fn pad(out: &mut String, indent: usize) {
    out.extend(std::iter::repeat_n(' ', indent));
}
