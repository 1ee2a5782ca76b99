//! Tests that stand elsewhere with the same code, or have another name: a module or a package was
//! moved or split, and its path is part of their names; a test is called otherwise.
//!
//! A limit: the code of a test is its own text, not that of what it calls.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use gate_core::integrity::tests_in_source;

use super::{Compared, ends, name};
use crate::checks::verified_tests::overlay::Overlay;
use crate::report::{Status, Test, TestReport};
use crate::worktree::WorkTree;

/// The longest file whose tests are read.
const MAX_FILE_BYTES: usize = 4 << 20;

/// Tests by their own names, each with its code.
type Bodies = BTreeMap<String, Vec<String>>;

/// The tests that left files since the baseline, and those that came into files.
#[derive(Debug, Default)]
pub(in crate::checks::verified_tests) struct Sources {
    left: Bodies,
    came: Bodies,
}

impl Sources {
    /// By the files that changed.
    pub(in crate::checks::verified_tests) fn new(overlay: &Overlay<'_>, tree: &WorkTree) -> Self {
        let mut sources = Self::default();
        for change in &overlay.changes {
            let before = overlay.baseline.content(tree, &change.path).ok().flatten();
            let before = before.map(|stored| stored.bytes).unwrap_or_default();
            let now = tree.bytes(&change.path).unwrap_or_default();
            sources.file(&change.path, &before, &now);
        }
        sources
    }

    /// A file's tests that are not there in both versions.
    fn file(&mut self, path: &Path, before: &[u8], now: &[u8]) {
        let [mut before, mut now] = [before, now].map(|bytes| tests(path, bytes));
        let both: Vec<_> = before.iter().filter(|test| now.contains(test)).cloned().collect();
        before.retain(|test| !both.contains(test));
        now.retain(|test| !both.contains(test));
        for (tests, into) in [(before, &mut self.left), (now, &mut self.came)] {
            for (name, body) in tests {
                into.entry(name).or_default().push(body);
            }
        }
    }

    /// True if so many tests of this own name left, and the same came.
    fn accounts_for(&self, own: &str, count: usize) -> bool {
        let [left, came] = [&self.left, &self.came].map(|bodies| {
            let mut bodies = bodies.get(own).cloned().unwrap_or_default();
            bodies.sort_unstable();
            bodies
        });
        left.len() == count && left == came
    }
}

impl Sources {
    /// The name of the only test that came with the code of the only one that left under this name.
    fn new_name(&self, own: &str) -> Option<&str> {
        let [body] = self.left.get(own)?.as_slice() else { return None };
        let renamed =
            self.came.iter().filter(|(name, bodies)| *bodies == &[body.replacen(own, name, 1)]);
        let mut names = renamed.map(|(name, _)| name.as_str());
        match (names.next(), names.next()) {
            (Some(only), None) => Some(only),
            _ => None,
        }
    }
}

fn tests(path: &Path, bytes: &[u8]) -> Vec<(String, String)> {
    if bytes.len() > MAX_FILE_BYTES {
        return Vec::new();
    }
    tests_in_source(&path.to_string_lossy(), &String::from_utf8_lossy(bytes))
}

/// The last part of a test's name.
fn own_name(id: &str) -> &str {
    ends(id).min_by_key(|end| end.len()).unwrap_or(id)
}

impl Compared {
    /// Takes those that are gone for moved, if as many new ones with the same own name ran, and the
    /// same code left files and came into others.
    pub(in crate::checks::verified_tests) fn relocate(
        &mut self,
        before: &[Test],
        now: &TestReport,
        sources: impl FnOnce() -> Sources,
    ) {
        if self.gone.is_empty() {
            return;
        }
        let known: BTreeSet<_> = before.iter().map(|test| name(&test.id)).collect();
        let mut new: BTreeMap<String, usize> = BTreeMap::new();
        for test in now.tests.iter().filter(|test| test.status != Status::Skipped) {
            if !known.contains(&name(&test.id)) {
                *new.entry(own_name(&test.id).to_owned()).or_default() += 1;
            }
        }
        let mut gone: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for id in &self.gone {
            gone.entry(own_name(id).to_owned()).or_default().push(id.clone());
        }
        let sources = sources();
        let moved = gone.iter().filter(|(own, ids)| {
            new.get(*own) == Some(&ids.len()) && sources.accounts_for(own, ids.len())
        });
        let mut moved: BTreeSet<String> = moved.flat_map(|(_, ids)| ids.clone()).collect();
        for (own, ids) in gone {
            if let ([id], false) = (ids.as_slice(), moved.contains(&ids[0]))
                && sources.new_name(&own).is_some_and(|name| new.remove(name) == Some(1))
            {
                moved.insert(id.clone());
            }
        }
        self.gone.retain(|id| !moved.contains(id));
        self.passed += moved.len();
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
        let mut compared = Compared { gone: ids, ..Compared::default() };
        compared.relocate(&report(&before).tests, &report(now), || {
            let mut sources = Sources::default();
            for (path, before, now) in files {
                sources.file(Path::new(path), before.as_bytes(), now.as_bytes());
            }
            sources
        });
        assert_eq!(compared.passed, compared.moved.len());
        compared.gone
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
