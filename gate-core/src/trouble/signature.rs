//! The signature of an error: the same for the same trouble.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{line, normal};
use crate::decide::evidence::{Evidence, Outcome};

/// The most error lines in a signature.
const MAX_LINES: usize = 5;

/// The longest signature, in characters.
const MAX_SIGNATURE_CHARS: usize = 300;

/// The fewest letters of a line that tells one error from another.
const MIN_LETTERS: usize = 3;

/// An error without the details that differ from one time to the next: up to five error
/// lines, normalised, of at most 300 characters together.
///
/// Iterations with the same signature are stuck on the same error.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Signature(String);

impl Signature {
    /// The signature of outputs that failed, in their order: their error
    /// lines, or the last line of an output without error lines. `None` if no line identifies
    /// an error.
    ///
    /// ```
    /// use gate_core::trouble::Signature;
    ///
    /// let one = Signature::from_outputs(["error: cannot find `x` in /tmp/a1/src/main.rs:12:5"]);
    /// let two = Signature::from_outputs(["error: cannot find `x` in /tmp/b2/src/main.rs:14:9"]);
    /// assert_eq!(one, two);
    /// assert_ne!(one, Signature::from_outputs(["error: cannot find `y` in src/main.rs:12:5"]));
    /// ```
    pub fn from_outputs<'t>(outputs: impl IntoIterator<Item = &'t str>) -> Option<Self> {
        let mut lines = Lines::default();
        for output in outputs {
            if lines.is_full() {
                break;
            }
            if !line::is_guard(output) && !lines.take(output) {
                line::last_cause(output).into_iter().for_each(|line| lines.add(line));
            }
        }
        lines.join()
    }

    /// The signature of the evidence that fails: the names of the checks with those of their
    /// failed tests, or with their summary. `None` if no failure counts.
    pub fn from_evidence(evidence: &[Evidence]) -> Option<Self> {
        let failing = evidence.iter().filter(|record| record.counts_as(Outcome::Fail));
        let failures: Vec<_> = failing.map(failure).collect();
        Self::from_outputs(failures.iter().map(String::as_str))
    }

    /// The signature of an agent's text: its error lines alone.
    pub(super) fn from_prose(text: &str) -> Option<Self> {
        let mut lines = Lines::default();
        lines.take(text);
        lines.join()
    }

    /// Its text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<Signature> for String {
    fn from(signature: Signature) -> Self {
        signature.0
    }
}

/// The failing test or check, on one line.
fn failure(evidence: &Evidence) -> String {
    let names = evidence.failed_tests();
    let details = if names.is_empty() { evidence.summary.clone() } else { names.join(" ") };
    format!("{}: {details}", evidence.check)
}

/// Different lines, normalised, in the order in which they came.
#[derive(Default)]
struct Lines(Vec<String>);

impl Lines {
    fn is_full(&self) -> bool {
        self.0.len() >= MAX_LINES
    }

    /// Takes the error lines of a text, as many as there is room for. False
    /// if it has none.
    fn take(&mut self, text: &str) -> bool {
        let mut has_errors = false;
        for line in line::errors(text) {
            has_errors = true;
            self.add(line);
            if self.is_full() {
                break;
            }
        }
        has_errors
    }

    fn add(&mut self, line: &str) {
        let line = normal::normalise(line);
        if letters(&line) >= MIN_LETTERS && !self.is_full() && !self.0.contains(&line) {
            self.0.push(line);
        }
    }

    fn join(self) -> Option<Signature> {
        let text = self.0.join(" | ");
        (!text.is_empty()).then(|| Signature(text.chars().take(MAX_SIGNATURE_CHARS).collect()))
    }
}

/// The letters of a line, apart from those of marks such as `<path>`.
fn letters(line: &str) -> usize {
    let mut in_mark = false;
    let letters = line.chars().filter(|char| {
        in_mark = (in_mark || *char == '<') && *char != '>';
        !in_mark && char.is_alphabetic()
    });
    letters.count()
}
