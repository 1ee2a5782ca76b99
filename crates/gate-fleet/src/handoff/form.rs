//! The form of a handoff, however it is written: its keys, and the types of
//! their values.

use std::sync::LazyLock;

use serde_json::{Map, Value, json};

use super::model::Handoff;
use super::problem::{Problem, limited};
use super::{LONGEST_TEXT, ParsedHandoff};
use crate::tree::{Entry, Node};

/// The schema of a handoff.
#[expect(clippy::expect_used, reason = "a test derives the schema and compares")]
pub(super) static SCHEMA: LazyLock<Value> =
    LazyLock::new(|| serde_json::from_str(gate_schemas::HANDOFF).expect("JSON"));

/// The schema of a key's value; `None` if there is no such key.
pub(super) fn field<'s>(schema: &'s Value, key: &str) -> Option<&'s Value> {
    schema["properties"].get(key).map(resolved)
}

/// The schema of a list's entries.
pub(super) fn element_schema(schema: &Value) -> &Value {
    resolved(&schema["items"])
}

/// A schema, or the one that it refers to.
fn resolved(schema: &Value) -> &Value {
    match schema["$ref"].as_str().and_then(|path| path.strip_prefix("#/$defs/")) {
        Some(name) => &SCHEMA["$defs"][name],
        None => schema,
    }
}

/// The path of a key in the table at a path.
pub(super) fn key_path(table_path: &str, key: &str) -> String {
    if table_path.is_empty() { key.to_owned() } else { format!("{table_path}.{key}") }
}

/// Reads a handoff in JSON.
pub(super) fn read(text: &str) -> ParsedHandoff {
    match parse(text) {
        Ok(entries) => handoff(entries, Vec::new()),
        Err(problem) => ParsedHandoff::unreadable(problem),
    }
}

/// The entries of a text that is one JSON object.
pub(super) fn parse(text: &str) -> Result<Vec<Entry>, Problem> {
    // The blanks stay, so that lines are counted from the beginning.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    match serde_json::from_str(text) {
        Ok(Node::Map(entries)) => Ok(entries),
        Ok(node) => {
            let message = format!("an object is expected, and this is {}", node.type_name());
            Err(Problem::new("", message))
        }
        Err(_) if text.trim_start().is_empty() => {
            Err(Problem::new("", "it is empty: a JSON object is expected"))
        }
        Err(error) => Err(Problem::new("", format!("no JSON: {error}"))),
    }
}

/// The handoff in a table, and the parts of the table that do not have a handoff's form.
pub(super) fn handoff(entries: Vec<Entry>, mut problems: Vec<Problem>) -> ParsedHandoff {
    let table = sift_table(entries, &SCHEMA, "", &mut problems);
    problems = limited(problems);
    match serde_json::from_value::<Handoff>(Value::Object(table)) {
        Ok(handoff) => {
            ParsedHandoff { handoff: Some(handoff), problems, ..ParsedHandoff::default() }
        }
        Err(error) => {
            problems.push(Problem::new("", error.to_string()));
            ParsedHandoff { problems, ..ParsedHandoff::default() }
        }
    }
}

/// The part of a value that fits its schema. Other parts are reported and left out.
fn sift(node: Node, schema: &Value, path: &str, problems: &mut Vec<Problem>) -> Option<Value> {
    match (node, schema["type"].as_str()) {
        (Node::Scalar(scalar), Some("string")) if scalar.quoted => {
            let length = scalar.text.len();
            if length > LONGEST_TEXT {
                let message =
                    format!("it is {length} bytes long, and at most {LONGEST_TEXT} may be");
                problems.push(Problem::new(path, message));
            }
            Some(Value::String(scalar.text))
        }
        (Node::List(nodes), Some("array")) => {
            let schema = element_schema(schema);
            let elements = nodes.into_iter().enumerate().map(|(index, node)| {
                let element = sift(node, schema, &format!("{path}[{index}]"), problems);
                // An element keeps its number, whatever the one before it is.
                element.unwrap_or_else(|| if is_text(schema) { json!("") } else { json!({}) })
            });
            Some(Value::Array(elements.collect()))
        }
        (Node::Map(entries), Some("object")) => {
            Some(Value::Object(sift_table(entries, schema, path, problems)))
        }
        (node, expected) => {
            let expected = match expected {
                Some("string") => "a string",
                Some("array") if is_text(element_schema(schema)) => "a list of strings",
                Some("array") => "a list of objects",
                _ => "an object",
            };
            let message = format!("{expected} is expected, and this is {}", node.type_name());
            problems.push(Problem::new(path, message));
            None
        }
    }
}

fn is_text(schema: &Value) -> bool {
    schema["type"] == "string"
}

fn sift_table(
    entries: Vec<Entry>,
    schema: &Value,
    table_path: &str,
    problems: &mut Vec<Problem>,
) -> Map<String, Value> {
    let mut table = Map::new();
    let mut keys = Vec::new();
    for Entry { key, value, line } in entries {
        let path = key_path(table_path, &key);
        let place = if line > 0 { format!("line {line}: ") } else { String::new() };
        let Some(field) = field(schema, &key) else {
            let advice = spelling_advice(&key, schema);
            problems.push(Problem::new(path, format!("{place}there is no such key{advice}")));
            continue;
        };
        if keys.contains(&key) {
            problems.push(Problem::new(path, format!("{place}this key stands here twice")));
            continue;
        }
        if let Some(value) = sift(value, field, &path, problems) {
            table.insert(key.clone(), value);
        }
        keys.push(key);
    }
    table
}

/// Advice about a key that may be a slip.
fn spelling_advice(key: &str, schema: &Value) -> String {
    let fields = schema["properties"].as_object().into_iter().flatten();
    let fields: Vec<_> = fields.map(|(field, _)| field.as_str()).collect();
    let nearest = fields.iter().map(|field| (strsim::osa_distance(field, key), field)).min();
    match nearest {
        Some((distance, field)) if distance <= 3 && distance < field.len() => {
            format!("; is it `{field}`?")
        }
        _ => format!("; known are {}", fields.join(", ")),
    }
}
