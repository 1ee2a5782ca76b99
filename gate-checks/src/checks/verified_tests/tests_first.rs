//! `tests_first`: a phase in which only tests are written.
//!
//! The new tests have to load and to run, and one of them has to fail: the work that makes it pass
//! is not done yet. Old tests have to end as before. A file that does not load says nothing of a
//! missing behaviour, so it is refused. A compiled test is another case: it cannot be built before
//! what it calls exists, and is accepted if names are all that it lacks.

mod not_built;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Instant;

use async_trait::async_trait;
use gate_core::decide::evidence::{Evidence, Outcome};
use gate_core::decide::first_tests::FirstTests;
use gate_core::decide::policy::{CheckPolicy, Mode, Policy};
use gate_core::integrity::{Guarded, is_prose, tests_in_source, with_baseline_inline_tests};
use gate_core::text::{MAX_NAMES, some_names};
use gate_platform::OsStrExt;
use serde_json::json;

use not_built::not_built;

use super::baseline_run::{BaselineRun, RunKind};
use super::identities::{
    NameChanges, compare, failing_without_work, is_fully_named, new_and_passed, stable_name,
};
use super::overlay::{Overlay, Replacement};
use super::test_workspace::{Contents, TestWorkspace};
use super::verdict::Verdict;
use super::{Trouble, VerifiedTests, open_context};
use crate::baseline::{Baseline, Change, ChangeKind};
use crate::cancellation::Cancellation;
use crate::check::{Check, CheckContext, CheckId};
use crate::checks::command::test_checks;
use crate::checks::test_run::FinishedRun;
use crate::report::{Status, Test, TestReport};
use crate::site::CheckSite;
use crate::worktree::{WorkTree, shown};

/// The check's name.
const NAME: &str = "tests_first";

/// The remedy for a test file that does not load.
const LOAD: &str = "a test has to load and to fail by itself: use what does not exist yet inside \
                    the test, not at the top of its file";

/// The policy of a phase in which only tests are written. None if no check of tests is known whose
/// command gate can run in a copy.
pub fn tests_first_policy(policy: &Policy, site: &CheckSite) -> Option<Policy> {
    let test_checks: Vec<_> = test_checks(policy, site)
        .into_iter()
        .map(|(id, settings)| (id.as_str().to_owned(), settings))
        .collect();
    let (_, first_settings) = test_checks.first()?;
    let timeout_ms = test_checks.iter().map(|(_, settings)| settings.timeout_ms).max()?;
    let phase_settings = CheckPolicy {
        mode: Mode::Require,
        command: Vec::new(),
        timeout_ms,
        needs: Vec::new(),
        hermetic: false,
        sealed: None,
        report: None,
        retry: 0,
        paths: Vec::new(),
        tests: test_checks.iter().cloned().collect(),
        ..first_settings.clone()
    };
    let mut phase_policy = policy.clone();
    phase_policy.checks.retain(|name, _| name == "integrity");
    phase_policy.checks.insert(NAME.to_owned(), phase_settings);
    Some(phase_policy)
}

/// The check of a phase in which only tests are written.
pub(in crate::checks) struct TestsFirst {
    id: CheckId,
    /// The checks of tests that it stands for.
    test_checks: Vec<(CheckId, CheckPolicy)>,
}

/// The changed files, but for removed tests and prose.
#[derive(Default)]
struct ChangedFiles {
    /// Files with new or edited tests.
    tests: Vec<PathBuf>,
    /// Other files, which may not change in this phase, by name.
    product: Vec<String>,
}

/// The result of a check's new tests.
enum NewTests {
    /// The run holds, and the new tests were added.
    Added,
    /// The run does not hold: this record says why.
    Refused(Box<Evidence>),
}

impl TestsFirst {
    pub(in crate::checks) fn new(id: CheckId, settings: &CheckPolicy) -> Self {
        let test_checks = settings
            .tests
            .iter()
            .map(|(name, settings)| (CheckId::new(name), settings.clone()))
            .collect();
        Self { id, test_checks }
    }

