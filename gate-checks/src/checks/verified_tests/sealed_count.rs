//! The results of sealed tests in the report of their run. Old tests run beside them: what those come
//! to was decided before.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use gate_core::integrity::tests_in_source;

use super::VerifiedTests;
use super::file_tests::{FileTests, file_in};
use super::identities::is_fully_named;
use super::overlay::Overlay;
use crate::report::{Status, TestReport};
use crate::worktree::WorkTree;

/// A sealed file.
pub(super) struct SealedFile {
    pub(super) tests: FileTests,
    /// Those of its tests that an old file of this path has with other code.
    rewritten: FileTests,
    /// The old text of the file that it stands in the place of.
    pub(super) old_text: Option<Vec<u8>>,
}

/// The sealed tests of a report.
#[derive(Debug, Default)]
pub(super) struct SealedCount {
    pub(super) passed: u64,
    pub(super) failed: u64,
    /// The tests by their result, as far as the report names them.
    pub(super) names: BTreeMap<Status, Vec<String>>,
    /// The files that hold tests of which the report has none, or none that ran.
    pub(super) silent_files: Vec<PathBuf>,
    /// All that failed in the run are other tests, or such that a person lets go.
    pub(super) is_failure_explained: bool,
}

/// The tests that a person lets fail.
#[derive(Clone, Copy)]
pub(super) struct LetGo<'l> {
    /// By an approval.
    pub(super) is_approved: &'l dyn Fn(&str) -> bool,
    /// For what takes their places.
    pub(super) is_superseded: &'l dyn Fn(&str) -> bool,
}

/// A run of the command, with the sealed tests among others.
pub(super) struct SealedReport<'r> {
    pub(super) report: &'r TestReport,
    /// That of the same tree without the sealed tests, if it is known. None if no other test ran.
    pub(super) unsealed: Option<&'r TestReport>,
    pub(super) is_alone: bool,
}

impl SealedFile {
    fn new(
        path: &Path,
        text: &[u8],
        old_text: Option<Vec<u8>>,
        tree: &WorkTree,
        cwd: &Path,
    ) -> Self {
        let tests = FileTests::new(path.to_owned(), [text], tree, cwd);
        let bodies = |text: &[u8]| {
            let mut bodies: BTreeMap<String, Vec<String>> = BTreeMap::new();
            let source = String::from_utf8_lossy(text);
            for test in tests_in_source(&path.to_string_lossy(), &source) {
                bodies.entry(test.name).or_default().push(test.body);
            }
            bodies
        };
        let old_bodies = old_text.as_deref().map(bodies).unwrap_or_default();
        let is_other = |name: &String, bodies: &Vec<String>| {
            old_bodies.get(name).is_some_and(|old_bodies| old_bodies != bodies)
        };
        let changed = bodies(text).into_iter().filter(|(name, bodies)| is_other(name, bodies));
        let rewritten = tests.with_names(changed.map(|(name, _)| name).collect());
        Self { tests, rewritten, old_text }
    }
}

impl VerifiedTests<'_> {
    /// The sealed files, with what the baseline has in their places, or the tree without a baseline.
    ///
    /// # Errors
    ///
    /// A file that cannot be read.
    pub(super) fn sealed_files(
        &self,
        folder: &Path,
        paths: &[PathBuf],
        overlay: Option<&Overlay<'_>>,
        tree: &WorkTree,
    ) -> io::Result<Vec<SealedFile>> {
        let cwd = self.folder_in(tree);
        let sealed_file = |path: &PathBuf| {
            let old_text = match overlay {
                Some(overlay) => {
                    overlay.baseline.content(tree, path).ok().flatten().map(|file| file.bytes)
                }
                None => tree.bytes(path),
            };
            Ok(SealedFile::new(path, &fs::read(folder.join(path))?, old_text, tree, &cwd))
        };
        paths.iter().map(sealed_file).collect()
    }
}

impl SealedCount {
    /// A sealed test that a person has approved by its name counts if its code is another than the old
    /// one's.
    pub(super) fn new(run: &SealedReport<'_>, files: &[SealedFile], let_go: LetGo<'_>) -> Self {
        let SealedReport { report, unsealed, is_alone } = *run;
        let mut count = Self::default();
        let mut reporting_files = BTreeSet::new();
        let mut has_unplaced_test = false;
        for test in &report.tests {
            let id = test.id.as_str();
            let file = files.iter().find(|file| file.tests.has(id));
            if test.status != Status::Skipped {
                reporting_files.extend(file.map(|file| &file.tests.path));
            }
            let in_unsealed = unsealed.and_then(|unsealed| status_in(unsealed, id));
            let is_new = is_alone || unsealed.is_some() && in_unsealed.is_none();
            let is_of_other_file = file.is_none() && file_in(id).is_some() && !is_alone;
            // A name that shows no file may be an old test's, unless the old file is not there.
            let is_certain = file.is_some_and(|file| {
                file_in(id).is_some() || file.old_text.is_some() || unsealed.is_none()
            });
            has_unplaced_test |= file.is_none() && is_new && !is_of_other_file;
            let is_sealed = !is_of_other_file && (is_new || is_certain);
            let is_left_out = match file {
                Some(file) => (let_go.is_approved)(id) && !file.rewritten.has_name(id),
                None => (let_go.is_approved)(id) || (let_go.is_superseded)(id),
            };
            let status = match test.status {
                Status::Passed if is_sealed => Status::Passed,
                // A failure counts unless it is certain that no sealed test failed.
                Status::Failed if !is_of_other_file && !is_left_out => Status::Failed,
                Status::Skipped if is_sealed => Status::Skipped,
                Status::Passed | Status::Failed | Status::Skipped => continue,
            };
            count.names.entry(status).or_default().push(id.to_owned());
        }
        let number = |status| count.names.get(&status).map_or(0, |names| names.len() as u64);
        (count.passed, count.failed) = (number(Status::Passed), number(Status::Failed));
        if !is_fully_named(report) {
            let named_failures = report.named(Status::Failed).count() as u64;
            count.passed = report.passed.saturating_sub(unsealed.map_or(0, |other| other.passed));
            count.failed += report.failed.saturating_sub(named_failures);
        } else if !has_unplaced_test {
            let silent = files.iter().filter(|file| {
                file.tests.holds_tests() && !reporting_files.contains(&file.tests.path)
            });
            count.silent_files = silent.map(|file| file.tests.path.clone()).collect();
        }
        count.is_failure_explained = count.failed == 0
            && report.failed > 0
            && is_fully_named(report)
            && report.errors.is_empty()
            && report.problems.is_empty();
        count
    }

