//! The run that decides: the baseline's tests on the tree's product, without a control.
//!
//! ```text
//! own run passed ─► ground ─► the baseline's tests over the product ─► compare ─► pass
//!                      ▲                    │ a test fails
//!                      │                    ▼
//!                 baseline_run     whose test is it? ── a file that nobody edited ─► fail
//!                                           │ an edited file
//!                                           ▼
//!                                  same assertions ─► once more with the edited file
//!                                  others ─► a person has to approve them
//! ```

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use gate_core::decide::evidence::Outcome;
use gate_core::integrity::{Guarded, Language, guarded};
use serde_json::json;

use super::baseline_run::{BaselineRun, Ground};
use super::identities::{self, Compared, Renamed, Sources, compare, is_allowed, names_all};
use super::overlay::{Overlay, Replacement, ReplacementKind};
use super::test_workspace::{Contents, TestWorkspace};
use super::trouble::Trouble;
use super::verdict::Verdict;
use super::{Control, TestOutcome, VerifiedTests, add_detail};
use crate::check::CheckId;
use crate::control::RunnerCommand;
use crate::report::{self, Status, TestReport};
use crate::worktree::WorkTree;

/// The most runs for one decision: each takes edited tests in place of old ones.
const MAX_RUNS: usize = 3;

/// The most tests that a record names as left out. If more are left out, the exit ends no
/// approval of a test.
const MAX_LEFT_OUT_NAMES: usize = 500;

/// The reasons why a run with the baseline's tests did not pass.
pub(super) struct Failures {
    /// The tests that failed, are gone or are skipped.
    tests: Vec<String>,
    /// Errors outside of tests, such as of a compiler.
    errors: String,
    /// No test ran, or something outside of tests failed.
    is_broken: bool,
}

/// The files that explain why a run did not pass.
#[derive(Debug, Default)]
pub(super) struct Blame<'r> {
    /// Each with its tests, as far as they are known.
    pub(super) files: BTreeMap<&'r Path, (&'r Replacement, Vec<String>)>,
    /// Tests of files that stand as in the tree, which no replaced file explains.
    pub(super) others: Vec<String>,
}

