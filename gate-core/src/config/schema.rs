//! The settings' JSON Schema, as it is embedded.

use serde_json::Value;

/// The schema of a settings file.
#[expect(clippy::expect_used, reason = "a test derives the schema and compares")]
pub(super) fn embedded() -> Value {
    serde_json::from_str(gate_schemas::CONFIG).expect("JSON")
}

/// Every key of the settings, dotted; `NAME` stands for a name of one's own.
pub(super) fn keys() -> Vec<String> {
    let mut keys = Vec::new();
    collect(&embedded(), "", &mut keys);
    keys
}

fn collect(schema: &Value, table: &str, keys: &mut Vec<String>) {
    let properties = schema["properties"].as_object().into_iter().flatten();
    let mut members: Vec<_> = properties.map(|(name, member)| (name.as_str(), member)).collect();
    if schema["additionalProperties"].is_object() {
        members.push(("NAME", &schema["additionalProperties"]));
    }
    for (name, member) in members {
        let key = if table.is_empty() { name.to_owned() } else { format!("{table}.{name}") };
        let element = &member["items"];
        let count = keys.len();
        collect(if element["properties"].is_object() { element } else { member }, &key, keys);
        // A schema without members of its own is a setting.
        if keys.len() == count {
            keys.push(key);
        }
    }
}

/// A hint to the right table of a key that was written in the wrong one, if one table alone has it.
pub(super) fn home_of(name: &str) -> Option<String> {
    let keys = keys();
    let mut tables = keys
        .iter()
        .filter(|key| !key.starts_with("task_types."))
        .filter_map(|key| key.rsplit_once('.'))
        .filter(|(_, key)| *key == name);
    match (tables.next(), tables.next()) {
        (Some((table, _)), None) => Some(format!("it belongs in [{table}]")),
        _ => None,
    }
}
