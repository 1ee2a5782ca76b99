//! Objects with `passes` anywhere in prd.json: parts of stories, stories of epics, a second list. An
//! open one among them must not go unseen.

use std::fmt;
use std::rc::Rc;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

/// The deepest nesting of objects and lists.
const MAX_DEPTH: usize = 64;

/// An object with `passes`.
pub(super) struct Story<'a> {
    pub(super) raw: &'a RawValue,
    pub(super) done: bool,
    /// The id, then the title.
    pub(super) text: String,
    /// The texts of the objects around this one.
    pub(super) within: Vec<Rc<str>>,
}

/// The objects with `passes` of a document, in order. `None` if it is nested too deep.
pub(super) fn stories(text: &str) -> serde_json::Result<Option<Vec<Story<'_>>>> {
    let mut stories = Vec::new();
    let is_whole = add_stories(serde_json::from_str(text)?, &[], MAX_DEPTH, &mut stories)?;
    Ok(is_whole.then_some(stories))
}

/// Adds the stories in a value. Returns `false` if some are nested deeper than `depth`.
fn add_stories<'a>(
    raw: &'a RawValue,
    within: &[Rc<str>],
    depth: usize,
    stories: &mut Vec<Story<'a>>,
) -> serde_json::Result<bool> {
    let mut is_whole = true;
    match raw.get().as_bytes().first() {
        Some(b'{' | b'[') if depth == 0 => return Ok(false),
        Some(b'[') => {
            for element in serde_json::from_str::<Vec<&RawValue>>(raw.get())? {
                is_whole &= add_stories(element, within, depth - 1, stories)?;
            }
        }
        Some(b'{') => {
            let object: Object<'_> = serde_json::from_str(raw.get())?;
            let text = object.text();
            if let Some(done) = object.passes() {
                let within = within.to_vec();
                stories.push(Story { raw, done, text: text.clone(), within });
            }
            let mut within_object = within.to_vec();
            within_object.extend((!text.is_empty()).then(|| Rc::from(text)));
            for (_, value) in object.0 {
                is_whole &= add_stories(value, &within_object, depth - 1, stories)?;
            }
        }
        _ => {}
    }
    Ok(is_whole)
}

/// An object's keys and values, in order; a key may stand there twice.
struct Object<'a>(Vec<(String, &'a RawValue)>);

impl Object<'_> {
    /// The value of `passes`: `true` only if each of its values is. `None` if there is no value that
    /// could be one: a number or a list is something else.
    fn passes(&self) -> Option<bool> {
        let mut values = self
            .0
            .iter()
            .filter(|(key, _)| key == "passes")
            .map(|(_, value)| value.get())
            .filter(|value| value.starts_with(['t', 'f', 'n', '"']))
            .peekable();
        values.peek()?;
        Some(values.all(|value| value == "true"))
    }

    fn get(&self, key: &str) -> Option<String> {
        let (_, value) = self.0.iter().find(|(object_key, _)| object_key == key)?;
        match serde_json::from_str(value.get()).ok()? {
            Value::String(text) => Some(text.lines().next().unwrap_or_default().to_owned()),
            Value::Number(number) => Some(number.to_string()),
            _ => None,
        }
    }

    fn text(&self) -> String {
        let title = ["title", "name", "description"].iter().find_map(|key| self.get(key));
        let id_and_title = [self.get("id"), title];
        id_and_title.into_iter().flatten().collect::<Vec<_>>().join(" ").trim().to_owned()
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
