//! The settings' JSON Schema, made from the types.

use schemars::generate::SchemaSettings;
use schemars::transform::RecursiveTransform;
use serde_json::{Map, Value, json};

use super::raw::RawConfig;

/// The JSON Schema (draft 2020-12) of a settings file.
pub fn schema() -> Value {
    let no_null = RecursiveTransform(|schema: &mut schemars::Schema| {
        if let Some(object) = schema.as_object_mut() {
            drop_null(object);
        }
    });
    let settings = SchemaSettings::draft2020_12()
        .with(|settings| settings.inline_subschemas = true)
        .with_transform(no_null);
    let mut schema = settings.into_generator().into_root_schema_for::<RawConfig>();
    schema.insert("$id".to_owned(), json!("gate.config.v1"));
    schema.insert("title".to_owned(), json!("gate settings"));
    schema.to_value()
}

/// An optional key may be absent, but TOML has no null to write there.
fn drop_null(schema: &mut Map<String, Value>) {
    if let Some(Value::Array(types)) = schema.get_mut("type") {
        types.retain(|kind| kind != "null");
        if let [only] = types.as_slice() {
            let only = only.clone();
            schema.insert("type".to_owned(), only);
        }
    }
    if let Some(Value::Array(any)) = schema.get_mut("anyOf") {
        any.retain(|kind| kind.get("type") != Some(&json!("null")));
        if let [Value::Object(only)] = any.as_slice() {
            let only = only.clone();
            schema.remove("anyOf");
            for (key, value) in only {
                schema.entry(key).or_insert(value);
            }
        }
    }
    if let Some(Value::Array(values)) = schema.get_mut("enum") {
        values.retain(|value| !value.is_null());
    }
}

/// Every key of the settings, dotted; `NAME` stands for a name of one's own.
pub(super) fn keys() -> Vec<String> {
    let mut keys = Vec::new();
    collect(&schema(), "", &mut keys);
    keys
}

fn collect(schema: &Value, at: &str, keys: &mut Vec<String>) {
    let properties = schema["properties"].as_object().into_iter().flatten();
    let mut members: Vec<_> = properties.map(|(name, inner)| (name.as_str(), inner)).collect();
    if schema["additionalProperties"].is_object() {
        members.push(("NAME", &schema["additionalProperties"]));
    }
    for (name, inner) in members {
        let path = if at.is_empty() { name.to_owned() } else { format!("{at}.{name}") };
        let inner = if inner["items"]["properties"].is_object() { &inner["items"] } else { inner };
        let before = keys.len();
        collect(inner, &path, keys);
        if keys.len() == before {
            keys.push(path);
        }
    }
}

/// A hint to the right table of a key that was written in the wrong one, if one table alone has it.
pub(super) fn home_of(name: &str) -> Option<String> {
    let keys = keys();
    let mut homes = keys
        .iter()
        .filter(|key| !key.starts_with("task_types."))
        .filter_map(|key| key.rsplit_once('.').filter(|(_, last)| *last == name));
    match (homes.next(), homes.next()) {
        (Some((table, _)), None) => Some(format!("it belongs in [{table}]")),
        _ => None,
    }
}
