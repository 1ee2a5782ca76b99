//! What a record says: JSON that has one canonical spelling.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Number, Value};

/// The largest integer that every reader of JSON holds exactly.
const EXACT: u64 = (1 << 53) - 1;

/// A record's body: an object whose numbers are integers that every reader
/// holds exactly, so that its canonical spelling is the same everywhere.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Value", into = "Value")]
pub struct Body(Map<String, Value>);

/// JSON that cannot stand in a record.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BodyError {
    /// A record says an object.
    #[error("a record's body is a JSON object")]
    NotAnObject,
    /// A number that readers may round.
    #[error("{0}: a record holds integers between -(2^53-1) and 2^53-1 only")]
    Number(Number),
    /// A value that is no JSON.
    #[error("{0}")]
    NotJson(String),
}

impl Body {
    /// A body that says this.
    ///
    /// # Errors
    ///
    /// What is no object, and numbers that are no exact integers.
    pub fn of(what: &impl Serialize) -> Result<Self, BodyError> {
        let value = serde_json::to_value(what);
        value.map_err(|error| BodyError::NotJson(error.to_string()))?.try_into()
    }

    /// A field of the body.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.0.get(key)
    }
}

impl TryFrom<Value> for Body {
    type Error = BodyError;

    fn try_from(value: Value) -> Result<Self, BodyError> {
        let Value::Object(map) = value else { return Err(BodyError::NotAnObject) };
        map.values().try_for_each(exact)?;
        Ok(Self(map))
    }
}

impl From<Body> for Value {
    fn from(body: Body) -> Self {
        Self::Object(body.0)
    }
}

/// That every number in the value is an exact integer.
fn exact(value: &Value) -> Result<(), BodyError> {
    match value {
        Value::Number(number) => is_exact(number)
            .then_some(())
            .ok_or_else(|| BodyError::Number(number.clone())),
        Value::Array(items) => items.iter().try_for_each(exact),
        Value::Object(map) => map.values().try_for_each(exact),
        Value::Null | Value::Bool(_) | Value::String(_) => Ok(()),
    }
}

fn is_exact(number: &Number) -> bool {
    number.as_i64().is_some_and(|number| number.unsigned_abs() <= EXACT)
}