    /// The number of those that ran.
    pub(super) fn ran(&self) -> u64 {
        self.passed + self.failed
    }

    /// The number of those that ran, and of those that the report calls skipped.
    pub(super) fn total(&self) -> u64 {
        self.ran() + self.named(Status::Skipped).len() as u64
    }

    /// The names of the tests with this result, as far as the report has them.
    pub(super) fn named(&self, status: Status) -> &[String] {
        self.names.get(&status).map_or(&[], Vec::as_slice)
    }
}

fn status_in(report: &TestReport, id: &str) -> Option<Status> {
    report.tests.iter().find(|test| test.id == id).map(|test| test.status)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{Format, Test};
    use crate::site::CheckSite;

    fn report(tests: &[(&str, Status)]) -> TestReport {
        let count = |status| tests.iter().filter(|test| test.1 == status).count() as u64;
        let named = tests.iter().map(|(id, status)| Test { id: (*id).into(), status: *status });
        TestReport {
            format: Format::Pytest,
            tests: named.collect(),
            passed: count(Status::Passed),
            failed: count(Status::Failed),
            skipped: count(Status::Skipped),
            flaky: Vec::new(),
            errors: Vec::new(),
            problems: Vec::new(),
            failures: Vec::new(),
        }
    }

    /// The passed, failed and silent ones among these tests beside the old ones.
    #[track_caller]
    fn check(
        file: (&str, &str, Option<&str>),
        old: &[(&str, Status)],
        tests: &[(&str, Status)],
        expected: (u64, u64, usize),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let tree = WorkTree::open(&CheckSite::new(folder.path())).unwrap();
        let (path, text, old_text) = file;
        let old_is_there = old_text.is_some();
        let old_text = old_text.map(|text| text.as_bytes().to_vec());
        let path = Path::new(path);
        let sealed = SealedFile::new(path, text.as_bytes(), old_text, &tree, Path::new(""));
        let (report, unsealed) = (report(tests), report(old));
        let run = SealedReport { report: &report, unsealed: Some(&unsealed), is_alone: false };
        let let_go =
            LetGo { is_approved: &|id| id.contains("red"), is_superseded: &|_| old_is_there };
        let count = SealedCount::new(&run, &[sealed], let_go);
        assert_eq!((count.passed, count.failed, count.silent_files.len()), expected, "{tests:?}");
    }

    #[test]
    fn a_test_of_an_old_name_counts_by_its_file() {
        use Status::{Failed, Passed, Skipped};
        let text = "def test_f():\n    assert f(2)\n";
        let replacing = ("t/test_a.py", text, Some("def test_f():\n    assert f(1)\n"));
        let old = [("t/test_a.py::test_f", Passed), ("t/test_b.py::test_f", Passed)];
        check(replacing, &old, &old, (1, 0, 0));
        check(replacing, &old, &[("t/test_a.py::test_f", Failed), old[1]], (0, 1, 0));
        // What another file's test comes to is none of theirs, and stands for none of theirs.
        check(replacing, &old, &[old[0], ("t/test_b.py::test_f", Failed)], (1, 0, 0));
        check(replacing, &old, &[old[1]], (0, 0, 1));
        check(replacing, &old, &[("t/test_a.py::test_f", Skipped), old[1]], (0, 0, 1));
    }

    #[test]
    fn a_failure_that_a_person_lets_go_is_none_of_theirs() {
        use Status::{Failed, Passed};
        let red = "def test_red():\n    assert 0\n";
        let text = format!("{red}def test_new():\n    assert 1\n");
        let old = [("t/test_a.py::test_red", Status::Skipped)];
        let tests = [("t/test_a.py::test_red", Failed), ("t/test_a.py::test_new", Passed)];
        check(("t/test_a.py", &text, Some(red)), &old, &tests, (1, 0, 0));
        // They let go of another test than this one.
        check(("t/test_a.py", &text, Some(&red.replace('0', "2"))), &old, &tests, (1, 1, 0));
    }

    #[test]
    fn a_name_without_a_file_is_no_old_test() {
        use Status::{Failed, Passed};
        let text = "@test \"adds\" {\n  true\n}\n";
        let old = [("adds", Passed)];
        check(("t/new.bats", text, None), &old, &old, (0, 0, 0));
        check(("t/new.bats", text, None), &old, &[("adds", Failed)], (0, 1, 0));
        check(("t/new.bats", text, None), &old, &[old[0], ("made up", Passed)], (1, 0, 0));
        check(("t/old.bats", text, Some("")), &old, &old, (1, 0, 0));
    }
}
