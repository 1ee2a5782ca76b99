//! `RALPH_STATUS:` with a JSON object behind it, in a fence or not.

use std::ops::Range;

use memchr::memchr;
use serde_json::{Deserializer, Map, Value};

use crate::decide::expression::Expression;
use crate::decide::signal::layout::{BlockKind, Layout};

/// The most bytes from the beginning of such a header to its object.
const MAX_HEAD_BYTES: usize = 80;

/// The lines of such a block, and its members as a plain block writes them.
pub(super) fn block(
    layout: &Layout<'_>,
    start: usize,
) -> Option<(Range<usize>, Vec<(String, String)>)> {
    let text = &layout.word().text;
    let begin = layout.lines()[start].offset;
    let head = memchr(b'{', text[begin..].as_bytes()).filter(|length| *length <= MAX_HEAD_BYTES)?;
    if !HEAD.is_match(&text[begin..begin + head]) {
        return None;
    }
    let mut objects =
        Deserializer::from_str(&text[begin + head..]).into_iter::<Map<String, Value>>();
    let object = objects.next()?.ok()?;
    let last = layout.index_of(begin + head + objects.byte_offset() - 1);
    let fence = layout.lines().get(last + 1).is_some_and(|line| line.block == BlockKind::Fence);
    let members = object.into_iter().filter_map(|(key, value)| Some((key, written(value)?)));
    Some((start..last + 1 + usize::from(fence), members.collect()))
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
