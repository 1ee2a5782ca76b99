//! Masks secrets in text: tokens of known forms, and values that the caller knows.
//!
//! Text is masked when it enters, before gate decides or stores anything, so that a
//! decision repeated from its record is the same. Masking takes time in proportion to
//! the text; masked text is never masked again. A masked text may still hold a secret:
//! a password that is a plain word in a sentence stays.

mod context;
mod fields;
mod output;
mod pem;
mod tokens;
mod variables;

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::OnceLock;

use aho_corasick::{AhoCorasick, MatchKind};
use memchr::memmem;
use serde_json::Value;

pub use variables::Variable;

/// The text in place of a secret.
pub const MASKED: &str = "[masked]";

/// The shortest secret of any kind.
const MIN_SECRET_BYTES: usize = variables::MIN_VALUE_BYTES;

/// Masks secrets in text.
#[derive(Debug, Default)]
pub struct Masker {
    values: Vec<String>,
    /// Built when a text is first searched for the values.
    search: OnceLock<Option<AhoCorasick>>,
}

impl Masker {
    /// Masks tokens of known forms, and the secrets among these variables.
    pub fn new<'v>(variables: impl IntoIterator<Item = Variable<'v>>) -> Self {
        let mut values: Vec<_> = variables.into_iter().flat_map(variables::secrets).collect();
        // To mask the mark itself, or a part of it, would change a masked text again.
        values.retain(|value| !value.contains(MASKED) && !MASKED.contains(value.as_str()));
        values.sort_unstable();
        values.dedup();
        Self { values, search: OnceLock::new() }
    }

    /// Returns the output of a check without secrets: those of any text, and the values
    /// that stand beside a secret's name in the output or in the check's command.
    pub fn output(&self, argv: &[String], output: &str) -> String {
        self.with_named(&[&argv.join(" "), output]).text(output)
    }

    /// A masker of the values, too, that stand beside a secret's name in these texts.
    fn with_named(&self, texts: &[&str]) -> Self {
        let named_values = texts.iter().flat_map(|text| output::named_values(text));
        let secrets = named_values.filter(|value| !MASKED.contains(value.as_str()));
        let values: BTreeSet<_> = self.values.iter().cloned().chain(secrets).collect();
        Self { values: values.into_iter().collect(), search: OnceLock::new() }
    }

    /// Returns the text without secrets.
    pub fn text(&self, text: &str) -> String {
        let mut masked = text.to_owned();
        self.cover(&mut masked);
        masked
    }

    /// Masks the secrets of a text.
    pub fn cover(&self, text: &mut String) {
        let secrets = self.find(text);
        if secrets.is_empty() {
            return;
        }
        let mut masked = String::with_capacity(text.len());
        let mut uncopied = 0;
        for secret in secrets {
            masked.push_str(&text[uncopied..secret.start]);
            masked.push_str(MASKED);
            uncopied = secret.end;
        }
        masked.push_str(&text[uncopied..]);
        *text = masked;
    }

    /// Masks all texts of a value, names of members too.
    pub fn value(&self, value: &mut Value) {
        match value {
            Value::String(text) => self.cover(text),
            Value::Array(elements) => {
                elements.iter_mut().for_each(|element| self.value(element));
            }
            Value::Object(map) => {
                // Names cannot be changed in place, and few have a secret.
                if map.keys().any(|name| !self.find(name).is_empty()) {
                    let members = std::mem::take(map);
                    map.extend(members.into_iter().map(|(name, value)| (self.text(&name), value)));
                }
                map.values_mut().for_each(|value| self.value(value));
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    /// The ranges of secrets, in order and without overlap.
    fn find(&self, text: &str) -> Vec<Range<usize>> {
        if text.len() < MIN_SECRET_BYTES {
            return Vec::new();
        }
        let mut secrets = Vec::new();
        let marks = memmem::find_iter(text.as_bytes(), MASKED);
        let mut start = 0;
        for mark in marks.chain([text.len()]) {
            // Masked text borders on other text, but is no part of a secret in it.
            secrets.extend(self.find_in_part(text, start..mark));
            start = mark + MASKED.len();
        }
        secrets
    }

    fn find_in_part(&self, text: &str, part: Range<usize>) -> Vec<Range<usize>> {
        let start = part.start;
        let part_text = &text[part.clone()];
        let mut in_part = context::find(part_text);
        in_part.extend(pem::find(part_text));
        if let Some(search) = self.search() {
            in_part.extend(search.find_iter(part_text).map(|secret| secret.range()));
        }
        let mut secrets = tokens::find(text, part);
        secrets.extend(in_part.into_iter().map(|secret| start + secret.start..start + secret.end));
        merged(secrets)
    }

    fn search(&self) -> Option<&AhoCorasick> {
        if self.values.is_empty() {
            return None;
        }
        self.search
            .get_or_init(|| {
                let mut builder = AhoCorasick::builder();
                builder.match_kind(MatchKind::LeftmostLongest).build(&self.values).ok()
            })
            .as_ref()
    }
}

/// The JSON pointers of the texts in a value that have a masked secret.
pub fn pointers(value: &Value) -> Vec<String> {
    let mut pointers = Vec::new();
    collect_pointers(value, &mut String::new(), &mut pointers);
    pointers
}

fn collect_pointers(value: &Value, pointer: &mut String, pointers: &mut Vec<String>) {
    let length = pointer.len();
    match value {
        Value::String(text) if text.contains(MASKED) => pointers.push(pointer.clone()),
        Value::Array(elements) => {
            for (index, element) in elements.iter().enumerate() {
                pointer.push_str(&format!("/{index}"));
                collect_pointers(element, pointer, pointers);
                pointer.truncate(length);
            }
        }
        Value::Object(map) => {
            for (name, member) in map {
                pointer.push('/');
                pointer.push_str(&name.replace('~', "~0").replace('/', "~1"));
                collect_pointers(member, pointer, pointers);
                pointer.truncate(length);
            }
        }
        _ => {}
    }
}

/// The ranges in order. Ranges that touch are joined.
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
