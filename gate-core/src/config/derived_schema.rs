//! The settings' JSON Schema, derived from the types.

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
        if let [kind] = types.as_slice() {
            let kind = kind.clone();
            schema.insert("type".to_owned(), kind);
        }
    }
    if let Some(Value::Array(alternatives)) = schema.get_mut("anyOf") {
        alternatives.retain(|kind| kind.get("type") != Some(&json!("null")));
        if let [Value::Object(alternative)] = alternatives.as_slice() {
            let alternative = alternative.clone();
            schema.remove("anyOf");
            for (key, value) in alternative {
                schema.entry(key).or_insert(value);
            }
        }
    }
    if let Some(Value::Array(values)) = schema.get_mut("enum") {
        values.retain(|value| !value.is_null());
    }
}
