//! `RALPH_STATUS:` with a JSON object behind it, in a fence or not.

use std::ops::Range;

use memchr::memchr;
use serde_json::{Deserializer, Map, Value};

use crate::decide::expression::Expression;
use crate::decide::signal::layout::Layout;

/// The most bytes from the beginning of such a header to its object.
const MAX_HEAD_BYTES: usize = 80;

/// Such a block.
pub(super) struct JsonBlock {
    pub(super) lines: Range<usize>,
    /// Keys and values as a plain block writes them.
    pub(super) members: Vec<(String, String)>,
}

/// The block whose header stands on a line.
pub(super) fn block(layout: &Layout<'_>, start: usize) -> Option<JsonBlock> {
    let text = &layout.word().text;
    let begin = layout.lines()[start].offset;
    let head =
        memchr(b'{', &text.as_bytes()[begin..]).filter(|length| *length <= MAX_HEAD_BYTES)?;
    if !HEAD.is_match(&text[begin..begin + head]) {
        return None;
    }
    let mut objects =
        Deserializer::from_str(&text[begin + head..]).into_iter::<Map<String, Value>>();
    let object = objects.next()?.ok()?;
    let last = layout.index_of(begin + head + objects.byte_offset());
    let members = object.into_iter().filter_map(|(key, value)| Some((key, written(value)?)));
    Some(JsonBlock { lines: start..last + 1, members: members.collect() })
}

/// A value as a line writes it; nothing for what is nested deeper.
fn written(value: Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text),
        Value::Null => Some(String::new()),
        Value::Array(items) => {
            let items: Option<Vec<_>> = items.into_iter().map(written).collect();
            items.map(|items| items.join(", "))
        }
        Value::Object(_) => None,
        Value::Bool(_) | Value::Number(_) => Some(value.to_string()),
    }
}

/// The header, up to the object.
static HEAD: Expression =
    Expression::new(r"^[\s#*`>-]*ralph[_ ]status[\s*`:：-]*(?:`{3,}\s*(?:json)?\s*)?$");
