//! Tests that were written before the work: they fail until it is done.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::evidence::Evidence;

/// The new tests of a phase in which only tests are written.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FirstTests {
    /// The tests that fail, by check.
    pub failing: BTreeMap<String, Vec<String>>,
    /// The tests that pass already.
    #[serde(default)]
    pub passing: Vec<String>,
    /// The files with new or edited tests, relative to the root of the work tree.
    pub files: Vec<String>,
    /// The files of them that do not build yet, so that the names of their tests are not known.
    #[serde(default)]
    pub not_built: Vec<String>,
}

impl FirstTests {
    /// The names of the tests that fail.
    pub fn names(&self) -> Vec<String> {
        self.failing.values().flatten().cloned().collect()
    }

    /// Nothing fails, and everything builds.
    pub fn is_empty(&self) -> bool {
        self.failing.values().all(Vec::is_empty) && self.not_built.is_empty()
    }
}

impl Evidence {
    /// The result of the check `tests_first`; `None` for another check.
    pub fn first_tests(&self) -> Option<FirstTests> {
        FirstTests::deserialize(self.detail.as_ref()?.get("tests_first")?).ok()
    }

    /// The number of tests that were written before the work and pass now; `None` if the check
    /// has no such tests.
    pub fn first_tests_passed(&self) -> Option<u64> {
        self.detail.as_ref()?.get("tests")?.get("written_first")?.as_u64()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::decide::evidence::Outcome;
    use crate::decide::policy::Mode;

    #[test]
    fn a_record_says_what_was_written_first() {
        let mut evidence = Evidence::new("tests_first", Mode::Require, Outcome::Pass);
        assert_eq!((evidence.first_tests(), evidence.first_tests_passed()), (None, None));
        let first = json!({ "failing": { "tests": ["a"] }, "files": ["test_a.py"] });
        evidence.detail = Some(json!({ "tests_first": first, "tests": { "written_first": 1 } }));
        let read = evidence.first_tests().unwrap_or_default();
        assert_eq!((read.names(), read.files), (vec!["a".to_owned()], vec!["test_a.py".into()]));
        assert_eq!(evidence.first_tests_passed(), Some(1));
    }

    #[test]
    fn tests_that_do_not_build_are_some() {
        let passing = vec!["a".to_owned()];
        let first = FirstTests { passing, ..FirstTests::default() };
        assert!(first.is_empty());
        let not_built = vec!["new.rs".to_owned()];
        assert!(!FirstTests { not_built, ..first }.is_empty());
    }
}
