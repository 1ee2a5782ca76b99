//! An object of JSON whose keys keep their order, and whose values keep their text.

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

/// An object of JSON.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct JsonObject {
    entries: Vec<JsonEntry>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct JsonEntry {
    key: String,
    /// The value as the text has it.
    value: String,
}

impl JsonObject {
    pub(super) fn read(text: &str) -> Option<Self> {
        serde_json::from_str(text.trim_start_matches('\u{feff}')).ok()
    }

    pub(super) fn keys(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().map(|entry| entry.key.as_str())
    }

    pub(super) fn get(&self, key: &str) -> Option<&str> {
        let entry = self.entries.iter().find(|entry| entry.key == key);
        entry.map(|entry| entry.value.as_str())
    }

    /// Sets a value, or removes it. Returns true if that changes anything but layout.
    pub(super) fn set(&mut self, key: &str, value: Option<&str>) -> bool {
        if self.get(key).map(without_layout) == value.map(without_layout) {
            return false;
        }
        let index = self.entries.iter().position(|entry| entry.key == key);
        match (index, value) {
            (Some(index), Some(value)) => value.clone_into(&mut self.entries[index].value),
            (None, Some(value)) => {
                self.entries.push(JsonEntry { key: key.to_owned(), value: value.to_owned() });
            }
            (Some(index), None) => drop(self.entries.remove(index)),
            (None, None) => {}
        }
        true
    }

    /// The text, with `indent` spaces before each key.
    pub(super) fn text(&self, indent: usize) -> String {
        if self.entries.is_empty() {
            return "{}".to_owned();
        }
        let lines = self.entries.iter().map(|JsonEntry { key, value }| {
            format!("{:indent$}{}: {value}", "", serde_json::Value::from(key.as_str()))
        });
        let outer_indent = indent.saturating_sub(2);
        format!("{{\n{}\n{:outer_indent$}}}", lines.collect::<Vec<_>>().join(",\n"), "")
    }
}

// `serde_json::Map` sorts its keys, and a value that is read loses its text.
impl<'de> Deserialize<'de> for JsonObject {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entries;

        impl<'de> Visitor<'de> for Entries {
            type Value = JsonObject;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<JsonObject, A::Error> {
                let mut object = JsonObject::default();
                while let Some((key, value)) = map.next_entry::<String, Box<RawValue>>()? {
                    // Of a key that stands twice, the last value holds.
                    object.set(&key, Some(value.get()));
                }
                Ok(object)
            }
        }

        deserializer.deserialize_map(Entries)
    }
}

/// A text in JSON without the white space between its parts.
fn without_layout(json: &str) -> String {
    let (mut is_in_string, mut is_escaped) = (false, false);
    let characters = json.chars().filter(|c| {
        let is_kept = is_in_string || !c.is_whitespace();
        if *c == '"' && !is_escaped {
            is_in_string = !is_in_string;
        }
        is_escaped = is_in_string && *c == '\\' && !is_escaped;
        is_kept
    });
    characters.collect()
}
