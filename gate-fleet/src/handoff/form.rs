//! The form of a handoff, however it is written: which keys there are, and of
//! what type their values are.

use std::sync::LazyLock;

use serde_json::{Map, Value};

use super::model::Handoff;
use super::problem::{Problem, few};
use super::{LONGEST_TEXT, Read};

/// A value as it was read, before its place is checked.
pub(super) enum Node {
    /// A text.
    Text(String),
    /// A list.
    List(Vec<Node>),
    /// Keys with their values. A key may stand in it twice.
    Table(Vec<Entry>),
    /// Something that no field is, in words.
    Other(&'static str),
}

/// A key with its value.
pub(super) struct Entry {
    pub(super) key: String,
    pub(super) value: Node,
    /// Its line, from 1, if lines are known.
    pub(super) line: Option<usize>,
}

/// Expected type of a value.
pub(super) enum Shape {
    /// A text.
    Text,
    /// A list of such values.
    List(Box<Shape>),
    /// Keys, and these alone.
    Table(Vec<Field>),
}

/// A key that is known.
pub(super) struct Field {
    pub(super) key: String,
    pub(super) shape: Shape,
}

/// The fields of a handoff, by its schema.
#[expect(clippy::expect_used, reason = "a test derives the schema and compares")]
static HANDOFF: LazyLock<Vec<Field>> = LazyLock::new(|| {
    let schema: Value =
        serde_json::from_str(include_str!("../../schemas/gate.handoff.v1.json")).expect("JSON");
    fields(&schema, &schema["$defs"])
});

/// The fields of a handoff.
pub(super) fn handoff_fields() -> &'static [Field] {
    &HANDOFF
}

/// The fields of the table, or of each table of the list, that stands under a key.
pub(super) fn fields_within(fields: &'static [Field], key: &str) -> &'static [Field] {
    let mut shape = field(fields, key).map(|field| &field.shape);
    while let Some(Shape::List(inner)) = shape {
        shape = Some(inner);
    }
    match shape {
        Some(Shape::Table(inner)) => inner,
        _ => &[],
    }
}

/// The field of this name.
pub(super) fn field<'f>(fields: &'f [Field], key: &str) -> Option<&'f Field> {
    fields.iter().find(|field| field.key == key)
}

fn fields(schema: &Value, definitions: &Value) -> Vec<Field> {
    let properties = schema["properties"].as_object().into_iter().flatten();
    let field = |(key, value): (&String, _)| {
        let shape = shape(value, definitions);
        Field { key: key.clone(), shape }
    };
    properties.map(field).collect()
}

fn shape(schema: &Value, definitions: &Value) -> Shape {
    if let Some(path) = schema["$ref"].as_str() {
        let name = path.trim_start_matches("#/$defs/");
        return shape(&definitions[name], definitions);
    }
    match schema["type"].as_str() {
        Some("array") => Shape::List(Box::new(shape(&schema["items"], definitions))),
        Some("object") => Shape::Table(fields(schema, definitions)),
        _ => Shape::Text,
    }
}

/// The handoff in a table, and the parts of the table that do not have a handoff's form.
pub(super) fn handoff(entries: Vec<Entry>, mut problems: Vec<Problem>) -> Read {
    let value = Value::Object(sift_table(entries, &HANDOFF, "", &mut problems));
    problems = few(problems);
    match serde_json::from_value::<Handoff>(value) {
        Ok(handoff) => Read { handoff: Some(handoff), problems, ..Read::default() },
        Err(error) => {
            problems.push(Problem::new("", error.to_string()));
            Read { problems, ..Read::default() }
        }
    }
}

/// The part of a value that fits its shape. The rest is reported and left out.
fn sift(node: Node, shape: &Shape, at: &str, problems: &mut Vec<Problem>) -> Option<Value> {
    match (node, shape) {
        (Node::Text(text), Shape::Text) => {
            if text.len() > LONGEST_TEXT {
                let length = text.len();
                let message =
                    format!("it is {length} bytes long, and at most {LONGEST_TEXT} may be");
                problems.push(Problem::new(at, message));
            }
            Some(Value::String(text))
        }
        (Node::List(nodes), Shape::List(inner)) => {
            let nodes = nodes.into_iter().enumerate();
            let kept = nodes.map(|(index, node)| {
                let kept = sift(node, inner, &format!("{at}[{index}]"), problems);
                // An entry keeps its number, whatever the one before it is.
                kept.unwrap_or_else(|| inner.nothing())
            });
            Some(Value::Array(kept.collect()))
        }
        (Node::Table(entries), Shape::Table(fields)) => {
            Some(Value::Object(sift_table(entries, fields, at, problems)))
        }
        (node, shape) => {
            let message = format!("{} is expected, and this is {}", shape.name(), node.name());
            problems.push(Problem::new(at, message));
            None
        }
    }
}

fn sift_table(
    entries: Vec<Entry>,
    fields: &[Field],
    at: &str,
    problems: &mut Vec<Problem>,
) -> Map<String, Value> {
    let mut table = Map::new();
    let mut seen = Vec::new();
    for Entry { key, value, line } in entries {
        let path = if at.is_empty() { key.clone() } else { format!("{at}.{key}") };
        let place = line.map(|line| format!("line {line}: ")).unwrap_or_default();
        let Some(field) = field(fields, &key) else {
            let advice = nearest(&key, fields);
            problems.push(Problem::new(path, format!("{place}there is no such key{advice}")));
            continue;
        };
        if seen.contains(&&field.key) {
            problems.push(Problem::new(path, format!("{place}this key stands here twice")));
            continue;
        }
        seen.push(&field.key);
        if let Some(value) = sift(value, &field.shape, &path, problems) {
            table.insert(key, value);
        }
    }
    table
}

/// Advice about a key that may be a slip.
fn nearest(key: &str, fields: &[Field]) -> String {
    let near = fields.iter().map(|field| (strsim::osa_distance(&field.key, key), &field.key)).min();
    match near {
        Some((distance, known)) if distance <= 3 && distance < known.len() => {
            format!("; is it `{known}`?")
        }
        _ => {
            let known: Vec<_> = fields.iter().map(|field| field.key.as_str()).collect();
            format!("; known are {}", known.join(", "))
        }
    }
}

impl Shape {
    fn name(&self) -> &'static str {
        match self {
            Self::Text => "a string",
            Self::List(inner) if matches!(**inner, Self::Text) => "a list of strings",
            Self::List(_) => "a list of objects",
            Self::Table(_) => "an object",
        }
    }

    fn nothing(&self) -> Value {
        match self {
            Self::Text => Value::String(String::new()),
            Self::List(_) => Value::Array(Vec::new()),
            Self::Table(_) => Value::Object(Map::new()),
        }
    }
}

impl Node {
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Text(_) => "a string",
            Self::List(_) => "a list",
            Self::Table(_) => "an object",
            Self::Other(name) => name,
        }
    }
}
