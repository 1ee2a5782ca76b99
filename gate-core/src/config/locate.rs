//! From keys to places in the text, and back.
//!
//! Only errors need places, so the text is parsed again here and nothing else
//! has to carry spans.

use std::collections::BTreeMap;
use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::key::KeyPath;

/// One key of a text: its path, where its name stands and where its value.
struct Entry {
    path: KeyPath,
    name: Range<usize>,
    value: Range<usize>,
}

/// The key whose name or value is the smallest around `span`.
pub(super) fn path_at(text: &str, span: &Range<usize>) -> KeyPath {
    let around = |range: &Range<usize>| range.start <= span.start && span.end <= range.end;
    let size = |range: &Range<usize>| if around(range) { Some(range.len()) } else { None };
    entries(text)
        .into_iter()
        .filter_map(|entry| {
            let size = size(&entry.name).into_iter().chain(size(&entry.value)).min()?;
            Some((size, entry.path))
        })
        .min_by_key(|(size, path)| (*size, usize::MAX - path.0.len()))
        .map_or_else(KeyPath::default, |(_, path)| path)
}

/// Where the value of a key stands; where the key is missing, that of the
/// nearest table around it.
pub(super) fn value_span(text: &str, path: &KeyPath) -> Range<usize> {
    nearest(text, path).map_or(0..0, |entry| entry.value)
}

/// The line of each key's name, from 1.
pub(super) fn lines(text: &str) -> BTreeMap<KeyPath, usize> {
    let mut all = entries(text);
    all.sort_unstable_by_key(|entry| entry.name.start);
    let (mut counted, mut line) = (0, 1);
    let mut line_of = |at: usize| {
        line += text.as_bytes()[counted..at].iter().filter(|byte| **byte == b'\n').count();
        counted = at;
        line
    };
    all.into_iter().map(|entry| (entry.path, line_of(entry.name.start))).collect()
}

fn nearest(text: &str, path: &KeyPath) -> Option<Entry> {
    entries(text)
        .into_iter()
        .filter(|entry| path.starts_with(&entry.path))
        .max_by_key(|entry| entry.path.0.len())
}

fn entries(text: &str) -> Vec<Entry> {
    let mut found = Vec::new();
    if let Ok(table) = DeTable::parse(text) {
        walk_table(table.get_ref(), &KeyPath::default(), &mut found);
    }
    found
}

fn walk_table(table: &DeTable<'_>, at: &KeyPath, found: &mut Vec<Entry>) {
    for (name, value) in table {
        walk_value(value, name.span(), at.key(name.get_ref()), found);
    }
}

fn walk_value(
    value: &Spanned<DeValue<'_>>,
    name: Range<usize>,
    path: KeyPath,
    found: &mut Vec<Entry>,
) {
    match value.get_ref() {
        DeValue::Table(table) => walk_table(table, &path, found),
        DeValue::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                walk_value(item, item.span(), path.index(index), found);
            }
        }
        _ => {}
    }
    found.push(Entry { path, name, value: value.span() });
}
