//! The tests of a pull request by name: which of the base's does the change still run?

use std::collections::BTreeMap;
use std::path::Path;

use gate_core::integrity::{Guarded, guarded};

use super::identities::{Compared, Renamed, Sources, compare, names_all};
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

    /// Looks for tests of the base that are gone from the tree's own run, or skipped there; none if
    /// nothing can be compared. `of_base` is the report of the base's tests over the product, if they
    /// ran.
    // A product can leave out tests that nobody edited, which then are skipped in both runs, and a
    // source can be gone with the tests in it. Only a run of the base itself shows them. Marks without
    // a condition, and such about the machine, say the same as before.
    pub(super) async fn compare_names(
        &self,
        deciding: &mut TestWorkspace,
        overlay: &Overlay<'_>,
        of_base: Option<&TestReport>,
        verdict: &Verdict,
    ) -> Result<Option<Compared>, Trouble> {
        let Some(report) = &verdict.report else { return Ok(None) };
        let skips = |report: &TestReport| report.named(Status::Skipped).next().is_some();
        let may_skip = skips(report) || of_base.is_some_and(skips);
        let is_unsure = may_skip && self.skips_by_condition(deciding.tree(), overlay)
            || overlay.lost_inline_tests(deciding.tree())?;
        let tests = if is_unsure {
            let run = self.baseline_run(deciding, overlay).await?;
            run.map(|run| run.tests).filter(|tests| !tests.is_empty())
        } else {
            let named = of_base.filter(|report| names_what_passed(report));
            named.map(|report| report.tests.clone())
        };
        let Some(tests) = tests else {
            let number = of_base.map_or(0, TestReport::executed);
            let lost = number.saturating_sub(report.executed());
            return Ok((lost > 0).then(|| Compared::fewer(number, report.executed())));
        };
        let tests = without_changing_parameters(tests, report);
        if !names_all(report) {
            return Ok(Some(Compared::unlisted(tests.len())));
        }
        let renamed = Renamed::new(overlay, &self.inside(deciding.tree()));
        let mut compared = compare(&tests, report, &renamed, &self.cx.allow);
        compared.relocate(&tests, report, || Sources::new(overlay, deciding.tree()));
        if overlay.has_approved_settings(self.cx.options.occasion) {
            compared.allow_what_is_not_run();
        }
        Ok(Some(compared))
    }
}

impl VerifiedTests<'_> {
    /// Looks for tests that are skipped under a condition of the product's, and for a product that
    /// skips tests.
    fn skips_by_condition(&self, tree: &WorkTree, overlay: &Overlay<'_>) -> bool {
        let may_skip = |path: &Path, is_free: fn(&str) -> bool| {
            let text = tree.bytes(path).unwrap_or_default();
            let text = String::from_utf8_lossy(&text).into_owned();
            text.lines().any(|line| line.to_ascii_lowercase().contains("skip") && !is_free(line))
        };
        let is_of_tests = |path: &Path| {
            matches!(guarded(&path.to_string_lossy()), Some(Guarded::Test | Guarded::Support))
        };
        let product = overlay.changes.iter().map(|change| change.path.as_path());
        let tests = self.cx.tree.files().map(File::path);
        product.filter(|path| !is_of_tests(path)).any(|path| may_skip(path, |_| false))
            || tests.filter(|path| is_of_tests(path)).any(|path| may_skip(path, is_unconditional))
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
    let is_whole = |at: usize| {
        !line[..at].ends_with(|char: char| char.is_alphanumeric() || matches!(char, '_' | '.'))
    };
    let names = |word: &&str| line.match_indices(*word).any(|(at, _)| is_whole(at));
    let is_call = line.trim_start().starts_with("t.skip(");
    !is_call && !CONDITIONS.iter().any(|word| line.contains(word)) || MACHINE.iter().any(names)
}

/// The tests without those whose parameters have other names in each run, such as a time, if as many
/// of them ran.
fn without_changing_parameters(mut tests: Vec<Test>, report: &TestReport) -> Vec<Test> {
    let stem = |id: &str| id.split_once('[').map(|(stem, _)| stem.to_owned());
    let mut executed: BTreeMap<String, usize> = BTreeMap::new();
    for test in report.tests.iter().filter(|test| test.status != Status::Skipped) {
        if let Some(stem) = stem(&test.id) {
            *executed.entry(stem).or_default() += 1;
        }
    }
    let mut needed: BTreeMap<String, usize> = BTreeMap::new();
    for test in tests.iter().filter(|test| test.status != Status::Skipped) {
        if let Some(stem) = stem(&test.id) {
            *needed.entry(stem).or_default() += 1;
        }
    }
    tests.retain(|test| {
        stem(&test.id).is_none_or(|stem| executed.get(&stem).copied().unwrap_or(0) < needed[&stem])
    });
    tests
}

/// A runner that names failing tests alone says nothing of the others.
fn names_what_passed(report: &TestReport) -> bool {
    names_all(report) && report.named(Status::Passed).next().is_some()
}
