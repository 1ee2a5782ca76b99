//! A handoff as a message between agents: A2A 0.3.0, whose `Message` has a `kind`,
//! a `messageId`, a `role` and `parts` of text, files or data.
//!
//! The whole handoff is the one data part, so that nothing of it is lost; the id of
//! its interaction stands in the message too, as `contextId`. A2A has no members
//! for what else the extension says.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::Read;
use super::form::{self, parse, path};
use super::model::Handoff;
use super::problem::{Problem, few};
use crate::tree::{Entry, Node, get};

/// The number of a digest's digits that are a message's id.
const ID: usize = 32;

/// The members of a message that are read. Its id and its role are its own.
const MEMBERS: [&str; 5] = ["kind", "messageId", "role", "parts", "contextId"];

/// Why a member is lost.
const BESIDE: &str = "this stands beside the handoff, which has no place for it";

pub(super) fn is_one(text: &str) -> bool {
    let entries = parse(text).unwrap_or_default();
    get(&entries, "parts").is_some()
        || (get(&entries, "kind").is_some() && get(&entries, "objective").is_none())
}

/// Writes a message, indented.
pub(super) fn write(handoff: &Handoff) -> String {
    let id = blake3::hash(handoff.to_json().as_bytes()).to_hex();
    let mut message = json!({
        "kind": "message",
        "messageId": format!("handoff-{}", &id[..ID]),
        "role": "agent",
        "parts": [{ "kind": "data", "data": handoff }],
    });
    let interaction = handoff.a2a.as_ref().map(|a2a| &a2a.interaction_id);
    if let Some(id) = interaction.filter(|id| !id.trim().is_empty()) {
        message["contextId"] = Value::String(id.clone());
    }
    format!("{message:#}\n")
}

/// Reads a message. What it holds beside the one data part is named: a handoff has
/// no place for it.
pub(super) fn read(text: &str) -> Read {
    let entries = match parse(text) {
        Ok(entries) => entries,
        Err(problem) => return Read::nothing(problem),
    };
    let mut problems = repeated(&entries, "");
    problems.extend(envelope(&entries));
    let context = text_of(&entries, "contextId");
    let mut beside = others(&entries, &MEMBERS, "");
    match data(&entries, &mut problems, &mut beside) {
        Ok(data) => {
            let mut read = form::handoff(data.to_vec(), problems);
            read.beside = beside;
            if let Some(context) = context {
                adopt(&mut read, context);
            }
            read.beside = few(read.beside);
            read
        }
        Err(problem) => {
            problems.push(problem);
            Read { problems, ..Read::default() }
        }
    }
}

/// The members of a table that are none of these.
fn others(entries: &[Entry], names: &[&str], at: &str) -> Vec<Problem> {
    let others = entries.iter().filter(|entry| !names.contains(&entry.key.as_str()));
    others.map(|entry| Problem::new(path(at, &entry.key), BESIDE)).collect()
}

/// Problems with the members of a message beside its parts.
fn envelope(entries: &[Entry]) -> impl Iterator<Item = Problem> {
    let [kind, id, role, context] =
        ["kind", "messageId", "role", "contextId"].map(|key| text_of(entries, key));
    let is_blank = |id: Option<&str>| id.is_none_or(|id| id.trim().is_empty());
    let has_context = get(entries, "contextId").is_some();
    let faults = [
        ("kind", kind != Some("message"), "the string message is expected"),
        ("messageId", is_blank(id), "the message's id is expected"),
        ("role", !matches!(role, Some("user" | "agent")), "user or agent is expected"),
        ("contextId", has_context && is_blank(context), "the interaction's id is expected"),
    ];
    let faults = faults.into_iter().filter(|(_, is_wrong, _)| *is_wrong);
    faults.map(|(key, _, expected)| Problem::new(key, expected))
}

/// The members of the one data part.
fn data<'e>(
    entries: &'e [Entry],
    problems: &mut Vec<Problem>,
    beside: &mut Vec<Problem>,
) -> Result<&'e [Entry], Problem> {
    let Some(Node::List(parts)) = get(entries, "parts") else {
        return Err(Problem::new("parts", "a list of parts is expected"));
    };
    let mut handoff = None;
    for (at, part) in parts.iter().enumerate() {
        let field = format!("parts[{at}]");
        let Node::Map(part) = part else {
            return Err(Problem::new(field, "an object is expected"));
        };
        problems.extend(repeated(part, &field));
        match (text_of(part, "kind"), get(part, "data")) {
            (Some("data"), _) if handoff.is_some() => {
                return Err(Problem::new(field, "one data part is expected, and this is another"));
            }
            (Some("data"), Some(Node::Map(data))) => {
                beside.extend(others(part, &["kind", "data"], &field));
                handoff = Some(data.as_slice());
            }
            (Some("data"), _) => {
                return Err(Problem::new(path(&field, "data"), "a handoff is expected"));
            }
            (Some("text" | "file"), _) => beside.push(Problem::new(field, BESIDE)),
            _ => {
                let kinds = "text, file or data is expected";
                return Err(Problem::new(path(&field, "kind"), kinds));
            }
        }
    }
    handoff.ok_or_else(|| Problem::new("parts", "one data part is expected, and there is none"))
}

/// Compares the message's interaction with the handoff's, which may leave it out.
fn adopt(read: &mut Read, context: &str) {
    let Some(a2a) = read.handoff.as_mut().and_then(|handoff| handoff.a2a.as_mut()) else {
        return read.beside.push(Problem::new("contextId", BESIDE));
    };
    if a2a.interaction_id.trim().is_empty() {
        context.clone_into(&mut a2a.interaction_id);
    } else if a2a.interaction_id != context {
        let message = format!(
            "the message says `{}`, and its handoff another interaction_id",
            gate_core::text::brief(context, 60)
        );
        read.problems.push(Problem::new("contextId", message));
    }
}

fn text_of<'e>(entries: &'e [Entry], key: &str) -> Option<&'e str> {
    get(entries, key).and_then(Node::quoted)
}

/// The keys that stand twice in a table.
fn repeated(entries: &[Entry], at: &str) -> Vec<Problem> {
    let mut seen = BTreeSet::new();
    let twice = entries.iter().filter(|entry| !seen.insert(entry.key.as_str()));
    let message = "this key stands here twice";
    few(twice.map(|entry| Problem::new(path(at, &entry.key), message)).collect())
}
