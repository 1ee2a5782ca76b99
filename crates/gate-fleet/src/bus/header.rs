//! A header, read.

use jiff::Timestamp;

use super::message::{Link, Message, Parent};
use crate::tree::{Entry, Node, get};
use crate::yaml::mapping;

/// Reads what stands between two `---`. The error is the line within the header, and the fault in
/// words.
pub(super) fn header(text: &str) -> Result<Message, (usize, String)> {
    let entries = mapping(text).map_err(|error| (error.line, error.what))?;
    let mut message = Message::default();
    for entry in entries {
        take(&mut message, entry)?;
    }
    if message.msg_id.is_empty() && message.kind.is_empty() {
        return Err((1, "neither msg_id nor type is there".to_owned()));
    }
    Ok(message)
}

fn take(message: &mut Message, entry: Entry) -> Result<(), (usize, String)> {
    match entry.key.as_str() {
        "parents" => message.parents = list(&entry.value, parent),
        "links" => message.links = list(&entry.value, link),
        "meta" => message.meta = pairs(&entry.value),
        key => match place(message, key) {
            Some(to) => *to = one(&entry)?,
            None => message.extra.0.push(entry),
        },
    }
    Ok(())
}

/// The field of a message that a key fills.
fn place<'a>(message: &'a mut Message, key: &str) -> Option<&'a mut String> {
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

fn one(entry: &Entry) -> Result<String, (usize, String)> {
    let key = &entry.key;
    let Some(text) = entry.value.as_str() else {
        return Err((entry.line, format!("{key}: one value is expected")));
    };
    if key == "ts" && !text.is_empty() && text.parse::<Timestamp>().is_err() {
        let message = format!("{key}: a time such as 2026-02-20T15:30:45Z is expected");
        return Err((entry.line, message));
    }
    Ok(text.to_owned())
}

fn list<T>(node: &Node, item: fn(&Node) -> Option<T>) -> Vec<T> {
    match node {
        Node::List(items) => items.iter().filter_map(item).collect(),
        one => item(one).into_iter().collect(),
    }
}

/// An id alone, or a mapping with one.
fn parent(node: &Node) -> Option<Parent> {
    let Node::Map(entries) = node else {
        return node.as_str().filter(|id| !id.is_empty()).map(Parent::new);
    };
    let meta = get(entries, "meta").map(pairs).unwrap_or_default();
    let msg_id = word(entries, "msg_id");
    Some(Parent { msg_id, kind: word(entries, "kind"), meta })
        .filter(|parent| !parent.msg_id.is_empty())
}

fn link(node: &Node) -> Option<Link> {
    let Node::Map(entries) = node else {
        return node.as_str().map(|url| Link { url: url.to_owned(), ..Link::default() });
    };
    Some(Link {
        url: word(entries, "url"),
        label: word(entries, "label"),
        kind: word(entries, "kind"),
    })
}

fn word(entries: &[Entry], key: &str) -> String {
    get(entries, key).and_then(Node::as_str).unwrap_or_default().to_owned()
}

fn pairs(node: &Node) -> Vec<(String, String)> {
    let Node::Map(entries) = node else { return Vec::new() };
    entries
        .iter()
        .filter_map(|entry| Some((entry.key.clone(), entry.value.as_str()?.to_owned())))
        .collect()
}
