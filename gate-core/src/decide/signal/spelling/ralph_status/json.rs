//! `RALPH_STATUS:` with a JSON object behind it, in a fence or not.

use std::ops::Range;

use memchr::memchr;
use serde_json::{Deserializer, Map, Value};

use crate::decide::expression::Expression;
use crate::decide::signal::layout::Layout;

/// The most bytes from the beginning of a header to its object.
const MAX_HEADER_BYTES: usize = 80;

/// A header with an object.
pub(super) struct JsonBlock {
    pub(super) lines: Range<usize>,
    /// Keys and values as a plain block writes them.
    pub(super) members: Vec<(String, String)>,
}

/// The block whose header stands on a line.
pub(super) fn block(layout: &Layout<'_>, header_line: usize) -> Option<JsonBlock> {
    let text = &layout.word().text;
    let start = layout.lines()[header_line].offset;
    let header_length = memchr(b'{', &text.as_bytes()[start..])?;
    let object_start = start + header_length;
    if header_length > MAX_HEADER_BYTES || !HEADER.is_match(&text[start..object_start]) {
        return None;
    }
    // The text goes on after the object, so that one object is read of a stream.
    let mut objects =
        Deserializer::from_str(&text[object_start..]).into_iter::<Map<String, Value>>();
    let object = objects.next()?.ok()?;
    let last_line = layout.index_of(object_start + objects.byte_offset());
    let members = object.into_iter().filter_map(|(key, value)| Some((key, plain_value(value)?)));
    Some(JsonBlock { lines: header_line..last_line + 1, members: members.collect() })
}

/// A value as a line writes it; `None` if objects are nested in it.
fn plain_value(value: Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text),
        Value::Null => Some(String::new()),
        Value::Array(values) => {
            let texts: Option<Vec<_>> = values.into_iter().map(plain_value).collect();
            texts.map(|texts| texts.join(", "))
        }
        Value::Object(_) => None,
        Value::Bool(_) | Value::Number(_) => Some(value.to_string()),
    }
}

/// The header, up to the object.
static HEADER: Expression =
    Expression::new(r"^[\s#*`>-]*ralph[_ ]status[\s*`:：-]*(?:`{3,}\s*(?:json)?\s*)?$");
