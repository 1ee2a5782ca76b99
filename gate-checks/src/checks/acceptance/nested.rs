//! Objects with `passes` anywhere in prd.json: parts of stories, stories of
//! epics, a second list.

use std::fmt;
use std::rc::Rc;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

/// The deepest nesting of objects and lists.
const MAX_DEPTH: usize = 64;

/// An object that says whether it passes.
pub(super) struct Judged<'a> {
    pub(super) raw: &'a RawValue,
    pub(super) done: bool,
    /// Its id, then what it is about.
    pub(super) text: String,
    /// The texts of the objects that it is a part of.
    pub(super) within: Vec<Rc<str>>,
}

/// All such objects of a document, in order. `None` if it is nested too deep.
pub(super) fn judged(text: &str) -> serde_json::Result<Option<Vec<Judged<'_>>>> {
    let mut found = Vec::new();
    let whole = look(serde_json::from_str(text)?, &[], MAX_DEPTH, &mut found)?;
    Ok(whole.then_some(found))
}

fn look<'a>(
    raw: &'a RawValue,
    within: &[Rc<str>],
    depth: usize,
    found: &mut Vec<Judged<'a>>,
) -> serde_json::Result<bool> {
    let mut whole = true;
    match raw.get().as_bytes().first() {
        Some(b'{' | b'[') if depth == 0 => return Ok(false),
        Some(b'[') => {
            for part in serde_json::from_str::<Vec<&RawValue>>(raw.get())? {
                whole &= look(part, within, depth - 1, found)?;
            }
        }
        Some(b'{') => {
            let object: Object<'_> = serde_json::from_str(raw.get())?;
            let text = object.text();
            if let Some(done) = object.passes() {
                let within = within.to_vec();
                found.push(Judged { raw, done, text: text.clone(), within });
            }
            let mut inner = within.to_vec();
            inner.extend((!text.is_empty()).then(|| Rc::from(text)));
            for (_, part) in object.0 {
                whole &= look(part, &inner, depth - 1, found)?;
            }
        }
        _ => {}
    }
    Ok(whole)
}

/// An object's keys and values, in order; a key may stand there twice.
struct Object<'a>(Vec<(String, &'a RawValue)>);

impl Object<'_> {
    /// The value of `passes`, if it is there. A number or a list is an error.
    fn passes(&self) -> Option<bool> {
        let values = self.0.iter().filter(|(key, _)| key == "passes").map(|(_, value)| value.get());
        let mut words = values.filter(|value| value.starts_with(['t', 'f', 'n', '"'])).peekable();
        words.peek()?;
        Some(words.all(|word| word == "true"))
    }

    fn get(&self, key: &str) -> Option<String> {
        let (_, value) = self.0.iter().find(|(known, _)| known == key)?;
        match serde_json::from_str(value.get()).ok()? {
            Value::String(text) => Some(text.lines().next().unwrap_or_default().to_owned()),
            Value::Number(number) => Some(number.to_string()),
            _ => None,
        }
    }

    fn text(&self) -> String {
        let title = ["title", "name", "description"].iter().find_map(|key| self.get(key));
        let parts = [self.get("id"), title];
        parts.into_iter().flatten().collect::<Vec<_>>().join(" ").trim().to_owned()
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Object<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entries;

        impl<'de> Visitor<'de> for Entries {
            type Value = Vec<(String, &'de RawValue)>;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(entries)
            }
        }

        deserializer.deserialize_map(Entries).map(Object)
    }
}