impl VerifiedTests<'_> {
    /// Runs the baseline's tests, after the tree's own tests have passed. Returns the edited files
    /// that decided in the place of their old texts.
    pub(super) async fn decide(
        &self,
        workspace: &mut TestWorkspace,
        (overlay, runner): (&Overlay<'_>, Option<&RunnerCommand>),
        verdict: &mut Verdict,
    ) -> Result<BTreeSet<PathBuf>, Trouble> {
        let planted = runner.is_some_and(|runner| workspace.is_about_tests(runner));
        let (baseline, ground) =
            self.calibrated_baseline(workspace, overlay, (runner, planted)).await?;
        let mut replacements = overlay.replacements(workspace.tree())?;
        let had_tests = match &baseline {
            Some(run) if !run.tests.is_empty() => {
                let inside = self.inside(workspace.tree());
                run.tests.iter().any(|test| !overlay.has_approved(&inside, &test.id))
            }
            _ => overlay.baseline.has_tests(workspace.tree())?,
        };
        if !had_tests {
            // Without them a run would find no test, and no test is there to be protected.
            replacements.retain(|file| !file.is_new());
        }
        let shown = replacements.iter().filter(|file| !file.is_new());
        verdict.add_detail("overlaid", json!(shown.map(Replacement::name).collect::<Vec<_>>()));
        match &ground {
            Ground::Fresh => verdict.add_detail("deciding", json!("fresh")),
            Ground::Warm(why) => {
                verdict.add_detail("deciding", json!("warm"));
                verdict.add_detail("why_warm", json!(why));
            }
        }
        let mut adapted = BTreeSet::new();
        for _ in 0..MAX_RUNS {
            let laid: Vec<_> =
                replacements.iter().filter(|file| !adapted.contains(&file.path)).collect();
            let run = self.baseline_tests(workspace, (overlay, &ground), &laid).await?;
            if self.cx.cancel.is_cancelled() {
                return Err(Trouble::Ended);
            }
            let Some(run) = run else {
                // The own run was the same.
                let report = verdict.report.clone();
                let compared = self.compared(workspace, overlay, (&baseline, report.as_ref()));
                verdict.compare(&compared, overlay);
                self.doubt_without_baseline(workspace.tree(), overlay, &compared, verdict)?;
                self.count_first(baseline.as_ref(), report.as_ref(), verdict);
                return Ok(adapted);
            };
            let run = self.let_go(workspace, run);
            let compared = self.compared(workspace, overlay, (&baseline, run.report.as_ref()));
            if run.passed() && compared.wrong().is_none() {
                verdict.compare(&compared, overlay);
                self.doubt_without_baseline(workspace.tree(), overlay, &compared, verdict)?;
                let names = adapted.iter().map(|path| path.to_string_lossy());
                verdict.add_detail("adapted", json!(names.collect::<Vec<_>>()));
                self.count_first(baseline.as_ref(), run.report.as_ref(), verdict);
                return Ok(adapted);
            }
            let failures = Failures::new(&run, &compared);
            let blame = Blame::new(&failures, &laid, &self.inside(workspace.tree()));
            if !blame.others.is_empty() || blame.files.is_empty() {
                verdict.refuse(run, &compared, &laid);
                return Ok(BTreeSet::new());
            }
            let (kept, changed): (Vec<_>, Vec<_>) = blame
                .files
                .into_values()
                .partition(|(file, _)| self.is_adapted(workspace.tree(), overlay, file));
            if !changed.is_empty() {
                verdict.needs_approval(run, &compared, &changed);
                return Ok(BTreeSet::new());
            }
            adapted.extend(kept.into_iter().map(|(file, _)| file.path.clone()));
        }
        let why = "tests were changed in too many files at once to tell which matter";
        verdict.becomes(Outcome::Inconclusive, why.to_owned());
        Ok(BTreeSet::new())
    }

    /// A pass is inconclusive if a baseline with tests was taken, and the results of its tests are
    /// not known.
    fn doubt_without_baseline(
        &self,
        tree: &WorkTree,
        overlay: &Overlay<'_>,
        compared: &Compared,
        verdict: &mut Verdict,
    ) -> Result<(), Trouble> {
        let is_taken = !overlay.baseline.is_from_history();
        if is_taken && compared.is_without_baseline() && overlay.baseline.has_tests(tree)? {
            let summary = "the baseline's tests are not known: the command gave no report there; \
                           install what it needs, then take a new one with `gate baseline`";
            verdict.becomes(Outcome::Inconclusive, summary.to_owned());
        }
        Ok(())
    }

    /// One run of the baseline's tests. None if it would be the run of the tree's own tests again.
    async fn baseline_tests(
        &self,
        workspace: &mut TestWorkspace,
        (overlay, ground): (&Overlay<'_>, &Ground),
        laid: &[&Replacement],
    ) -> Result<Option<TestOutcome>, Trouble> {
        let none = Control::None(String::new());
        let log = CheckId::new(format!("{}-deciding", self.id));
        if *ground == Ground::Fresh && !overlay.changes.is_empty() {
            let changed = overlay.changes.iter().map(|change| change.path.as_path());
            let old: BTreeSet<_> =
                laid.iter().filter(|file| file.is_old()).map(|file| file.path.as_path()).collect();
            let changed = changed.filter(|path| !old.contains(path)).collect();
            let contents = Contents::Replaced(laid);
            let with_builds = !overlay.changes_builds(workspace.tree());
            let fresh =
                workspace.fresh((self.id, self.settings), contents, &changed, with_builds)?;
            let ran = match fresh.prepare(self.id).await {
                Ok(()) => fresh.run(&log, None, true).await,
                Err(evidence) => Err(evidence),
            };
            workspace.note_opened(fresh.take_opened());
            return Ok(Some(TestOutcome::new(ran, fresh.settings(), none)));
        }
        if laid.is_empty() {
            return Ok(None);
        }
        workspace.sync(Contents::Replaced(laid))?;
        let ran = workspace.run(&log, None, true).await;
        Ok(Some(TestOutcome::new(ran, workspace.settings(), none)))
    }

    /// Compares the tests of a run with the baseline's.
    fn compared(
        &self,
        workspace: &TestWorkspace,
        overlay: &Overlay<'_>,
        (baseline, report): (&Option<BaselineRun>, Option<&TestReport>),
    ) -> Compared {
        let Some(baseline) = baseline.as_ref().filter(|baseline| !baseline.tests.is_empty()) else {
            return Compared::unknown(report.is_some_and(names_all));
        };
        let Some(report) = report.filter(|report| names_all(report)) else {
            return Compared::unlisted(baseline.tests.len());
        };
        let renamed = Renamed::new(overlay, &self.inside(workspace.tree()));
        let mut compared = compare(&baseline.tests, report, &renamed, &self.cx.allow);
        compared.relocate(&baseline.tests, report, || Sources::new(overlay, workspace.tree()));
        compared.count_without(self.first_tests());
        if overlay.has_approved_settings(self.cx.occasion) {
            compared.allow_what_is_not_run();
        }
        compared
    }

    /// The folder of the check, relative to the root.
    pub(super) fn inside(&self, tree: &WorkTree) -> PathBuf {
        identities::inside(&self.cx.site.folder_of(self.settings), tree.root())
    }

    /// Failing tests that the operator lets go do not count.
    pub(super) fn let_go(&self, workspace: &TestWorkspace, run: TestOutcome) -> TestOutcome {
        let Some(report) = &run.report else { return run };
        let failed: Vec<_> = report.named(Status::Failed).collect();
        let only_tests = report.errors.is_empty() && report.problems.is_empty();
        if !only_tests
            || failed.is_empty()
            || !failed.iter().all(|id| is_allowed(id, &self.cx.allow))
        {
            return run;
        }
        let number = failed.len() as u64;
        let left_out: Vec<_> = failed.into_iter().take(MAX_LEFT_OUT_NAMES).collect();
        let left_out = json!({ "left_out": left_out, "left_out_count": number });
        let mut report = report.clone();
        report.failed = report.failed.saturating_sub(number);
        report.skipped += number;
        for test in report.tests.iter_mut().filter(|test| test.status == Status::Failed) {
            test.status = Status::Skipped;
        }
        report.failures.clear();
        let mut judged = report::judge(Some(&report), Some(0), workspace.settings().report);
        if report.executed() == 0 {
            judged.outcome = Outcome::Pass;
            judged.summary = "every failing test is one that a person left out".to_owned();
        }
        let mut evidence = run.evidence;
        (evidence.outcome, evidence.summary) = (judged.outcome, judged.summary);
        (evidence.exit_code, evidence.excerpt) = (Some(0), None);
        add_detail(&mut evidence, judged.detail);
        add_detail(&mut evidence, left_out);
        TestOutcome { evidence, report: Some(report), ..run }
    }
}

impl Failures {
    pub(super) fn new(run: &TestOutcome, compared: &Compared) -> Self {
        let Some(report) = &run.report else {
            let errors = run.evidence.excerpt.clone().unwrap_or_default();
            return Self { tests: Vec::new(), errors, is_broken: true };
        };
        let failed = report.named(Status::Failed).map(str::to_owned);
        let tests: Vec<_> = failed.chain(compared.missing().cloned()).collect();
        let is_broken = !report.errors.is_empty() || report.executed() == 0;
        let excerpt = run.evidence.excerpt.as_deref().unwrap_or_default();
        let errors = format!("{}\n{excerpt}", report.errors.join("\n"));
        Self { tests, errors, is_broken }
    }
}

impl<'r> Blame<'r> {
    pub(super) fn new(failures: &Failures, laid: &[&'r Replacement], cwd: &Path) -> Self {
        use ReplacementKind::{Edited, Inline, Recipe};
        let mut blame = Self::default();
        if failures.is_broken {
            let able = laid.iter().filter(|file| matches!(file.kind, Edited | Inline | Recipe));
            let able: Vec<_> = able.copied().collect();
            let named =
                able.iter().filter(|file| failures.errors.contains(&*file.path.to_string_lossy()));
            let named: Vec<_> = named.copied().collect();
            for file in if named.is_empty() { able } else { named } {
                blame.files.insert(&file.path, (file, Vec::new()));
            }
            return blame;
        }
        for test in &failures.tests {
            let own = laid.iter().find(|file| file.owns(cwd, test));
            match own {
                Some(file) => {
                    let entry = blame.files.entry(&file.path).or_insert((file, Vec::new()));
                    entry.1.push(test.clone());
                }
                None => blame.others.push(test.clone()),
            }
        }
        // A test that was not edited may rest on a file that was.
        let rests_on = laid
            .iter()
            .filter(|file| file.kind == Recipe || file.kind == Edited && is_support(&file.path));
        let rests_on: Vec<_> = rests_on.collect();
        if !blame.others.is_empty() && !rests_on.is_empty() {
            let others = std::mem::take(&mut blame.others);
            for file in rests_on {
                blame.files.entry(&file.path).or_insert((file, others.clone()));
            }
        }
        blame
    }
}

/// True for helpers, fixtures and snapshots.
fn is_support(path: &Path) -> bool {
    let Some(path) = path.to_str() else { return true };
    guarded(path) == Some(Guarded::Support) || Language::from_path(path).is_none()
}
