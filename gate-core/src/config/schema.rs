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

fn collect(schema: &Value, at: &str, keys: &mut Vec<String>) {
    let properties = schema["properties"].as_object().into_iter().flatten();
    let mut members: Vec<_> = properties.map(|(name, inner)| (name.as_str(), inner)).collect();
    if schema["additionalProperties"].is_object() {
        members.push(("NAME", &schema["additionalProperties"]));
    }
    for (name, inner) in members {
        let path = if at.is_empty() { name.to_owned() } else { format!("{at}.{name}") };
        let inner = if inner["items"]["properties"].is_object() { &inner["items"] } else { inner };
        let count = keys.len();
        collect(inner, &path, keys);
        if keys.len() == count {
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
