//! Tests that were there before the work, in the record of a check: those that the work
//! changed, those that were red already, and the folder that decided.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::evidence::{Evidence, Outcome};

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
}

/// The folder in which the tests of a decision ran last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum DecidedIn {
    /// No check of tests ran.
    #[default]
    None,
    /// All in a fresh folder.
    Fresh,
    /// At least one in the copy that is kept between runs.
    Warm,
}

impl Evidence {
    /// The changed tests that wait for a person's approval, if nothing else is missing.
    pub fn changed_tests(&self) -> Vec<ChangedTests> {
        if self.outcome != Outcome::Fail {
            return Vec::new();
        }
        let listed = self.tests_detail("changed").and_then(Value::as_array);
        let parsed = listed.into_iter().flatten();
        // A record may be a plug-in's: what does not fit is left out.
        let parsed = parsed.filter_map(|changed| ChangedTests::deserialize(changed).ok());
        parsed.filter(|changed| !changed.file.is_empty() || !changed.tests.is_empty()).collect()
    }

    /// The failing tests that failed at the baseline too.
    pub fn red_before(&self) -> Vec<&str> {
        if self.outcome != Outcome::Fail {
            return Vec::new();
        }
        let listed = self.tests_detail("red_before").and_then(Value::as_array);
        listed.into_iter().flatten().filter_map(Value::as_str).collect()
    }

    /// The folder in which the tests of this check ran last.
    pub fn decided_in(&self) -> DecidedIn {
        let folder = self.tests_detail("deciding");
        folder.and_then(|folder| DecidedIn::deserialize(folder).ok()).unwrap_or_default()
    }

    /// The cause if no fresh folder decided.
    pub fn why_warm(&self) -> Option<&str> {
        self.tests_detail("why_warm")?.as_str()
    }

    fn tests_detail(&self, key: &str) -> Option<&Value> {
        self.detail.as_ref()?.get("tests")?.get(key)
    }
}

impl DecidedIn {
    /// The folder of all checks together.
    pub(super) fn all(evidence: &[Evidence]) -> Self {
        let folders: Vec<_> = evidence.iter().map(Evidence::decided_in).collect();
        let worst = [Self::Warm, Self::Fresh].into_iter().find(|folder| folders.contains(folder));
        worst.unwrap_or_default()
    }
}

impl ChangedTests {
    /// The file with its tests, for a person or an agent.
    pub(super) fn shown(&self) -> String {
        match (self.file.is_empty(), self.tests.is_empty()) {
            (_, true) => self.file.clone(),
            (true, false) => self.tests.join(", "),
            (false, false) => format!("{} ({})", self.file, self.tests.join(", ")),
        }
    }
}

/// The names that `gate approve` takes for these tests: their own, or those of their files
/// if they are many. No name is cut.
pub fn names_to_approve(changed: &[ChangedTests]) -> Vec<String> {
    let count: usize = changed.iter().map(|changed| changed.tests.len()).sum();
    let is_fit = |name: &String| name.chars().count() <= MAX_NAME_CHARS && is_one_line(name);
    let mut names = Vec::new();
    for changed in changed {
        let tests = !changed.tests.is_empty() && changed.tests.iter().all(is_fit);
        if changed.file.is_empty() || (tests && count <= MAX_APPROVED_NAMES) {
            names.extend(changed.tests.iter().cloned());
        } else {
            names.push(changed.file.clone());
        }
    }
    names
}

/// The command that approves these tests.
pub fn approve_command(names: &[String]) -> String {
    let shown = names.iter().take(MAX_APPROVED_NAMES).map(|name| shell_word(name));
    let more = if names.len() > MAX_APPROVED_NAMES { " …" } else { "" };
    let words: Vec<_> = shown.collect();
    format!("gate approve {}{more} --reason …", words.join(" "))
}

fn is_one_line(name: &str) -> bool {
    !name.chars().any(char::is_control)
}

/// A word as a shell takes it.
fn shell_word(word: &str) -> String {
    let is_safe = |c: char| c.is_alphanumeric() || "_-./:@%+=,".contains(c);
    if !word.is_empty() && word.chars().all(is_safe) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests;