    async fn check_tests(&self, cx: &CheckContext) -> Result<Evidence, Trouble> {
        let tree = WorkTree::open(&cx.site)?;
        let Some(overlay) = Overlay::new(cx, &tree)? else {
            let summary = "outside of git, or nothing was committed: which tests are new is not \
                           known";
            return Ok(self.evidence(Outcome::Inconclusive, summary));
        };
        let changed = ChangedFiles::new(&overlay, &tree)?;
        if !changed.product.is_empty() {
            let names = some_names(&changed.product, MAX_NAMES);
            let summary = format!(
                "only tests may change in this phase: undo the changes of {names}; the next phase \
                 writes the code"
            );
            return Ok(self.evidence(Outcome::Fail, summary));
        }
        if changed.tests.is_empty() {
            let summary = "no test file is new or edited: write tests that fail until the work is \
                           done";
            return Ok(self.evidence(Outcome::Fail, summary));
        }
        let changed_old_tests = self.changed_old_tests(&tree, &overlay)?;
        if !changed_old_tests.is_empty() {
            let names = some_names(&changed_old_tests, MAX_NAMES);
            let summary = format!(
                "old tests stay as they are: undo the changes of {names}, but for whole new tests, \
                 or write the new ones in a file of their own"
            );
            return Ok(self.evidence(Outcome::Fail, summary));
        }
        let mut first_tests = FirstTests {
            files: changed.tests.iter().map(|path| shown(path.as_os_str().as_bytes())).collect(),
            ..FirstTests::default()
        };
        for (id, settings) in &self.test_checks {
            let check = VerifiedTests::new(id, settings, cx);
            let new_tests = check.add_new_tests(&tree, &overlay, &changed, &mut first_tests);
            if let NewTests::Refused(evidence) = new_tests.await? {
                return Ok(*evidence);
            }
        }
        Ok(self.judged(&first_tests))
    }

    /// The old files of tests in which more was done than to add tests. Their old texts would not
    /// decide any more: the next phase takes the new ones for the baseline's.
    fn changed_old_tests(
        &self,
        tree: &WorkTree,
        overlay: &Overlay<'_>,
    ) -> Result<Vec<String>, Trouble> {
        let replacements = overlay.replacements(tree, &BTreeSet::new())?;
        let changed_old_tests = replacements.iter().filter(|file| {
            !file.is_new()
                && !file.is_without_tests()
                && !has_all_old_tests(tree, overlay, &file.path)
        });
        Ok(changed_old_tests.map(Replacement::name).collect())
    }

    fn judged(&self, first_tests: &FirstTests) -> Evidence {
        let mut evidence = if first_tests.is_empty() {
            let defect = match first_tests.passing.as_slice() {
                [] => {
                    let files = some_names(&first_tests.files, MAX_NAMES);
                    format!("the runner found no new test in {files}")
                }
                [test] => format!("the new test passes already: {test}"),
                tests => format!("all new tests pass already: {}", some_names(tests, MAX_NAMES)),
            };
            let summary = format!("{defect}; write one that fails until the work is done");
            self.evidence(Outcome::Fail, summary)
        } else {
            let clause = |names: &[String], singular, plural| match names.len() {
                0 => None,
                1 => Some(format!("1 {singular}: {}", some_names(names, MAX_NAMES))),
                count => Some(format!("{count} {plural}: {}", some_names(names, MAX_NAMES))),
            };
            let clauses = [
                clause(&first_tests.names(), "new test fails", "new tests fail"),
                clause(
                    &first_tests.not_built,
                    "file does not build before the work",
                    "files do not build before the work",
                ),
                clause(&first_tests.passing, "passes already", "pass already"),
            ];
            self.evidence(
                Outcome::Pass,
                clauses.into_iter().flatten().collect::<Vec<_>>().join("; "),
            )
        };
        evidence.detail = Some(json!({ NAME: first_tests }));
        evidence
    }
}

#[async_trait]
impl Check for TestsFirst {
    fn id(&self) -> &CheckId {
        &self.id
    }

    async fn run(&self, cx: &CheckContext) -> Evidence {
        let began = Instant::now();
        let mut evidence = match self.check_tests(cx).await {
            Ok(evidence) => evidence,
            Err(trouble) => self.evidence(Outcome::Inconclusive, trouble.to_string()),
        };
        self.id.as_str().clone_into(&mut evidence.check);
        evidence.with_duration(began.elapsed())
    }
}

impl ChangedFiles {
    fn new(overlay: &Overlay<'_>, tree: &WorkTree) -> Result<Self, Trouble> {
        let mut changed = Self::default();
        for change in &overlay.changes {
            if has_only_test_changes(overlay, tree, change)? {
                if change.kind != ChangeKind::Removed {
                    changed.tests.push(change.path.clone());
                }
            } else if !is_prose(&change.path.to_string_lossy()) {
                changed.product.push(shown(change.path.as_os_str().as_bytes()));
            }
        }
        Ok(changed)
    }
}

