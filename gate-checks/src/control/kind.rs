//! Kinds of planted tests, by how they fail.

use serde::{Deserialize, Serialize};

/// The way in which a planted test fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// It raises, throws or panics.
    Raise,
    /// The framework's assertion does not hold.
    Assertion,
    /// The same, among the tests of a file that the baseline has.
    Inside,
}

/// Some of the kinds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Kinds {
    #[serde(default)]
    raise: bool,
    #[serde(default)]
    assertion: bool,
    #[serde(default)]
    inside: bool,
}

impl Kinds {
    /// All of them.
    pub(crate) const ALL: Self = Self { raise: true, assertion: true, inside: true };

    /// None of them.
    pub(crate) const NONE: Self = Self { raise: false, assertion: false, inside: false };

    pub(crate) fn is_empty(self) -> bool {
        self == Self::NONE
    }

    /// Those that are also among others.
    pub(crate) fn and(self, others: Self) -> Self {
        Self {
            raise: self.raise && others.raise,
            assertion: self.assertion && others.assertion,
            inside: self.inside && others.inside,
        }
    }

    /// Those that are among these or others.
    pub(crate) fn or(self, others: Self) -> Self {
        Self {
            raise: self.raise || others.raise,
            assertion: self.assertion || others.assertion,
            inside: self.inside || others.inside,
        }
    }

    /// Those that are not among others.
    pub(crate) fn without(self, others: Self) -> Self {
        self.and(Self {
            raise: !others.raise,
            assertion: !others.assertion,
            inside: !others.inside,
        })
    }

    /// Their names in records.
    pub(crate) fn names(self) -> Vec<&'static str> {
        let all = [(self.raise, "raise"), (self.assertion, "assertion"), (self.inside, "inside")];
        all.into_iter().filter_map(|(is_there, name)| is_there.then_some(name)).collect()
    }
}

impl FromIterator<Kind> for Kinds {
    fn from_iter<I: IntoIterator<Item = Kind>>(kinds: I) -> Self {
        let mut all = Self::NONE;
        for kind in kinds {
            match kind {
                Kind::Raise => all.raise = true,
                Kind::Assertion => all.assertion = true,
                Kind::Inside => all.inside = true,
            }
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_told_by_name() {
        let some: Kinds = [Kind::Inside, Kind::Raise].into_iter().collect();
        assert_eq!(some.names(), ["raise", "inside"]);
        assert_eq!(Kinds::ALL.without(some).names(), ["assertion"]);
        assert!(some.and(Kinds::NONE).is_empty() && Kinds::NONE.names().is_empty());
    }
}
