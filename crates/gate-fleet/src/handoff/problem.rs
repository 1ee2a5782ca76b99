//! Problems of a handoff.

use std::fmt;

use serde::Serialize;

/// The most problems of a kind that are listed one by one.
const MAX_PROBLEMS: usize = 100;

/// The first of many problems, and the number of the others.
pub(super) fn limited(mut problems: Vec<Problem>) -> Vec<Problem> {
    let left_out = problems.len().saturating_sub(MAX_PROBLEMS);
    if left_out > 0 {
        problems.truncate(MAX_PROBLEMS);
        problems.push(Problem::new("", format!("{left_out} more problems like these")));
    }
    problems
}

/// A problem of a handoff, with its place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// The broken validation rule of the protocol's four, from 1; `None` for problems of form
    /// and of the A2A extension.
    pub rule: Option<u8>,
    /// The field, such as `open_risks[0].owner`; empty for the whole text.
    pub field: String,
    /// The fault, and the expected value.
    pub message: String,
}

impl Problem {
    /// A problem of form.
    pub fn new(field: impl Into<String>, message: impl Into<String>) -> Self {
        Self { rule: None, field: field.into(), message: message.into() }
    }

    /// A broken rule.
    pub(super) fn rule(rule: u8, field: impl Into<String>, message: impl Into<String>) -> Self {
        Self { rule: Some(rule), ..Self::new(field, message) }
    }

    /// A problem with this field, or with a field that this one is a part of.
    pub(super) fn covers(&self, field: &str) -> bool {
        let part = field.strip_prefix(self.field.as_str());
        part.is_some_and(|part| part.is_empty() || part.starts_with(['.', '[']))
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.field.is_empty() {
            write!(f, "{}: ", self.field)?;
        }
        f.write_str(&self.message)?;
        self.rule.map_or(Ok(()), |rule| write!(f, " (rule {rule})"))
    }
}
