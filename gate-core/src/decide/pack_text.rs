//! The text of a shipped pack, read without a TOML parser: each start of gate needs some
//! packs, and parsing all of them takes longer than the decision.
//!
//! A key and its value stand on one line, and no value has an escape. Tests compare with
//! what TOML reads.

use memchr::{memchr, memchr2, memmem};
use serde::Deserialize;
use serde::de::IntoDeserializer;
use serde::de::value::{Error, StrDeserializer};

/// The texts of the tables with this head, such as `[[rule]]`; each goes on to the pack's end.
pub(crate) fn tables<'p>(pack: &'p str, head: &str) -> Vec<&'p str> {
    let head = format!("\n{head}\n");
    let starts = memmem::find_iter(pack.as_bytes(), &head);
    starts.map(|start| &pack[start + head.len()..]).collect()
}

/// The keys and values on the lines of a table, up to an empty line.
pub(crate) fn keys(table: &str) -> impl Iterator<Item = (&str, &str)> {
    let mut remaining = table;
    std::iter::from_fn(move || {
        let end = memchr(b'\n', remaining.as_bytes())?;
        let line = &remaining[..end];
        remaining = &remaining[end + 1..];
        // An empty line has no `=`, and ends the table.
        let equals = memchr(b'=', line.as_bytes())?;
        Some((line[..equals].trim_end(), line[equals + 1..].trim_start()))
    })
}

/// The text of a value in quotation marks, `'…'`, `"…"` or `'''…'''`.
pub(crate) fn text(value: &str) -> &str {
    if let Some(text) = value.strip_prefix("'''") {
        return text.trim_end_matches("'''");
    }
    texts(value).next().unwrap_or_default()
}

/// The texts in quotation marks of a value that is a list.
pub(crate) fn texts(value: &str) -> impl Iterator<Item = &str> {
    let mut remaining = value;
    std::iter::from_fn(move || {
        let open = memchr2(b'"', b'\'', remaining.as_bytes())?;
        let (mark, text) = (remaining.as_bytes()[open], &remaining[open + 1..]);
        let close = memchr(mark, text.as_bytes())?;
        remaining = &text[close + 1..];
        Some(&text[..close])
    })
}

/// The value with this name in a pack.
pub(crate) fn named<'n, T: Deserialize<'n>>(name: &'n str) -> Option<T> {
    let name: StrDeserializer<'_, Error> = name.into_deserializer();
    T::deserialize(name).ok()
}
