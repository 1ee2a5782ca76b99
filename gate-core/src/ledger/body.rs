//! The body of a record: JSON with one canonical spelling.

use std::fmt;

use serde::de::{self, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Map, Number, Value};

use crate::digest;

/// The largest integer that every reader of JSON holds exactly.
pub(super) const MAX_EXACT: u64 = (1 << 53) - 1;

/// Depth of objects and arrays, the body's own included. Readers of JSON stop at about 127,
/// and a line adds one.
const MAX_DEPTH: usize = 100;

/// A record's body: an object whose numbers are integers that every reader
/// holds exactly, so that its canonical spelling is the same everywhere. Read
/// from JSON, no name may stand twice in an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Body(Map<String, Value>);

/// JSON that cannot stand in a record.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BodyError {
    /// The body of a record has to be an object.
    #[error("a record's body is a JSON object")]
    NotAnObject,
    /// A number that readers may round.
    #[error("{0}: a record holds integers between -(2^53-1) and 2^53-1 only")]
    Number(Number),
    /// Objects and arrays within each other that readers may refuse.
    #[error("a record's body is at most {MAX_DEPTH} objects and arrays deep")]
    Deep,
    /// A value that is no JSON.
    #[error("{0}")]
    NotJson(String),
}

impl Body {
    /// The body with this content.
    ///
    /// # Errors
    ///
    /// A value that is no object, a number that is no exact integer, and more than
    /// 100 objects and arrays within each other.
    pub fn new(content: &impl Serialize) -> Result<Self, BodyError> {
        let value = serde_json::to_value(content);
        value.map_err(|error| BodyError::NotJson(error.to_string()))?.try_into()
    }

    /// A field of the body.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.0.get(key)
    }

    /// Its one spelling: canonical JSON (RFC 8785).
    pub fn canonical(&self) -> String {
        digest::canonical(self)
    }
}

impl TryFrom<Value> for Body {
    type Error = BodyError;

    fn try_from(value: Value) -> Result<Self, BodyError> {
        let Value::Object(map) = value else { return Err(BodyError::NotAnObject) };
        map.values().try_for_each(|value| check_value(value, 1))?;
        Ok(Self(map))
    }
}

impl From<Body> for Value {
    fn from(body: Body) -> Self {
        Self::Object(body.0)
    }
}

impl Serialize for Body {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Body {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let UniqueNames(value) = UniqueNames::deserialize(deserializer)?;
        value.try_into().map_err(de::Error::custom)
    }
}

/// Checks that every number in the value is an exact integer, and that its nesting is not too deep.
fn check_value(value: &Value, depth: usize) -> Result<(), BodyError> {
    match value {
        Value::Array(_) | Value::Object(_) if depth == MAX_DEPTH => Err(BodyError::Deep),
        Value::Number(number) if !is_exact(number) => Err(BodyError::Number(number.clone())),
        Value::Array(elements) => {
            elements.iter().try_for_each(|element| check_value(element, depth + 1))
        }
        Value::Object(map) => map.values().try_for_each(|value| check_value(value, depth + 1)),
        Value::Number(_) | Value::Null | Value::Bool(_) | Value::String(_) => Ok(()),
    }
}

fn is_exact(number: &Number) -> bool {
    number.as_i64().is_some_and(|number| number.unsigned_abs() <= MAX_EXACT)
}

/// A value in which no object has a name twice: two readers could disagree on
/// which of them counts.
struct UniqueNames(Value);

impl<'de> Deserialize<'de> for UniqueNames {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(UniqueNamesVisitor).map(UniqueNames)
    }
}

struct UniqueNamesVisitor;

impl<'de> Visitor<'de> for UniqueNamesVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, is_true: bool) -> Result<Value, E> {
        Ok(is_true.into())
    }

    fn visit_i64<E>(self, number: i64) -> Result<Value, E> {
        Ok(number.into())
    }

    fn visit_u64<E>(self, number: u64) -> Result<Value, E> {
        Ok(number.into())
    }

    fn visit_f64<E>(self, number: f64) -> Result<Value, E> {
        Ok(number.into())
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(text.into())
    }

    fn visit_string<E>(self, text: String) -> Result<Value, E> {
        Ok(text.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Value, A::Error> {
        let mut elements = Vec::new();
        while let Some(UniqueNames(element)) = seq.next_element()? {
            elements.push(element);
        }
        Ok(elements.into())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        let mut map = Map::new();
        while let Some(name) = access.next_key::<String>()? {
            if map.contains_key(&name) {
                return Err(de::Error::custom(format_args!("the name `{name}` stands twice")));
            }
            let UniqueNames(value) = access.next_value()?;
            map.insert(name, value);
        }
        Ok(map.into())
    }
}
