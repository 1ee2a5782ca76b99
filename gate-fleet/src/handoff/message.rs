//! A handoff as a message between agents: A2A 0.3.0, whose `Message` has a `kind`,
//! a `messageId`, a `role` and `parts` of text, files or data.
//!
//! The whole handoff is the one data part, so that nothing of it is lost; the id of
//! its interaction stands in the message too, as `contextId`. A2A has no members
//! for what else the extension says.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::Read;
use super::form::{self, Entry, Node};
use super::json;
use super::model::Handoff;
use super::problem::{Problem, few};

/// The number of a digest's digits that are a message's id.
const ID: usize = 32;

/// The members of a message that are read. Its id and its role are its own.
const MEMBERS: [&str; 5] = ["kind", "messageId", "role", "parts", "contextId"];

/// Why a member is lost.
const BESIDE: &str = "this stands beside the handoff, which has no place for it";

pub(super) fn is_one(text: &str) -> bool {
    let entries = json::parse(text).unwrap_or_default();
    get(&entries, "parts").is_some()
        || (get(&entries, "kind").is_some() && get(&entries, "objective").is_none())
}

/// Writes a message, indented.
pub(super) fn write(handoff: &Handoff) -> String {
    let id = blake3::hash(json::write(handoff).as_bytes()).to_hex();
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
    let entries = match json::parse(text) {
        Ok(entries) => entries,
        Err(problem) => return Read::nothing(problem),
    };
    let mut problems = repeated(&entries, "");
    problems.extend(envelope(&entries));
    let context = text_of(&entries, "contextId").map(str::to_owned);
    let mut beside = others(&entries, &MEMBERS, "");
    match data(entries, &mut problems, &mut beside) {
        Ok(data) => {
            let mut read = Read { beside, ..form::handoff(data, problems) };
            adopt(&mut read, context);
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
fn others(entries: &[Entry], known: &[&str], at: &str) -> Vec<Problem> {
    let dot = if at.is_empty() { "" } else { "." };
    let others = entries.iter().filter(|entry| !known.contains(&entry.key.as_str()));
    others.map(|entry| Problem::new(format!("{at}{dot}{}", entry.key), BESIDE)).collect()
}

/// Problems with the members of a message beside its parts.
fn envelope(entries: &[Entry]) -> Vec<Problem> {
    let mut problems = Vec::new();
    if text_of(entries, "kind") != Some("message") {
        problems.push(Problem::new("kind", "the string message is expected"));
    }
    if text_of(entries, "messageId").is_none_or(|id| id.trim().is_empty()) {
        problems.push(Problem::new("messageId", "the message's id is expected"));
    }
    if !matches!(text_of(entries, "role"), Some("user" | "agent")) {
        problems.push(Problem::new("role", "user or agent is expected"));
    }
    if get(entries, "contextId").is_some()
        && text_of(entries, "contextId").is_none_or(|id| id.trim().is_empty())
    {
        problems.push(Problem::new("contextId", "the interaction's id is expected"));
    }
    problems
}

/// The members of the one data part.
fn data(
    entries: Vec<Entry>,
    problems: &mut Vec<Problem>,
    beside: &mut Vec<Problem>,
) -> Result<Vec<Entry>, Problem> {
    let parts = entries.into_iter().find(|entry| entry.key == "parts").map(|entry| entry.value);
    let Some(Node::List(parts)) = parts else {
        return Err(Problem::new("parts", "a list of parts is expected"));
    };
    let mut found = None;
    for (at, part) in parts.into_iter().enumerate() {
        let field = format!("parts[{at}]");
        let Node::Table(part) = part else {
            return Err(Problem::new(field, "an object is expected"));
        };
        problems.extend(repeated(&part, &field));
        match text_of(&part, "kind") {
            Some("data") if found.is_some() => {
                return Err(Problem::new(field, "one data part is expected, and this is another"));
            }
            Some("data") => {
                beside.extend(others(&part, &["kind", "data"], &field));
                let data = part.into_iter().find(|entry| entry.key == "data");
                let Some(Node::Table(data)) = data.map(|entry| entry.value) else {
                    return Err(Problem::new(format!("{field}.data"), "a handoff is expected"));
                };
                found = Some(data);
            }
            Some("text" | "file") => beside.push(Problem::new(field, BESIDE)),
            _ => {
                let kinds = "text, file or data is expected";
                return Err(Problem::new(format!("{field}.kind"), kinds));
            }
        }
    }
    found.ok_or_else(|| Problem::new("parts", "one data part is expected, and there is none"))
}

/// Compares the message's interaction with the handoff's, which may leave it out.
fn adopt(read: &mut Read, context: Option<String>) {
    let Some(context) = context else { return };
    let Some(a2a) = read.handoff.as_mut().and_then(|handoff| handoff.a2a.as_mut()) else {
        return read.beside.push(Problem::new("contextId", BESIDE));
    };
    if a2a.interaction_id.trim().is_empty() {
        a2a.interaction_id = context;
    } else if a2a.interaction_id != context {
        let message = format!(
            "the message says `{}`, and its handoff another interaction_id",
            gate_core::text::brief(&context, 60)
        );
        read.problems.push(Problem::new("contextId", message));
    }
}

fn get<'e>(entries: &'e [Entry], key: &str) -> Option<&'e Node> {
    entries.iter().find(|entry| entry.key == key).map(|entry| &entry.value)
}

fn text_of<'e>(entries: &'e [Entry], key: &str) -> Option<&'e str> {
    match get(entries, key)? {
        Node::Text(text) => Some(text),
        _ => None,
    }
}

/// The keys that stand twice in a table.
fn repeated(entries: &[Entry], at: &str) -> Vec<Problem> {
    let dot = if at.is_empty() { "" } else { "." };
    let mut seen = BTreeSet::new();
    let mut problems = Vec::new();
    for Entry { key, .. } in entries {
        if !seen.insert(key.as_str()) {
            problems.push(Problem::new(format!("{at}{dot}{key}"), "this key stands here twice"));
        }
    }
    few(problems)
}
