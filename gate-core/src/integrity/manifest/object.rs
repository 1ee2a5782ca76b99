//! An object of JSON whose keys keep their order, and whose values keep their text.

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

/// Keys with the texts of their values.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Object(pub(super) Vec<(String, String)>);

impl Object {
    pub(super) fn read(text: &str) -> Option<Self> {
        serde_json::from_str(text.trim_start_matches('\u{feff}')).ok()
    }

    pub(super) fn get(&self, key: &str) -> Option<&str> {
        let entry = self.0.iter().find(|(name, _)| name == key);
        entry.map(|(_, value)| value.as_str())
    }

    /// Sets a value, or removes it. Returns true if that changes anything but layout.
    pub(super) fn set(&mut self, key: &str, value: Option<&str>) -> bool {
        if self.get(key).map(compact) == value.map(compact) {
            return false;
        }
        let at = self.0.iter().position(|(name, _)| name == key);
        match (at, value) {
            (Some(at), Some(value)) => value.clone_into(&mut self.0[at].1),
            (None, Some(value)) => self.0.push((key.to_owned(), value.to_owned())),
            (Some(at), None) => drop(self.0.remove(at)),
            (None, None) => {}
        }
        true
    }

    /// The text, with so many spaces before each key.
    pub(super) fn text(&self, indent: usize) -> String {
        if self.0.is_empty() {
            return "{}".to_owned();
        }
        let lines = self.0.iter().map(|(key, value)| {
            format!("{:indent$}{}: {value}", "", serde_json::Value::from(key.as_str()))
        });
        let outer = indent.saturating_sub(2);
        format!("{{\n{}\n{:outer$}}}", lines.collect::<Vec<_>>().join(",\n"), "")
    }
}

impl<'de> Deserialize<'de> for Object {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entries;

        impl<'de> Visitor<'de> for Entries {
            type Value = Object;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Object, A::Error> {
                let mut object = Object::default();
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

/// The text without the white space between its parts.
fn compact(json: &str) -> String {
    let (mut inside, mut escaped) = (false, false);
    let kept = json.chars().filter(|c| {
        let is_kept = inside || !c.is_whitespace();
        if *c == '"' && !escaped {
            inside = !inside;
        }
        escaped = inside && *c == '\\' && !escaped;
        is_kept
    });
    kept.collect()
}
