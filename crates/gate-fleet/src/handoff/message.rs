//! A handoff as a message between agents: A2A 0.3.0, whose `Message` has a `kind`,
//! a `messageId`, a `role` and `parts` of text, files or data.
//!
//! The whole handoff is the one data part, so that nothing of it is lost; the id of
//! its interaction stands in the message too, as `contextId`. A2A has no members
//! for the other fields of the extension.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::ParsedHandoff;
use super::form::{self, key_path, parse};
use super::model::Handoff;
use super::problem::{Problem, limited};
use crate::tree::{Entry, Node, get};

/// The digits of a digest that a message's id has.
const ID_DIGITS: usize = 32;

/// The members of a message that are read. Its id and its role are its own.
const MEMBERS: [&str; 5] = ["kind", "messageId", "role", "parts", "contextId"];

/// The reason that a member is lost.
const LOST: &str = "this stands beside the handoff, which has no place for it";

pub(super) fn is_message(text: &str) -> bool {
    let entries = parse(text).unwrap_or_default();
    get(&entries, "parts").is_some()
        || (get(&entries, "kind").is_some() && get(&entries, "objective").is_none())
}

/// Writes a message, indented.
pub(super) fn write(handoff: &Handoff) -> String {
    let digest = blake3::hash(handoff.to_json().as_bytes()).to_hex();
    let mut message = json!({
        "kind": "message",
        "messageId": format!("handoff-{}", &digest[..ID_DIGITS]),
        "role": "agent",
        "parts": [{ "kind": "data", "data": handoff }],
    });
    if let Some(a2a) = &handoff.a2a
        && !a2a.interaction_id.trim().is_empty()
    {
        message["contextId"] = Value::String(a2a.interaction_id.clone());
    }
    format!("{message:#}\n")
}

/// Reads a message. Its parts beside the one data part are named: a handoff has no place
/// for them.
pub(super) fn read(text: &str) -> ParsedHandoff {
    let entries = match parse(text) {
        Ok(entries) => entries,
        Err(problem) => return ParsedHandoff::unreadable(problem),
    };
    let mut problems = repeated_keys(&entries, "");
    problems.extend(envelope(&entries));
    let context = text_of(&entries, "contextId");
    let mut lost_members = other_members(&entries, &MEMBERS, "");
    match data(&entries, &mut problems, &mut lost_members) {
        Ok(data) => {
            let mut parsed = form::handoff(data.to_vec(), problems);
            parsed.lost_members = lost_members;
            if let Some(context) = context {
                adopt_context(&mut parsed, context);
            }
            parsed.lost_members = limited(parsed.lost_members);
            parsed
        }
        Err(problem) => {
            problems.push(problem);
            ParsedHandoff { problems, ..ParsedHandoff::default() }
        }
    }
}

/// The members of a table that have other keys than these.
fn other_members(entries: &[Entry], keys: &[&str], table_path: &str) -> Vec<Problem> {
    let others = entries.iter().filter(|entry| !keys.contains(&entry.key.as_str()));
    others.map(|entry| Problem::new(key_path(table_path, &entry.key), LOST)).collect()
}

/// Problems with the members of a message beside its parts.
fn envelope(entries: &[Entry]) -> impl Iterator<Item = Problem> {
    let [kind, id, role, context] =
        ["kind", "messageId", "role", "contextId"].map(|key| text_of(entries, key));
    let is_blank = |id: Option<&str>| id.is_none_or(|id| id.trim().is_empty());
    let has_context = get(entries, "contextId").is_some();
    let fault = |is_wrong: bool, key, expected| is_wrong.then(|| Problem::new(key, expected));
    let faults = [
        fault(kind != Some("message"), "kind", "the string message is expected"),
        fault(is_blank(id), "messageId", "the message's id is expected"),
        fault(!matches!(role, Some("user" | "agent")), "role", "user or agent is expected"),
        fault(has_context && is_blank(context), "contextId", "the interaction's id is expected"),
    ];
    faults.into_iter().flatten()
}

/// The members of the one data part.
fn data<'e>(
    entries: &'e [Entry],
    problems: &mut Vec<Problem>,
    lost_members: &mut Vec<Problem>,
) -> Result<&'e [Entry], Problem> {
    let Some(Node::List(parts)) = get(entries, "parts") else {
        return Err(Problem::new("parts", "a list of parts is expected"));
    };
    let mut handoff = None;
    for (at, part) in parts.iter().enumerate() {
        let part_path = format!("parts[{at}]");
        let Node::Map(part) = part else {
            return Err(Problem::new(part_path, "an object is expected"));
        };
        problems.extend(repeated_keys(part, &part_path));
        match (text_of(part, "kind"), get(part, "data")) {
            (Some("data"), _) if handoff.is_some() => {
                return Err(Problem::new(
                    part_path,
                    "one data part is expected, and this is another",
                ));
            }
            (Some("data"), Some(Node::Map(data))) => {
                lost_members.extend(other_members(part, &["kind", "data"], &part_path));
                handoff = Some(data.as_slice());
            }
            (Some("data"), _) => {
                return Err(Problem::new(key_path(&part_path, "data"), "a handoff is expected"));
            }
            (Some("text" | "file"), _) => lost_members.push(Problem::new(part_path, LOST)),
            _ => {
                let kinds = "text, file or data is expected";
                return Err(Problem::new(key_path(&part_path, "kind"), kinds));
            }
        }
    }
    handoff.ok_or_else(|| Problem::new("parts", "one data part is expected, and there is none"))
}

/// Compares the message's interaction with the handoff's, which may leave it out.
fn adopt_context(parsed: &mut ParsedHandoff, context: &str) {
    let Some(a2a) = parsed.handoff.as_mut().and_then(|handoff| handoff.a2a.as_mut()) else {
        return parsed.lost_members.push(Problem::new("contextId", LOST));
    };
    if a2a.interaction_id.trim().is_empty() {
        context.clone_into(&mut a2a.interaction_id);
    } else if a2a.interaction_id != context {
        let message = format!(
            "the message says `{}`, and its handoff another interaction_id",
            gate_core::text::brief(context, 60)
        );
        parsed.problems.push(Problem::new("contextId", message));
    }
}

fn text_of<'e>(entries: &'e [Entry], key: &str) -> Option<&'e str> {
    get(entries, key).and_then(Node::quoted)
}

/// The keys that stand twice in a table.
fn repeated_keys(entries: &[Entry], table_path: &str) -> Vec<Problem> {
    let mut keys = BTreeSet::new();
    let repeated = entries.iter().filter(|entry| !keys.insert(entry.key.as_str()));
    let message = "this key stands here twice";
    limited(repeated.map(|entry| Problem::new(key_path(table_path, &entry.key), message)).collect())
}
