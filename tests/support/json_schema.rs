//! A JSON value held against its JSON Schema.

use serde_json::{Map, Value};

use super::keys;

/// The value is as the schema says, and has every member that it describes at
/// the top.
#[track_caller]
pub(crate) fn holds(schema: &Value, value: &Value) {
    holds_but_for(schema, value);
    if schema["required"].is_array() {
        assert_eq!(keys(value), keys(&schema["properties"]));
    }
}

/// The value is as the schema says; what may be left out, may be.
#[track_caller]
pub(crate) fn holds_but_for(schema: &Value, value: &Value) {
    let flaws = flaws(schema, schema, value, "");
    assert!(flaws.is_empty(), "{flaws:#?}\n{value:#}");
}

/// Where a value is not as a schema says: types, null, required and unknown
/// members. Numbers' bounds are not looked at.
pub(crate) fn flaws(root: &Value, schema: &Value, value: &Value, at: &str) -> Vec<String> {
    if let Some(name) = schema["$ref"].as_str() {
        let target = root.pointer(name.trim_start_matches('#')).expect(name);
        return flaws(root, target, value, at);
    }
    for choice in ["anyOf", "oneOf"] {
        if let Some(choices) = schema[choice].as_array() {
            let fits = |one: &Value| flaws(root, one, value, at).is_empty();
            let none = !choices.iter().any(fits);
            return none
                .then(|| format!("{at}: {value} is none of {choice}"))
                .into_iter()
                .collect();
        }
    }
    let wrong = !is_type(&schema["type"], value)
        || schema.get("const").is_some_and(|only| only != value)
        || schema["enum"].as_array().is_some_and(|values| !values.contains(value));
    if wrong {
        return vec![format!("{at}: {value} is no {}", schema["type"])];
    }
    match value {
        Value::Object(members) => object_flaws(root, schema, members, at),
        Value::Array(items) => {
            let inner =
                |(index, item)| flaws(root, &schema["items"], item, &format!("{at}[{index}]"));
            items.iter().enumerate().flat_map(inner).collect()
        }
        _ => Vec::new(),
    }
}

fn object_flaws(
    root: &Value,
    schema: &Value,
    members: &Map<String, Value>,
    at: &str,
) -> Vec<String> {
    let required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let lost = required.filter(|name| !members.contains_key(*name));
    let mut found: Vec<_> = lost.map(|name| format!("{at}.{name} is missing")).collect();
    for (name, value) in members {
        let path = format!("{at}.{name}");
        let others =
            schema.get("additionalProperties").filter(|others| **others != Value::Bool(false));
        match schema["properties"].get(name).or(others) {
            Some(inner) => found.extend(flaws(root, inner, value, &path)),
            None if schema["properties"].is_object() => {
                found.push(format!("{path} is not described"));
            }
            None => {}
        }
    }
    found
}

fn is_type(types: &Value, value: &Value) -> bool {
    match types {
        Value::Array(types) => types.iter().any(|one| is_type(one, value)),
        Value::String(name) => match name.as_str() {
            "null" => value.is_null(),
            "boolean" => value.is_boolean(),
            "integer" => value.is_u64() || value.is_i64(),
            "number" => value.is_number(),
            "string" => value.is_string(),
            "array" => value.is_array(),
            "object" => value.is_object(),
            _ => false,
        },
        _ => true,
    }
}
