//! Byte ranges of keys in a TOML text.
//!
//! Only errors need them, so the text is parsed again here, and nothing else has to
//! carry spans.

use std::collections::BTreeMap;
use std::ops::Range;

use serde_json::value::RawValue;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::error::Problem;
use super::key::{KeyPath, Step};

/// A key of a text, with the byte ranges of its name and its value.
struct Entry {
    path: KeyPath,
    name: Range<usize>,
    value: Range<usize>,
}

/// The key whose name or value is the smallest around `span`.
pub(super) fn path_at(text: &str, span: &Range<usize>) -> KeyPath {
    entries(text)
        .into_iter()
        .filter_map(|entry| {
            let enclosing = [&entry.name, &entry.value]
                .into_iter()
                .filter(|range| range.start <= span.start && span.end <= range.end);
            Some((enclosing.map(Range::len).min()?, entry.path))
        })
        .min_by_key(|(size, path)| (*size, usize::MAX - path.0.len()))
        .map_or_else(KeyPath::default, |(_, path)| path)
}

/// Byte range of a key's value; for a missing key that of the nearest table around it.
pub(super) fn value_span(text: &str, path: &KeyPath) -> Range<usize> {
    nearest(text, path).map_or(0..0, |entry| entry.value)
}

/// The line of each key's name, from 1.
pub(super) fn lines(text: &str) -> BTreeMap<KeyPath, usize> {
    let mut entries = entries(text);
    entries.sort_unstable_by_key(|entry| entry.name.start);
    let (mut counted_bytes, mut line) = (0, 1);
    let mut lines = BTreeMap::new();
    for Entry { path, name, .. } in entries {
        let uncounted = &text.as_bytes()[counted_bytes..name.start];
        line += uncounted.iter().filter(|byte| **byte == b'\n').count();
        counted_bytes = name.start;
        lines.insert(path, line);
    }
    lines
}

/// Byte range of a key's value in a JSON text, or of its name if no key has that name.
pub(super) fn in_json(text: &str, path: &KeyPath, problem: &Problem) -> Range<usize> {
    let mut value = text.trim();
    for step in &path.0 {
        let member = match step {
            Step::Key(name) => serde_json::from_str::<BTreeMap<String, &RawValue>>(value)
                .ok()
                .and_then(|members| members.get(name).copied()),
            Step::Index(index) => serde_json::from_str::<Vec<&RawValue>>(value)
                .ok()
                .and_then(|elements| elements.get(*index).copied()),
        };
        let Some(member) = member else { break };
        value = member.get();
    }
    let start = value.as_ptr() as usize - text.as_ptr() as usize;
    if let Problem::UnknownKey(name) = problem
        && let Some(name_start) = text[..start].rfind(&format!("\"{name}\""))
    {
        return name_start..name_start + name.len() + 2;
    }
    start..start + value.len()
}

fn nearest(text: &str, path: &KeyPath) -> Option<Entry> {
    entries(text)
        .into_iter()
        .filter(|entry| path.starts_with(&entry.path))
        .max_by_key(|entry| entry.path.0.len())
}

fn entries(text: &str) -> Vec<Entry> {
    let mut entries = Vec::new();
    if let Ok(table) = DeTable::parse(text) {
        walk_table(table.get_ref(), &KeyPath::default(), &mut entries);
    }
    entries
}

fn walk_table(table: &DeTable<'_>, table_path: &KeyPath, entries: &mut Vec<Entry>) {
    for (name, value) in table {
        walk_value(value, name.span(), table_path.key(name.get_ref()), entries);
    }
}

fn walk_value(
    value: &Spanned<DeValue<'_>>,
    name: Range<usize>,
    path: KeyPath,
    entries: &mut Vec<Entry>,
) {
    match value.get_ref() {
        DeValue::Table(table) => walk_table(table, &path, entries),
        DeValue::Array(elements) => {
            for (index, element) in elements.iter().enumerate() {
                walk_value(element, element.span(), path.index(index), entries);
            }
        }
        _ => {}
    }
    entries.push(Entry { path, name, value: value.span() });
}
