//! Names of planted tests: words that a project could have, and a random number.

use std::collections::BTreeSet;
use std::hash::{BuildHasher, Hasher, RandomState};

use serde::{Deserialize, Serialize};

/// The way in which a planted test fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Kind {
    /// It raises, throws or panics.
    Raise,
    /// The framework's assertion does not hold.
    Assertion,
    /// The same, among the tests of a file that the baseline has.
    Inside,
}

impl Kind {
    pub(crate) const ALL: [Self; 3] = [Self::Raise, Self::Assertion, Self::Inside];
}

/// Some of the kinds.
pub(crate) type Kinds = BTreeSet<Kind>;

/// Words that tests are called after.
const WORDS: [&str; 16] = [
    "order", "range", "limit", "index", "header", "record", "offset", "total", "buffer", "filter",
    "layout", "margin", "parser", "reader", "writer", "window",
];

/// The name of one planted test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Name {
    word: &'static str,
    /// Random, and the same in all spellings of the name.
    number: String,
    kind: Kind,
}

impl Name {
    /// A name that was never used.
    pub(super) fn random(kind: Kind) -> Self {
        let places = WORDS.len() as u64;
        let word = usize::try_from(random_number() % places).ok().and_then(|at| WORDS.get(at));
        let number = format!("{:016x}", random_number());
        Self { word: word.unwrap_or(&WORDS[0]), number, kind }
    }

    /// The name with a number that is no secret.
    #[cfg(test)]
    pub(super) fn numbered(kind: Kind, number: usize) -> Self {
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

    /// A value that is not [`Self::wanted`]; the message of a failure.
    pub(super) fn got(&self) -> String {
        format!("{} {}", self.word, self.number)
    }

    /// The value that an assertion wants.
    pub(super) fn wanted(&self) -> &'static str {
        self.word
    }
}

/// A hasher's keys are the randomness that the standard library offers.
fn random_number() -> u64 {
    RandomState::new().build_hasher().finish()
}

/// The names of all tests of a control.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Names(Vec<Name>);

impl Names {
    /// True for a text that holds one of them, in any spelling.
    pub(crate) fn occur_in(&self, text: &str) -> bool {
        self.0.iter().any(|name| text.contains(&name.number))
    }

    /// The kind of the test with this name; none if it is no test of the control.
    pub(crate) fn kind(&self, test: &str) -> Option<Kind> {
        let named = self.0.iter().filter(|name| test.contains(&name.number));
        // A new file is called after its test that raises, and stands before others in their names.
        named.map(|name| name.kind).max_by_key(|kind| *kind != Kind::Raise)
    }

    /// Names with numbers that are no secret.
    #[cfg(test)]
    pub(crate) fn numbered(names: &[(Kind, usize)]) -> Self {
        names.iter().map(|(kind, number)| Name::numbered(*kind, *number)).collect()
    }

    /// The part of its name that each has in reports, as functions are named.
    pub(crate) fn in_reports(&self) -> Vec<String> {
        self.0.iter().map(Name::snake).collect()
    }

    /// The kinds of all of them.
    pub(crate) fn kinds(&self) -> Kinds {
        self.0.iter().map(|name| name.kind).collect()
    }
}

impl FromIterator<Name> for Names {
    fn from_iter<I: IntoIterator<Item = Name>>(names: I) -> Self {
        Self(names.into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_found_in_each_of_its_spellings() {
        let name = Name::random(Kind::Raise);
        let names: Names = [name.clone()].into_iter().collect();
        for text in [name.snake(), name.kebab(), name.got()] {
            assert!(names.occur_in(&format!("tests/{text}.x")), "{text}");
            assert_eq!(names.kind(&text), Some(Kind::Raise));
            assert!(!text.contains("gate") && !text.contains("control"), "{text}");
        }
        assert!(!names.occur_in(name.wanted()));
    }

    #[test]
    fn a_test_in_a_file_called_after_another_is_of_its_own_kind() {
        let names = Names::numbered(&[(Kind::Raise, 101), (Kind::Assertion, 102)]);
        assert_eq!(names.kind("order_101::order_102"), Some(Kind::Assertion));
        assert_eq!(names.kind("order_101::order_101"), Some(Kind::Raise));
    }

    #[test]
    fn no_two_names_have_the_same_number() {
        let [one, other] = [Kind::Raise, Kind::Raise].map(Name::random);
        assert_ne!(one.number, other.number);
        assert_eq!(one.number.len(), 16);
    }
}
