//! A header, read.

use jiff::Timestamp;

use super::message::{Link, Message, Parent};
use crate::tree::{Entry, Node, get};
use crate::yaml::{YamlError, mapping};

/// Reads the text between two `---`. An error's line is the one within the header.
pub(super) fn header(text: &str) -> Result<Message, YamlError> {
    let mut message = Message::default();
    for entry in mapping(text)? {
        match entry.key.as_str() {
            "parents" => message.parents = list(&entry.value, parent),
            "links" => message.links = list(&entry.value, link),
            "meta" => message.meta = pairs(&entry.value),
            key => match field(&mut message, key) {
                Some(field) => *field = single_value(&entry)?,
                None => message.extra.0.push(entry),
            },
        }
    }
    if message.msg_id.is_empty() && message.kind.is_empty() {
        let fault = "neither msg_id nor type is there".to_owned();
        return Err(YamlError { line: 1, fault });
    }
    Ok(message)
}

/// The field of a message that a key fills.
fn field<'a>(message: &'a mut Message, key: &str) -> Option<&'a mut String> {
    Some(match key {
        "msg_id" => &mut message.msg_id,
        "ts" => &mut message.ts,
        "type" => &mut message.kind,
        "project_id" => &mut message.project_id,
        "task_id" => &mut message.task_id,
        "run_id" => &mut message.run_id,
        "issue_id" => &mut message.issue_id,
        _ => return None,
    })
}

fn single_value(entry: &Entry) -> Result<String, YamlError> {
    let key = &entry.key;
    let Some(text) = entry.value.as_str() else {
        return Err(YamlError { line: entry.line, fault: format!("{key}: one value is expected") });
    };
    if key == "ts" && !text.is_empty() && text.parse::<Timestamp>().is_err() {
        let fault = format!("{key}: a time such as 2026-02-20T15:30:45Z is expected");
        return Err(YamlError { line: entry.line, fault });
    }
    Ok(text.to_owned())
}

/// A list of values; a value without a list is a list of one.
fn list<T>(node: &Node, read_value: fn(&Node) -> Option<T>) -> Vec<T> {
    match node {
        Node::List(nodes) => nodes.iter().filter_map(read_value).collect(),
        node => read_value(node).into_iter().collect(),
    }
}

/// An id alone, or a mapping with one.
fn parent(node: &Node) -> Option<Parent> {
    let Node::Map(entries) = node else {
        return node.as_str().filter(|id| !id.is_empty()).map(Parent::new);
    };
    let meta = get(entries, "meta").map(pairs).unwrap_or_default();
    let msg_id = text(entries, "msg_id");
    (!msg_id.is_empty()).then(|| Parent { msg_id, kind: text(entries, "kind"), meta })
}

fn link(node: &Node) -> Option<Link> {
    let Node::Map(entries) = node else {
        return node.as_str().map(|url| Link { url: url.to_owned(), ..Link::default() });
    };
    Some(Link {
        url: text(entries, "url"),
        label: text(entries, "label"),
        kind: text(entries, "kind"),
    })
}

fn text(entries: &[Entry], key: &str) -> String {
    get(entries, key).and_then(Node::as_str).unwrap_or_default().to_owned()
}

fn pairs(node: &Node) -> Vec<(String, String)> {
    let Node::Map(entries) = node else { return Vec::new() };
    entries
        .iter()
        .filter_map(|entry| Some((entry.key.clone(), entry.value.as_str()?.to_owned())))
        .collect()
}
