//! Secrets in text, masked: tokens of known shapes, and values that the caller knows.
//!
//! Text is masked where it enters, before anything is decided or kept, so that what is
//! decided again from a record is the same. Masking takes time in proportion to the
//! text and compiles nothing; masked text is never masked again. It is no proof that a
//! text holds no secret: a password that is a plain word in a sentence stays.

mod context;
mod fields;
mod known;
mod pem;
mod shape;

use std::ops::Range;
use std::sync::OnceLock;

use aho_corasick::{AhoCorasick, MatchKind};
use memchr::memmem;
use serde_json::Value;

pub use known::Variable;

/// What stands in a secret's place.
pub const MASKED: &str = "[masked]";

/// Masks secrets in text.
#[derive(Debug, Default)]
pub struct Masker {
    values: Vec<String>,
    /// Made when a text is first searched for them.
    search: OnceLock<Option<AhoCorasick>>,
}

impl Masker {
    /// Masks tokens of known shapes, and the secrets among these variables.
    pub fn new<'v>(variables: impl IntoIterator<Item = Variable<'v>>) -> Self {
        let mut values: Vec<_> = variables.into_iter().flat_map(known::secrets).collect();
        values.retain(|value| !value.contains(MASKED) && !MASKED.contains(value.as_str()));
        values.sort_unstable();
        values.dedup();
        Self { values, search: OnceLock::new() }
    }

    /// The text without secrets.
    pub fn text(&self, text: &str) -> String {
        let mut masked = text.to_owned();
        self.cover(&mut masked);
        masked
    }

    /// Masks the secrets of a text. Whether it holds masked ones now.
    pub fn cover(&self, text: &mut String) -> bool {
        let found = self.find(text);
        if !found.is_empty() {
            let mut rest = String::with_capacity(text.len());
            let mut at = 0;
            for range in found {
                rest.push_str(&text[at..range.start]);
                rest.push_str(MASKED);
                at = range.end;
            }
            rest.push_str(&text[at..]);
            *text = rest;
            return true;
        }
        text.contains(MASKED)
    }

    /// Masks all texts of a value, names of members too.
    pub fn value(&self, value: &mut Value) -> bool {
        match value {
            Value::String(text) => self.cover(text),
            Value::Array(items) => any(items.iter_mut().map(|item| self.value(item))),
            Value::Object(map) => {
                let named = any(map.keys().map(|name| !self.find(name).is_empty()));
                if named {
                    let all = std::mem::take(map);
                    map.extend(all.into_iter().map(|(name, item)| (self.text(&name), item)));
                }
                any(map.values_mut().map(|item| self.value(item))) || named
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => false,
        }
    }

    /// Where secrets stand, in order and apart.
    fn find(&self, text: &str) -> Vec<Range<usize>> {
        if text.len() < shape::SHORTEST.min(known::SHORTEST) {
            return Vec::new();
        }
        let mut found = Vec::new();
        let marks = memmem::find_iter(text.as_bytes(), MASKED);
        let mut from = 0;
        for mark in marks.chain([text.len()]) {
            // What was masked before borders on the rest, and belongs to none of it.
            let is_last = mark == text.len();
            let part = Part { text: &text[from..mark], follows: from > 0, is_last };
            let ranges = self.in_part(&part);
            found.extend(ranges.into_iter().map(|it| from + it.start..from + it.end));
            from = mark + MASKED.len();
        }
        found
    }

    fn in_part(&self, part: &Part<'_>) -> Vec<Range<usize>> {
        let mut found = shape::find(part);
        found.extend(context::find(part));
        found.extend(pem::find(part.text));
        if let Some(search) = self.search() {
            found.extend(search.find_iter(part.text).map(|found| found.range()));
        }
        merged(found)
    }

    fn search(&self) -> Option<&AhoCorasick> {
        if self.values.is_empty() {
            return None;
        }
        let build = || {
            let mut builder = AhoCorasick::builder();
            builder.match_kind(MatchKind::LeftmostLongest).build(&self.values).ok()
        };
        self.search.get_or_init(build).as_ref()
    }
}

/// The JSON pointers of the texts in a value that hold something masked.
pub fn pointers(value: &Value) -> Vec<String> {
    let mut found = Vec::new();
    point(value, &mut String::new(), &mut found);
    found
}

fn point(value: &Value, at: &mut String, found: &mut Vec<String>) {
    let length = at.len();
    match value {
        Value::String(text) if text.contains(MASKED) => found.push(at.clone()),
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                at.push_str(&format!("/{index}"));
                point(item, at, found);
                at.truncate(length);
            }
        }
        Value::Object(map) => {
            for (name, item) in map {
                at.push('/');
                at.push_str(&name.replace('~', "~0").replace('/', "~1"));
                point(item, at, found);
                at.truncate(length);
            }
        }
        _ => {}
    }
}

/// A text between two masks.
struct Part<'t> {
    text: &'t str,
    /// Whether something masked stands right before it.
    follows: bool,
    /// Whether nothing stands behind it.
    is_last: bool,
}

impl Part<'_> {
    /// Whether the text is cut off here.
    fn is_cut(&self, at: usize) -> bool {
        (self.is_last && at == self.text.len()) || self.text[at..].starts_with('…')
    }
}

/// Whether any is true; all are looked at.
fn any(all: impl Iterator<Item = bool>) -> bool {
    all.fold(false, |any, one| any | one)
}

/// Ranges in order, those that touch joined.
fn merged(mut ranges: Vec<Range<usize>>) -> Vec<Range<usize>> {
    ranges.sort_unstable_by_key(|range| range.start);
    let mut merged: Vec<Range<usize>> = Vec::with_capacity(ranges.len());
    for range in ranges {
        match merged.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => merged.push(range),
        }
    }
    merged
}

#[cfg(test)]
mod tests;
