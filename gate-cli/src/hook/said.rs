//! A client's words: its JSON on the standard input, and its environment.

use std::path::PathBuf;

use serde_json::Value;

use super::invoked;

/// A client's words. What is missing, or of another type than is expected, was
/// not said.
pub(crate) struct Said<'a> {
    value: &'a Value,
    environment: &'a [(String, String)],
}

impl<'a> Said<'a> {
    pub(crate) fn new(value: &'a Value, environment: &'a [(String, String)]) -> Self {
        Self { value, environment }
    }

    /// A text that says something.
    pub(super) fn text(&self, key: &str) -> Option<&'a str> {
        self.value.get(key)?.as_str().filter(|text| !text.trim().is_empty())
    }

    pub(super) fn owned(&self, key: &str) -> Option<String> {
        self.text(key).map(str::to_owned)
    }

    pub(super) fn path(&self, key: &str) -> Option<PathBuf> {
        self.text(key).map(PathBuf::from)
    }

    /// The elements of a list.
    pub(super) fn list(&self, key: &str) -> &'a [Value] {
        self.value.get(key).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
    }

    /// A variable of the environment that says something.
    pub(crate) fn variable(&self, name: &str) -> Option<&'a str> {
        let mut all = self.environment.iter().filter(|(_, value)| !value.is_empty());
        all.find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// Whether the client was started with one of these words; none where the
    /// client cannot be found among the processes above this one.
    pub(super) fn started_with(&self, program: &str, words: &[&str]) -> Option<bool> {
        let args = invoked::words_of(program)?;
        Some(args.iter().any(|arg| words.contains(&arg.as_str())))
    }
}
