//! The one spelling of JSON whose numbers are exact integers (RFC 8785): names
//! in the order of their UTF-16 units, no white space, the shortest escapes.
//!
//! `serde_json_canonicalizer` spells the same (a property test compares them),
//! but copies each value once for every object around it.

use std::fmt::Write;

use serde_json::{Map, Value};

/// Spells a value.
pub(super) fn value(value: &Value, out: &mut String) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(truth) => out.push_str(if *truth { "true" } else { "false" }),
        Value::Number(number) => {
            let _ = write!(out, "{number}");
        }
        Value::String(text) => string(text, out),
        Value::Array(items) => array(items, out),
        Value::Object(map) => object(map, out),
    }
}

/// Spells a string.
pub(super) fn string(text: &str, out: &mut String) {
    out.push('"');
    let mut rest = text;
    while let Some(at) = rest.bytes().position(is_escaped) {
        out.push_str(&rest[..at]);
        escape(rest.as_bytes()[at], out);
        rest = &rest[at + 1..];
    }
    out.push_str(rest);
    out.push('"');
}

/// Spells an object.
pub(super) fn object(map: &Map<String, Value>, out: &mut String) {
    let mut members: Vec<_> = map.iter().collect();
    members.sort_by(|(one, _), (other, _)| one.encode_utf16().cmp(other.encode_utf16()));
    out.push('{');
    for (at, (name, member)) in members.into_iter().enumerate() {
        out.push_str(if at == 0 { "" } else { "," });
        string(name, out);
        out.push(':');
        value(member, out);
    }
    out.push('}');
}

fn array(items: &[Value], out: &mut String) {
    out.push('[');
    for (at, item) in items.iter().enumerate() {
        out.push_str(if at == 0 { "" } else { "," });
        value(item, out);
    }
    out.push(']');
}

fn is_escaped(byte: u8) -> bool {
    byte < 0x20 || matches!(byte, b'"' | b'\\')
}

fn escape(byte: u8, out: &mut String) {
    match byte {
        b'"' => out.push_str("\\\""),
        b'\\' => out.push_str("\\\\"),
        b'\n' => out.push_str("\\n"),
        b'\r' => out.push_str("\\r"),
        b'\t' => out.push_str("\\t"),
        0x08 => out.push_str("\\b"),
        0x0c => out.push_str("\\f"),
        other => {
            let _ = write!(out, "\\u{other:04x}");
        }
    }
}
