//! The input of a hook: the client's JSON on stdin, and its environment.

use std::path::PathBuf;

use serde_json::Value;

use super::{parent_process, transcript_lag};

/// A key with a value of another type than expected counts as missing.
pub(crate) struct Payload<'a> {
    value: &'a Value,
    environment: &'a [(String, String)],
}

impl<'a> Payload<'a> {
    pub(crate) fn new(value: &'a Value, environment: &'a [(String, String)]) -> Self {
        Self { value, environment }
    }

    /// The whole event.
    pub(super) fn value(&self) -> &'a Value {
        self.value
    }

    /// None for a blank text.
    pub(super) fn text(&self, key: &str) -> Option<&'a str> {
        self.value.get(key)?.as_str().filter(|text| !text.trim().is_empty())
    }

    pub(super) fn owned(&self, key: &str) -> Option<String> {
        self.text(key).map(str::to_owned)
    }

    /// A text, also a blank one; null counts as blank.
    pub(super) fn said(&self, key: &str) -> Option<String> {
        match self.value.get(key)? {
            Value::Null => Some(String::new()),
            value => value.as_str().map(str::to_owned),
        }
    }

    pub(super) fn path(&self, key: &str) -> Option<PathBuf> {
        self.text(key).map(PathBuf::from)
    }

    /// The event's time, in milliseconds since 1970.
    pub(super) fn timestamp(&self) -> Option<i64> {
        transcript_lag::timestamp(self.value.get("timestamp"))
    }

    pub(super) fn list(&self, key: &str) -> &'a [Value] {
        self.value.get(key).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
    }

    /// A variable of the client's environment; none if empty.
    pub(crate) fn variable(&self, name: &str) -> Option<&'a str> {
        let mut all = self.environment.iter().filter(|(_, value)| !value.is_empty());
        all.find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// True if the client's command line has one of these words. None if no parent
    /// process runs the client.
    pub(super) fn started_with(&self, program: &str, words: &[String]) -> Option<bool> {
        let args = parent_process::arguments(program)?;
        Some(args.iter().any(|arg| words.contains(arg)))
    }
}
