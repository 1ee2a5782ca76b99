//! A finding: what was done to the work that gets around its checks.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The effect of a finding.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// It is shown, and never decides.
    Warn,
    /// It blocks.
    Block,
    /// It blocks, whatever the check's mode.
    Tamper,
}

/// A finding in one place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Finding {
    /// The rule's name.
    pub rule: String,
    /// Its effect.
    pub severity: Severity,
    /// The file, relative to the work tree's root.
    pub file: String,
    /// The line, from 1, where it concerns one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    /// The line, made fit to be shown.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub excerpt: String,
    /// The problem.
    pub message: String,
    /// The remedy.
    pub hint: String,
}

/// So much of a line is shown.
const SHOWN: usize = 160;

impl Finding {
    /// A finding about a file as a whole.
    pub fn new(rule: &str, severity: Severity, file: &str, message: impl Into<String>) -> Self {
        Self {
            rule: rule.to_owned(),
            severity,
            file: crate::text::brief(file, SHOWN * 2),
            line: None,
            excerpt: String::new(),
            message: message.into(),
            hint: String::new(),
        }
    }

    /// With what to do about it.
    #[must_use]
    pub fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: hint.into(), ..self }
    }

    /// With the line, from 0, and what stands there.
    #[must_use]
    pub fn at(self, line: usize, text: &str) -> Self {
        let excerpt = crate::text::brief(text.trim(), SHOWN);
        Self { line: Some(line + 1), excerpt, ..self }
    }

    /// The remedy, behind the file and line unless it concerns the whole tree.
    pub fn advice(&self) -> String {
        match self.file.as_str() {
            "" | "." => self.hint.clone(),
            _ => format!("{}: {}", self.place(), self.hint),
        }
    }

    /// Its file and line, for a person.
    pub fn place(&self) -> String {
        match self.line {
            Some(line) => format!("{}:{line}", self.file),
            None if self.file == "." => "the work tree".to_owned(),
            None => self.file.clone(),
        }
    }
}
