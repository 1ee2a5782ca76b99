//! ControlNames of planted tests: words that a project could have, and a random number.

use std::collections::BTreeSet;
use std::hash::{BuildHasher, Hasher, RandomState};

use serde::{Deserialize, Serialize};

/// The way in which a planted test fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum FailureKind {
    /// It raises, throws or panics.
    Raise,
    /// The framework's assertion does not hold.
    Assertion,
    /// The same, among the tests of a file that the baseline has.
    Inside,
}

impl FailureKind {
    pub(crate) const ALL: [Self; 3] = [Self::Raise, Self::Assertion, Self::Inside];
}

/// Some of the kinds.
pub(crate) type FailureKinds = BTreeSet<FailureKind>;

/// Words that tests are called after.
const WORDS: [&str; 16] = [
    "order", "range", "limit", "index", "header", "record", "offset", "total", "buffer", "filter",
    "layout", "margin", "parser", "reader", "writer", "window",
];

/// The name of one planted test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ControlName {
    word: &'static str,
    /// Random, and the same in all spellings of the name.
    number: String,
    kind: FailureKind,
}

impl ControlName {
    /// A name that was never used.
    pub(super) fn random(kind: FailureKind) -> Self {
        let count = WORDS.len() as u64;
        let index = usize::try_from(random_number() % count).ok();
        let word = index.and_then(|index| WORDS.get(index));
        let number = format!("{:016x}", random_number());
        Self { word: word.unwrap_or(&WORDS[0]), number, kind }
    }

    /// The name with a number that is no secret.
    #[cfg(test)]
    pub(super) fn numbered(kind: FailureKind, number: usize) -> Self {
        Self { word: WORDS[0], number: number.to_string(), kind }
    }

    /// A part of the name of a function or a file: `order_1f`.
    pub(super) fn snake(&self) -> String {
        format!("{}_{}", self.word, self.number)
    }

    /// A part of the name of a file: `order-1f`.
    pub(super) fn kebab(&self) -> String {
        format!("{}-{}", self.word, self.number)
    }

    /// A value that is not [`Self::expected_value`]; the message of a failure.
    pub(super) fn actual_value(&self) -> String {
        format!("{} {}", self.word, self.number)
    }

    /// The value that an assertion expects.
    pub(super) fn expected_value(&self) -> &'static str {
        self.word
    }
}

/// A hasher's keys are the randomness that the standard library offers.
fn random_number() -> u64 {
    RandomState::new().build_hasher().finish()
}

/// The names of all tests of a control.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ControlNames(Vec<ControlName>);

impl ControlNames {
    /// The text holds one of the names, in any spelling.
    pub(crate) fn occur_in(&self, text: &str) -> bool {
        self.0.iter().any(|name| text.contains(&name.number))
    }

    /// The kind of failure of the test with this name; `None` if it is no test of the control.
    pub(crate) fn kind_of(&self, test: &str) -> Option<FailureKind> {
        let names_in_test = self.0.iter().filter(|name| test.contains(&name.number));
        // A new file is called after its test that raises, and stands before others in their names.
        names_in_test.map(|name| name.kind).max_by_key(|kind| *kind != FailureKind::Raise)
    }

    /// ControlNames with numbers that are no secret.
    #[cfg(test)]
    pub(crate) fn numbered(names: &[(FailureKind, usize)]) -> Self {
        names.iter().map(|(kind, number)| ControlName::numbered(*kind, *number)).collect()
    }

    /// The part of each name that reports contain, as functions are named.
    pub(crate) fn in_reports(&self) -> Vec<String> {
        self.0.iter().map(ControlName::snake).collect()
    }

    /// The kinds of failure of the control's tests.
    pub(crate) fn kinds(&self) -> FailureKinds {
        self.0.iter().map(|name| name.kind).collect()
    }
}

impl FromIterator<ControlName> for ControlNames {
    fn from_iter<I: IntoIterator<Item = ControlName>>(names: I) -> Self {
        Self(names.into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_found_in_each_of_its_spellings() {
        let name = ControlName::random(FailureKind::Raise);
        let names: ControlNames = [name.clone()].into_iter().collect();
        for text in [name.snake(), name.kebab(), name.actual_value()] {
            assert!(names.occur_in(&format!("tests/{text}.x")), "{text}");
            assert_eq!(names.kind_of(&text), Some(FailureKind::Raise));
            assert!(!text.contains("gate") && !text.contains("control"), "{text}");
        }
        assert!(!names.occur_in(name.expected_value()));
    }

    #[test]
    fn a_test_in_a_file_called_after_another_is_of_its_own_kind() {
        let names =
            ControlNames::numbered(&[(FailureKind::Raise, 101), (FailureKind::Assertion, 102)]);
        assert_eq!(names.kind_of("order_101::order_102"), Some(FailureKind::Assertion));
        assert_eq!(names.kind_of("order_101::order_101"), Some(FailureKind::Raise));
    }

    #[test]
    fn no_two_names_have_the_same_number() {
        let [name, second_name] = [FailureKind::Raise, FailureKind::Raise].map(ControlName::random);
        assert_ne!(name.number, second_name.number);
        assert_eq!(name.number.len(), 16);
    }
}
