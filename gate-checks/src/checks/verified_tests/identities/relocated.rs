//! Tests that stand elsewhere with the same code, or have another name: a module or a package was
//! moved or split, and its path is part of their names; a test is called otherwise.
//!
//! A limit: the code of a test is its own text, not that of what it calls.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use gate_core::integrity::tests_in_source;

use super::{Comparison, name_suffixes, stable_name};
use crate::checks::verified_tests::overlay::Overlay;
use crate::report::{Status, Test, TestReport};
use crate::worktree::WorkTree;

/// The longest file whose tests are read.
const MAX_FILE_BYTES: usize = 4 << 20;

/// The code of tests, by their own names.
type Bodies = BTreeMap<String, Vec<String>>;

/// The tests in the changed files that one of the two versions has alone.
#[derive(Debug, Default)]
pub(in crate::checks::verified_tests) struct SourceTests {
    removed: Bodies,
    added: Bodies,
}

impl SourceTests {
    /// The tests of the files that changed since the baseline.
    pub(in crate::checks::verified_tests) fn new(overlay: &Overlay<'_>, tree: &WorkTree) -> Self {
        let mut sources = Self::default();
        for change in &overlay.changes {
            let stored_file = overlay.baseline.content(tree, &change.path).ok().flatten();
            let old_text = stored_file.map(|file| file.bytes).unwrap_or_default();
            let new_text = tree.bytes(&change.path).unwrap_or_default();
            sources.add_file(&change.path, &old_text, &new_text);
        }
        sources
    }

    fn add_file(&mut self, path: &Path, old_text: &[u8], new_text: &[u8]) {
        let old_tests = tests_in_file(path, old_text);
        let new_tests = tests_in_file(path, new_text);
        for (name, body) in old_tests.iter().filter(|test| !new_tests.contains(test)) {
            self.removed.entry(name.clone()).or_default().push(body.clone());
        }
        for (name, body) in new_tests.iter().filter(|test| !old_tests.contains(test)) {
            self.added.entry(name.clone()).or_default().push(body.clone());
        }
    }

    /// So many tests of this own name were removed, and as many were added with the same code.
    fn has_moved(&self, own_name: &str, count: usize) -> bool {
        let [removed, added] = [&self.removed, &self.added].map(|bodies| {
            let mut bodies = bodies.get(own_name).cloned().unwrap_or_default();
            bodies.sort_unstable();
            bodies
        });
        removed.len() == count && removed == added
    }

    /// The name of the only added test with the code of the only removed test of this name.
    fn new_name(&self, own_name: &str) -> Option<&str> {
        let [body] = self.removed.get(own_name)?.as_slice() else { return None };
        let renamed = self
            .added
            .iter()
            .filter(|(name, bodies)| *bodies == &[body.replacen(own_name, name, 1)]);
        let mut names = renamed.map(|(name, _)| name.as_str());
        match (names.next(), names.next()) {
            (Some(new_name), None) => Some(new_name),
            _ => None,
        }
    }
}

/// Each test's own name, and its code.
fn tests_in_file(path: &Path, bytes: &[u8]) -> Vec<(String, String)> {
    if bytes.len() > MAX_FILE_BYTES {
        return Vec::new();
    }
    let tests = tests_in_source(&path.to_string_lossy(), &String::from_utf8_lossy(bytes));
    tests.into_iter().map(|test| (test.name, test.body)).collect()
}

/// The last part of a test's name.
fn own_name(id: &str) -> &str {
    name_suffixes(id).min_by_key(|suffix| suffix.len()).unwrap_or(id)
}

