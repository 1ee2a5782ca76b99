//! The tests of a pull request by name: which of the base's does the change still run?

use std::collections::BTreeMap;
use std::path::Path;

use gate_core::integrity::{Guarded, guarded};

use super::identities::{Comparison, is_fully_named};
use super::overlay::Overlay;
use super::test_workspace::TestWorkspace;
use super::verdict::Verdict;
use super::{Trouble, VerifiedTests};
use crate::check::Occasion;
use crate::report::{Status, Test, TestReport};
use crate::worktree::{File, WorkTree};

impl VerifiedTests<'_> {
    /// A reviewer has approved tests that are lost.
    pub(super) fn is_approved(&self) -> bool {
        self.cx.options.occasion == Occasion::PullRequest { approved: true }
    }

    /// Looks for tests of the base that are gone from the tree's own run, or skipped there. `None` if
    /// nothing can be compared. `base_report` is that of the base's tests over the product, if they
    /// ran.
    pub(super) async fn compare_by_name(
        &self,
        deciding_copy: &mut TestWorkspace,
        overlay: &Overlay<'_>,
        base_report: Option<&TestReport>,
        verdict: &Verdict,
    ) -> Result<Option<Comparison>, Trouble> {
        let Some(report) = &verdict.report else { return Ok(None) };
        // A product can leave out tests that nobody edited, which then are skipped in both runs, and a
        // source can be gone with the tests in it. Only a run of the base itself shows them. Marks
        // without a condition, and such about the machine, say the same as before.
        let has_skipped = |report: &TestReport| report.named(Status::Skipped).next().is_some();
        let may_hide_tests = has_skipped(report) || base_report.is_some_and(has_skipped);
        let needs_base_run = may_hide_tests
            && self.has_conditional_skip(deciding_copy.tree(), overlay)
            || overlay.has_lost_inline_tests(deciding_copy.tree())?;
        let base_tests = if needs_base_run {
            let run = self.baseline_run(deciding_copy, overlay).await?;
            run.map(|run| run.tests).filter(|tests| !tests.is_empty())
        } else {
            let named_report = base_report.filter(|report| names_passed_tests(report));
            named_report.map(|report| report.tests.clone())
        };
        let Some(base_tests) = base_tests else {
            let base_count = base_report.map_or(0, TestReport::executed);
            let run_count = report.executed();
            let is_fewer = run_count < base_count;
            return Ok(is_fewer.then(|| Comparison::fewer(base_count, run_count)));
        };
        let base_tests = without_changing_parameters(base_tests, report);
        if !is_fully_named(report) {
            return Ok(Some(Comparison::unlisted(base_tests.len())));
        }
        Ok(Some(self.compare_tests(deciding_copy.tree(), overlay, &base_tests, report)))
    }

    /// A test may be skipped under a condition of the product's, or by the product itself.
    fn has_conditional_skip(&self, tree: &WorkTree, overlay: &Overlay<'_>) -> bool {
        let may_skip = |path: &Path, is_harmless: fn(&str) -> bool| {
            let bytes = tree.bytes(path).unwrap_or_default();
            String::from_utf8_lossy(&bytes)
                .lines()
                .any(|line| line.to_ascii_lowercase().contains("skip") && !is_harmless(line))
        };
        let is_of_tests = |path: &Path| {
            matches!(guarded(&path.to_string_lossy()), Some(Guarded::Test | Guarded::Support))
        };
        let changed_files = overlay.changes.iter().map(|change| change.path.as_path());
        let mut product = changed_files.filter(|path| !is_of_tests(path));
        let mut tests = self.cx.tree.files().map(File::path).filter(|path| is_of_tests(path));
        product.any(|path| may_skip(path, |_| false))
            || tests.any(|path| may_skip(path, is_unconditional))
    }
}

/// A line that skips whatever the product is: by a mark without a condition, or by one about the
/// machine.
fn is_unconditional(line: &str) -> bool {
    const CONDITIONS: [&str; 11] = [
        "skipif",
        "skipIf",
        "skipUnless",
        "runIf",
        "importorskip",
        "pytest.skip(",
        "skipTest(",
        "SkipTest",
        "t.Skip",
        "this.skip(",
        "ctx.skip(",
    ];
    const MACHINE: [&str; 9] = [
        "sys.platform",
        "sys.version_info",
        "sys.implementation",
        "os.name",
        "os.uname",
        "platform.",
        "process.platform",
        "shutil.which",
        "runtime.GOOS",
    ];
    // `photos.name` and `cart.platform.old` are the product's.
    let begins_name = |offset: usize| {
        !line[..offset].ends_with(|char: char| char.is_alphanumeric() || matches!(char, '_' | '.'))
    };
    let has_name = |name: &&str| line.match_indices(*name).any(|(offset, _)| begins_name(offset));
    let is_call = line.trim_start().starts_with("t.skip(");
    !is_call && !CONDITIONS.iter().any(|word| line.contains(word)) || MACHINE.iter().any(has_name)
}

/// The tests without those whose parameters have other names in each run, such as a time, if as many
/// of them ran.
fn without_changing_parameters(mut tests: Vec<Test>, report: &TestReport) -> Vec<Test> {
    let executed_counts = counts_by_function(&report.tests);
    let needed_counts = counts_by_function(&tests);
    tests.retain(|test| {
        function_of_parameters(&test.id).is_none_or(|function| {
            let [executed, needed] = [&executed_counts, &needed_counts]
                .map(|counts| counts.get(function).copied().unwrap_or(0));
            executed < needed
        })
    });
    tests
}

/// The number of tests with parameters that were not skipped, by the function that they call.
fn counts_by_function(tests: &[Test]) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for test in tests.iter().filter(|test| test.status != Status::Skipped) {
        if let Some(function) = function_of_parameters(&test.id) {
            *counts.entry(function.to_owned()).or_default() += 1;
        }
    }
    counts
}

/// The part of a test's name before its parameters, as pytest writes them; `None` without any.
fn function_of_parameters(id: &str) -> Option<&str> {
    id.split_once('[').map(|(function, _)| function)
}

/// A runner that names failing tests alone says nothing of the others.
fn names_passed_tests(report: &TestReport) -> bool {
    is_fully_named(report) && report.named(Status::Passed).next().is_some()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Format;

    fn tests(list: &[(&str, Status)]) -> Vec<Test> {
        list.iter().map(|(id, status)| Test { id: (*id).to_owned(), status: *status }).collect()
    }

    #[track_caller]
    fn check(base: &[(&str, Status)], now: &[(&str, Status)], expected: &[&str]) {
        let report = TestReport {
            format: Format::Pytest,
            tests: tests(now),
            passed: 0,
            failed: 0,
            skipped: 0,
            flaky: Vec::new(),
            errors: Vec::new(),
            problems: Vec::new(),
            failures: Vec::new(),
        };
        let needed = without_changing_parameters(tests(base), &report);
        let names: Vec<_> = needed.iter().map(|test| test.id.as_str()).collect();
        assert_eq!(names, expected);
    }

    #[test]
    fn parameters_may_change_if_as_many_cases_run() {
        use Status::{Passed, Skipped};
        check(&[("f[1]", Passed), ("g", Passed)], &[("f[2]", Passed)], &["g"]);
        check(&[("f[1]", Passed), ("f[2]", Passed)], &[("f[1]", Passed)], &["f[1]", "f[2]"]);
        check(&[("f[1]", Skipped)], &[("f[1]", Passed)], &[]);
        check(&[("f[1]", Skipped)], &[], &[]);
    }
}