/// A test, a file that tests rest on, or a source in which only tests are changed.
fn has_only_test_changes(
    overlay: &Overlay<'_>,
    tree: &WorkTree,
    change: &Change,
) -> Result<bool, Trouble> {
    if matches!(change.guarded, Some(Guarded::Test | Guarded::Support)) {
        return Ok(true);
    }
    if change.guarded.is_some() || change.kind != ChangeKind::Edited {
        return Ok(false);
    }
    let Some(old_file) = overlay.baseline.content(tree, &change.path)? else { return Ok(false) };
    let Some(new_text) = tree.bytes(&change.path) else { return Ok(false) };
    // With the baseline's tests in it, the new source is the old one if nothing else was changed.
    let name = change.path.to_string_lossy();
    Ok(with_baseline_inline_tests(&name, &old_file.bytes, &new_text)
        .is_some_and(|source| filled_lines(&source).eq(filled_lines(&old_file.bytes))))
}

/// An edited file that has each of its old tests, with the same code.
fn has_all_old_tests(tree: &WorkTree, overlay: &Overlay<'_>, path: &Path) -> bool {
    let name = path.to_string_lossy();
    let tests = |bytes: &[u8]| tests_in_source(&name, &String::from_utf8_lossy(bytes));
    let Some(old_file) = overlay.baseline.content(tree, path).ok().flatten() else { return false };
    let Some(new_text) = tree.bytes(path) else { return false };
    let (old_tests, mut new_tests) = (tests(&old_file.bytes), tests(&new_text));
    // Each new test makes up for one old test, so that two of the same name and code stay two.
    !old_tests.is_empty()
        && old_tests.iter().all(|old_test| {
            let index = new_tests.iter().position(|new_test| new_test == old_test);
            index.map(|index| new_tests.swap_remove(index)).is_some()
        })
}

/// The lines of a source without the empty ones: some stand around new tests.
fn filled_lines(source: &[u8]) -> impl Iterator<Item = &[u8]> {
    source.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii_end).filter(|line| !line.is_empty())
}

impl VerifiedTests<'_> {
    /// Runs the tree's tests, and adds the new ones to those that stand for the work.
    async fn add_new_tests(
        &self,
        tree: &WorkTree,
        overlay: &Overlay<'_>,
        changed: &ChangedFiles,
        first_tests: &mut FirstTests,
    ) -> Result<NewTests, Trouble> {
        let mut workspace = TestWorkspace::open(tree, self.settings, self.cx).await?;
        let Some(old_tests) = self.baseline_tests(&mut workspace, overlay).await? else {
            let summary = "the tests that were there before are not known: the command names none";
            return Ok(self.refused(Outcome::Inconclusive, summary));
        };
        workspace.sync(Contents::Tree)?;
        let log = CheckId::new(format!("{}-first", self.id));
        let result = workspace.run(&log, true).await;
        if self.cx.cancel.is_cancelled() {
            return Err(Trouble::Ended);
        }
        let run = match result {
            Ok(run) => run,
            Err(evidence) => return Ok(NewTests::Refused(evidence)),
        };
        let Some(report) = run.report.clone() else {
            let summary = "the command names no test, so that no test can be seen to fail: it \
                           needs a known test runner, or `report`";
            return Ok(self.refused(Outcome::Inconclusive, summary));
        };
        let cwd = self.folder_in(tree);
        let not_built = not_built(&report, &changed.tests, &cwd);
        if not_built.is_empty() && (!report.errors.is_empty() || !is_fully_named(&report)) {
            return Ok(self.not_loaded(run));
        }
        // Where a file does not build, other tests of its program do not run either.
        let name_changes = NameChanges::new(overlay, &cwd);
        let comparison = compare(&old_tests, &report, &name_changes, &self.cx.allow);
        if let (Some(difference), true) = (comparison.difference(), not_built.is_empty()) {
            return Ok(self.refused(Outcome::Fail, &format!("{difference}; put it back")));
        }
        let passed_in_baseline: BTreeSet<_> = old_tests
            .iter()
            .filter(|test| test.status == Status::Passed)
            .map(|test| stable_name(&test.id))
            .collect();
        let (broken, failing): (Vec<_>, Vec<_>) = failing_without_work(&old_tests, &report)
            .into_iter()
            .partition(|id| passed_in_baseline.contains(id));
        if !broken.is_empty() {
            let names = some_names(&broken, MAX_NAMES);
            let summary = format!(
                "tests that passed before fail now: {names}; leave old tests as they are, and add \
                 new ones"
            );
            return Ok(self.refused(Outcome::Fail, &summary));
        }
        first_tests.failing.insert(self.id.as_str().to_owned(), failing);
        first_tests.passing.extend(new_and_passed(&old_tests, &report));
        first_tests.not_built.extend(not_built);
        Ok(NewTests::Added)
    }

    /// The baseline's tests; there may be no test. They also have to be known for the decisions of
    /// the next phase. `None` if the command does not show them.
    async fn baseline_tests(
        &self,
        workspace: &mut TestWorkspace,
        overlay: &Overlay<'_>,
    ) -> Result<Option<Vec<Test>>, Trouble> {
        let mut deciding_copy = workspace.deciding_copy(self.settings)?;
        let baseline_run = self.baseline_run(&mut deciding_copy, overlay).await?;
        if let Some(baseline_run) = baseline_run.filter(|run| !run.tests.is_empty()) {
            return Ok(Some(baseline_run.tests));
        }
        // An empty list can also mean that the report does not name its tests. Another run tells the
        // two apart.
        workspace.sync(Contents::Baseline(overlay))?;
        let log = CheckId::new(format!("{}-baseline", self.id));
        let result = workspace.run(&log, true).await;
        if self.cx.cancel.is_cancelled() {
            return Err(Trouble::Ended);
        }
        let report = result.ok().and_then(|run| run.report);
        let had_no_test = report.is_some_and(|report| {
            let count = report.executed().saturating_add(report.skipped);
            count == 0 && report.errors.is_empty() && report.problems.is_empty()
        });
        Ok(had_no_test.then(Vec::new))
    }

    fn refused(&self, outcome: Outcome, summary: &str) -> NewTests {
        NewTests::Refused(Box::new(self.id.record(outcome, summary)))
    }

    /// The record of tests that do not load, with the runner's message.
    fn not_loaded(&self, run: FinishedRun) -> NewTests {
        let mut evidence = run.judged(self.settings);
        if evidence.outcome == Outcome::Fail {
            evidence.summary = format!("{}; {LOAD}", evidence.summary);
        } else if evidence.outcome == Outcome::Pass {
            evidence.outcome = Outcome::Inconclusive;
        }
        NewTests::Refused(Box::new(evidence))
    }
}

