//! A record that does not follow from those before it.

use serde::Serialize;
use serde_json::Value;

use super::difference::Difference;
use crate::text::brief;

/// The longest value that is quoted, in characters.
const MAX_QUOTED_CHARS: usize = 200;

/// A record that does not follow from those before it.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("record {seq}: {at} is {recorded}, and {expected} was expected")]
pub struct Divergence {
    /// The record's number.
    pub seq: u64,
    /// The place in its body, as a JSON pointer; `type` for the record's type.
    pub at: String,
    /// The value there; long values are cut.
    pub recorded: String,
    /// The value that follows from the records before it.
    pub expected: String,
}

/// A divergence without the number of its record.
pub(super) struct Wrong {
    at: String,
    recorded: String,
    expected: String,
}

impl Wrong {
    pub(super) fn new(
        at: impl Into<String>,
        recorded: impl Into<String>,
        expected: impl Into<String>,
    ) -> Self {
        Self { at: at.into(), recorded: recorded.into(), expected: expected.into() }
    }

    /// The divergence of a value that is missing or cannot be read.
    pub(super) fn unreadable(at: &str, why: &serde_json::Error, expected: &str) -> Self {
        Self::new(at, format!("unreadable ({why})"), expected)
    }

    pub(super) fn in_record(self, seq: u64) -> Divergence {
        let Self { at, recorded, expected } = self;
        Divergence {
            seq,
            at,
            recorded: brief(&recorded, MAX_QUOTED_CHARS),
            expected: brief(&expected, MAX_QUOTED_CHARS),
        }
    }
}

/// Checks that the recorded value at this place is the expected one.
pub(super) fn same<T: PartialEq + Serialize>(
    at: &str,
    recorded: &T,
    expected: &T,
) -> Result<(), Wrong> {
    if recorded == expected {
        return Ok(());
    }
    let [recorded, expected] =
        [recorded, expected].map(|value| serde_json::to_value(value).unwrap_or_default());
    let found = Difference::new(&recorded, &expected);
    Err(Wrong::new(format!("{at}{}", found.at), quoted(found.recorded), quoted(found.expected)))
}

/// A state's or an event's name, as records spell it.
pub(super) fn word(what: &impl Serialize) -> String {
    let value = serde_json::to_value(what).unwrap_or_default();
    value.as_str().unwrap_or_default().to_owned()
}

/// A value as it is quoted.
fn quoted(value: Option<&Value>) -> String {
    value.map_or_else(|| "absent".to_owned(), Value::to_string)
}