impl Comparison {
    /// Takes missing tests for moved ones, if as many new ones with the same own name ran, and the
    /// same code was removed from files and added to others.
    pub(in crate::checks::verified_tests) fn relocate(
        &mut self,
        baseline_tests: &[Test],
        report: &TestReport,
        source_tests: impl FnOnce() -> SourceTests,
    ) {
        if self.missing.is_empty() {
            return;
        }
        let old_names: BTreeSet<_> =
            baseline_tests.iter().map(|test| stable_name(&test.id)).collect();
        let mut new_counts: BTreeMap<String, usize> = BTreeMap::new();
        for test in report.tests.iter().filter(|test| test.status != Status::Skipped) {
            if !old_names.contains(&stable_name(&test.id)) {
                *new_counts.entry(own_name(&test.id).to_owned()).or_default() += 1;
            }
        }
        let mut missing_by_name: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for id in &self.missing {
            missing_by_name.entry(own_name(id).to_owned()).or_default().push(id.clone());
        }
        let source_tests = source_tests();
        let mut moved: BTreeSet<String> = missing_by_name
            .iter()
            .filter(|(own_name, ids)| {
                new_counts.get(*own_name) == Some(&ids.len())
                    && source_tests.has_moved(own_name, ids.len())
            })
            .flat_map(|(_, ids)| ids.clone())
            .collect();
        for (own_name, ids) in missing_by_name {
            // A new name counts for one missing test: the next one of the same code is gone.
            if let ([id], false) = (ids.as_slice(), moved.contains(&ids[0]))
                && source_tests
                    .new_name(&own_name)
                    .is_some_and(|new_name| new_counts.remove(new_name) == Some(1))
            {
                moved.insert(id.clone());
            }
        }
        self.missing.retain(|id| !moved.contains(id));
        self.executed += moved.len();
        self.moved.extend(moved);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Format;

    const OLD: &str = "#[test]\nfn zero() {\n    assert_eq!(f(), 0);\n}\n";

    fn report(ids: &[(&str, Status)]) -> TestReport {
        let tests = ids.iter().map(|(id, status)| Test { id: (*id).to_owned(), status: *status });
        TestReport {
            format: Format::Libtest,
            tests: tests.collect(),
            passed: 0,
            failed: 0,
            skipped: 0,
            flaky: Vec::new(),
            errors: Vec::new(),
            problems: Vec::new(),
            failures: Vec::new(),
        }
    }

    /// The tests that are gone after these files changed.
    fn gone(gone: &[&str], now: &[(&str, Status)], files: &[(&str, &str, &str)]) -> Vec<String> {
        let before: Vec<_> = gone.iter().map(|id| (*id, Status::Passed)).collect();
        let ids = gone.iter().map(|id| (*id).to_owned()).collect();
        let mut comparison = Comparison { missing: ids, ..Comparison::default() };
        comparison.relocate(&report(&before).tests, &report(now), || {
            let mut sources = SourceTests::default();
            for (path, before, now) in files {
                sources.add_file(Path::new(path), before.as_bytes(), now.as_bytes());
            }
            sources
        });
        assert_eq!(comparison.executed, comparison.moved.len());
        comparison.missing
    }

    #[test]
    fn a_test_that_stands_elsewhere_with_its_code_is_moved() {
        let now = [("c::sums::tests::zero", Status::Passed)];
        let indented = OLD.replace('\n', "\n    ");
        let files = [("src/math.rs", OLD, ""), ("src/sums.rs", "", indented.as_str())];
        assert_eq!(gone(&["c::math::tests::zero"], &now, &files), [""; 0]);
        let go = "func TestA(t *testing.T) {\n\tif f() != 1 {\n\t\tt.Fatal()\n\t}\n}\n";
        let files = [("a_test.go", go, ""), ("sum/a_test.go", "", go)];
        let now = [("example.com/m/sum.TestA", Status::Passed)];
        assert_eq!(gone(&["example.com/m.TestA"], &now, &files), [""; 0]);
    }

    #[test]
    fn with_other_code_or_without_a_run_it_is_gone() {
        let id = "c::math::tests::zero";
        let weak = OLD.replace("f()", "0");
        for (now, file, more) in [
            ("c::sums::tests::zero", weak.as_str(), ""),
            ("c::sums::tests::one", OLD, ""),
            ("c::sums::tests::zero", OLD, weak.as_str()),
        ] {
            let files = [("a.rs", OLD, ""), ("b.rs", "", file), ("d.rs", "", more)];
            assert_eq!(gone(&[id], &[(now, Status::Passed)], &files), [id], "{now} {file}");
        }
        let files = [("a.rs", OLD, ""), ("b.rs", "", OLD)];
        assert_eq!(gone(&[id], &[("c::b::zero", Status::Skipped)], &files), [id]);
        assert_eq!(gone(&[id], &[], &files), [id]);
        let two = [("c::b::zero", Status::Passed), ("c::d::zero", Status::Passed)];
        assert_eq!(gone(&[id], &two, &files), [id]);
    }

    #[test]
    fn a_test_with_another_name_is_the_same_test() {
        let renamed = OLD.replace("zero", "nothing");
        let now = [("c::math::nothing", Status::Passed)];
        let files = [("src/math.rs", OLD, renamed.as_str())];
        assert_eq!(gone(&["c::math::zero"], &now, &files), [""; 0]);
        let weak = renamed.replace("f()", "0");
        let files = [("src/math.rs", OLD, weak.as_str())];
        assert_eq!(gone(&["c::math::zero"], &now, &files), ["c::math::zero"]);
        // Two that left are not one that came.
        let other = OLD.replace("zero", "one");
        let both = format!("{OLD}{other}");
        let files = [("src/math.rs", both.as_str(), renamed.as_str())];
        let left = ["c::math::zero", "c::math::one"];
        assert_eq!(gone(&left, &now, &files).len(), 1);
    }

    #[test]
    fn tests_of_one_name_move_together() {
        let other = OLD.replace("f()", "g()");
        let both = format!("mod a {{\n{OLD}}}\nmod b {{\n{other}}}\n");
        let files = [("all.rs", both.as_str(), ""), ("a.rs", "", OLD), ("b.rs", "", &other)];
        let now = [("c::x::zero", Status::Passed), ("c::y::zero", Status::Passed)];
        assert_eq!(gone(&["c::a::zero", "c::b::zero"], &now, &files), [""; 0]);
        let weaker = [("all.rs", both.as_str(), ""), ("a.rs", "", OLD), ("b.rs", "", OLD)];
        assert_eq!(gone(&["c::a::zero", "c::b::zero"], &now, &weaker).len(), 2);
    }
}