/// Copies the stored results of a baseline's tests to a baseline that differs from it by these tests
/// alone. The new tests are demanded there as failing ones.
pub fn carry_tests(
    policy: &Policy,
    site: &CheckSite,
    old_baseline: &Baseline,
    new_baseline: &Baseline,
    first_tests: &FirstTests,
) {
    let cancel = Cancellation::default();
    let Some((tree, cx)) = open_context(policy, site, new_baseline, &cancel) else { return };
    for (id, settings) in test_checks(policy, site) {
        let check = VerifiedTests::new(&id, &settings, &cx);
        let key = check.key(RunKind::Tests);
        let Some(mut run) = old_baseline.result::<BaselineRun>(site, &tree, &key) else {
            continue;
        };
        let failing = first_tests.failing.get(id.as_str()).into_iter().flatten();
        run.tests.extend(failing.map(|id| Test { id: id.clone(), status: Status::Failed }));
        // A result that is not stored costs one more run the next time.
        let _ = new_baseline.keep_result(site, &tree, &key, &run);
    }
}

impl VerifiedTests<'_> {
    /// The tests of this check that were written before the work, by name.
    pub(super) fn first_tests(&self) -> &[String] {
        let all_checks = self.cx.options.first_tests.as_ref();
        all_checks
            .and_then(|first_tests| first_tests.failing.get(self.id.as_str()))
            .map_or(&[], Vec::as_slice)
    }

    /// ControlNames the files whose tests were written before the work and edited since.
    pub(super) fn note_edited_first_tests(&self, overlay: &Overlay<'_>, verdict: &mut Verdict) {
        let Some(first_tests) = &self.cx.options.first_tests else { return };
        if verdict.evidence.outcome != Outcome::Fail {
            return;
        }
        let edited: Vec<_> = overlay
            .changes
            .iter()
            .map(|change| shown(change.path.as_os_str().as_bytes()))
            .filter(|path| first_tests.files.contains(path))
            .collect();
        if !edited.is_empty() {
            let names = some_names(&edited, MAX_NAMES);
            let note = format!("; locked, and edited since: put back {names}");
            verdict.evidence.summary.push_str(&note);
        }
    }

    /// Counts the tests that were written before the work and pass now. Those that did not build
    /// had no names: by now they are the ones that the baseline does not know.
    pub(super) fn count_first_tests(
        &self,
        baseline_run: Option<&BaselineRun>,
        report: Option<&TestReport>,
        verdict: &mut Verdict,
    ) {
        let (Some(all), Some(report)) = (&self.cx.options.first_tests, report) else { return };
        let baseline_names: BTreeSet<_> = baseline_run
            .iter()
            .flat_map(|run| &run.tests)
            .map(|test| stable_name(&test.id))
            .collect();
        let first_names = self.first_tests();
        let has_unnamed = !all.not_built.is_empty() && !baseline_names.is_empty();
        let count = report
            .named(Status::Passed)
            .map(stable_name)
            .filter(|id| first_names.contains(id) || (has_unnamed && !baseline_names.contains(id)))
            .count();
        if count > 0 {
            verdict.add_detail("written_first", json!(count));
        }
    }
}
