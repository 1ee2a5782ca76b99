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
pub(super) struct Mismatch {
    at: String,
    recorded: String,
    expected: String,
}

impl Mismatch {
    pub(super) fn new(
        at: impl Into<String>,
        recorded: impl Into<String>,
        expected: impl Into<String>,
    ) -> Self {
        Self { at: at.into(), recorded: recorded.into(), expected: expected.into() }
    }

    /// The divergence of a value that is missing or cannot be read.
    pub(super) fn unreadable(at: &str, error: &serde_json::Error, expected: &str) -> Self {
        Self::new(at, format!("unreadable ({error})"), expected)
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
pub(super) fn expect_same<T: PartialEq + Serialize>(
    at: &str,
    recorded: &T,
    expected: &T,
) -> Result<(), Mismatch> {
    if recorded == expected {
        return Ok(());
    }
    let [recorded, expected] =
        [recorded, expected].map(|value| serde_json::to_value(value).unwrap_or_default());
    let Difference { pointer, recorded, expected } = Difference::new(&recorded, &expected);
    Err(Mismatch::new(format!("{at}{pointer}"), quoted(recorded), quoted(expected)))
}

/// A state's or an event's name, as records spell it.
pub(super) fn recorded_name(value: &impl Serialize) -> String {
    let value = serde_json::to_value(value).unwrap_or_default();
    value.as_str().unwrap_or_default().to_owned()
}

/// A value as it is quoted.
fn quoted(value: Option<&Value>) -> String {
    value.map_or_else(|| "absent".to_owned(), Value::to_string)
}
