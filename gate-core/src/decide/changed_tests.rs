//! Tests that were there before the work, in the record of a check: those that the work
//! changed, and those that were red already.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::evidence::{Evidence, Outcome};
use crate::text::shell_word;

/// The most names that a person is asked to approve in one command.
const MAX_APPROVED_NAMES: usize = 3;

/// The longest name that is shown whole, in characters.
const MAX_NAME_CHARS: usize = 120;

/// Tests of one file that the work changed, and whose old text fails.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ChangedTests {
    /// The file, relative to the project.
    pub file: String,
    /// The tests, as the report names them.
    pub tests: Vec<String>,
    /// It is no test: settings leave its changes to a person.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub guarded: bool,
}

impl Evidence {
    /// The changed tests that wait for a person's approval, if nothing else is missing.
    pub fn changed_tests(&self) -> Vec<ChangedTests> {
        if self.outcome != Outcome::Fail {
            return Vec::new();
        }
        let rows = self.tests_detail("changed").and_then(Value::as_array).into_iter().flatten();
        // A record may be a plug-in's: a row that does not fit is left out.
        let changed = rows.filter_map(|row| ChangedTests::deserialize(row).ok());
        changed.filter(|changed| !changed.file.is_empty() || !changed.tests.is_empty()).collect()
    }

    /// The failing tests that failed at the baseline too.
    pub fn red_before(&self) -> Vec<&str> {
        if self.outcome != Outcome::Fail {
            return Vec::new();
        }
        let names = self.tests_detail("red_before").and_then(Value::as_array);
        names.into_iter().flatten().filter_map(Value::as_str).collect()
    }

    fn tests_detail(&self, key: &str) -> Option<&Value> {
        self.detail.as_ref()?.get("tests")?.get(key)
    }
}

impl ChangedTests {
    /// The file with its tests, for a person or an agent.
    pub(super) fn words(&self) -> String {
        match (self.file.is_empty(), self.tests.is_empty()) {
            (_, true) => self.file.clone(),
            (true, false) => self.tests.join(", "),
            (false, false) => format!("{} ({})", self.file, self.tests.join(", ")),
        }
    }
}

/// The names that `gate approve` takes for these tests: their own, those of their files if there are
/// too many tests, or `all` if there are too many files. No name is cut.
pub fn names_to_approve(changed: &[ChangedTests]) -> Vec<String> {
    let count: usize = changed.iter().map(|changed| changed.tests.len()).sum();
    let is_fit = |name: &String| name.chars().count() <= MAX_NAME_CHARS && is_one_line(name);
    let mut names = Vec::new();
    for changed in changed {
        let has_fit_tests = !changed.tests.is_empty() && changed.tests.iter().all(is_fit);
        if changed.file.is_empty() || (has_fit_tests && count <= MAX_APPROVED_NAMES) {
            names.extend(changed.tests.iter().cloned());
        } else {
            names.push(changed.file.clone());
        }
    }
    if names.len() > MAX_APPROVED_NAMES { vec!["all".to_owned()] } else { names }
}

/// The command that approves these tests.
pub fn approve_command(names: &[String]) -> String {
    let words: Vec<_> =
        names.iter().take(MAX_APPROVED_NAMES).map(|name| shell_word(name)).collect();
    let ellipsis = if names.len() > MAX_APPROVED_NAMES { " …" } else { "" };
    format!("gate approve {}{ellipsis} --reason …", words.join(" "))
}

fn is_one_line(name: &str) -> bool {
    !name.chars().any(char::is_control)
}

#[cfg(test)]
mod tests;
