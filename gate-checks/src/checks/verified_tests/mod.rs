//! Tests that are believed because of the ground they stand on.
//!
//! ```text
//! baseline run ─► old tests over the product ─► own run ─► control ─► compare ─► sealed tests
//! ```
//!
//! The old tests run in a copy of their own ([`deciding`]). The own run is the tree as it stands, in
//! another copy; if nothing about tests was changed, it is the same as that of the old tests, and one
//! run says all. Then tests that have to fail are called alone ([`control`](crate::control)): a command
//! that passes with them passes whatever happens ([`control_call`]). The tests that ran are held
//! against those of the baseline by name ([`identities`]).
//!
//! Tests that the agent does not see run last of all ([`sealed`]). Where tests are written before the
//! work, a check of its own looks at them alone ([`tests_first`]).
//!
//! If the copy lacks something that is no part of the tree, the command runs in the tree itself
//! once. It cannot pass there, but it can show why.

mod baseline_run;
mod control_call;
mod control_outcome;
mod deciding;
mod emptied;
mod file_tests;
mod identities;
mod learn;
mod overlay;
mod pull_request;
mod rerun;
mod sealed;
mod sealed_count;
mod sealed_trial;
mod select;
mod superseded;
mod test_workspace;
mod tests_first;
mod verdict;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use gate_core::decide::evidence::{Evidence, Outcome};
use gate_core::decide::policy::{CheckPolicy, Policy};
use serde_json::{Map, Value, json};

use super::launch::{OVER_MEMORY, argv};
use super::test_run::{FinishedRun, TestRun};
use crate::baseline::Baseline;
use crate::cancellation::Cancellation;
use crate::check::{CheckContext, CheckId, GatherOptions};
use crate::report::{Test, TestReport};
use crate::runner::{RunnerCommand, recognise};
use crate::scripts::scripts_of;
use crate::site::CheckSite;
use crate::store;
use crate::workspace::limit_copies;
use crate::worktree::WorkTree;

use baseline_run::{BaselineRun, RunKind};
use identities::{Comparison, NameChanges, SourceTests, compare, is_fully_named, relative_folder};
use overlay::{Overlay, Replacement};
use superseded::Superseded;
use test_workspace::{Contents, TestWorkspace, Trouble};
use verdict::Verdict;

pub use identities::is_allowed as is_test_allowed;
pub use learn::{TooSlow, learn_tests, red_tests, unknown_superseded};
pub use rerun::{RedTests, RerunTree, rerun};
pub use sealed_trial::{SealedTrial, try_sealed_tests};
pub(super) use tests_first::TestsFirst;
pub use tests_first::{carry_tests, tests_first_policy};

/// The member of a record's detail that says that the files of the baseline could not be read.
pub const BASE_UNREAD: &str = "base_unread";

/// The reason for no control if the runner is not known.
const UNKNOWN_RUNNER: &str = "the command starts no runner that gate has a control for";

/// A check whose tests are verified.
pub(super) struct VerifiedTests<'a> {
    pub(super) id: &'a CheckId,
    pub(super) settings: &'a CheckPolicy,
    pub(super) cx: &'a CheckContext,
    superseded: Superseded<'a>,
}

/// A run of tests.
#[derive(Clone)]
struct TestOutcome {
    evidence: Evidence,
    report: Option<TestReport>,
}

impl TestOutcome {
    fn new(result: Result<FinishedRun, Box<Evidence>>, settings: &CheckPolicy) -> Self {
        match result {
            Ok(run) => {
                let report = run.report.clone();
                Self { evidence: run.judged(settings), report }
            }
            Err(evidence) => Self { evidence: *evidence, report: None },
        }
    }

    fn has_passed(&self) -> bool {
        self.evidence.outcome == Outcome::Pass
    }

    /// Something other than a test failed: the copy may lack a file that the tree has.
    fn has_failed_outside_tests(&self) -> bool {
        // A run that the limit of memory has ended says nothing of what the copy lacks.
        let detail = self.evidence.detail.as_ref();
        if detail.is_some_and(|detail| detail.get(OVER_MEMORY).is_some()) {
            return false;
        }
        let has_run_tests = self.report.as_ref().is_some_and(|report| {
            report.failed > 0 || (report.executed() > 0 && report.errors.is_empty())
        });
        !self.has_passed() && !has_run_tests
    }
}

/// The two copies of the tree that the command runs in.
struct Copies {
    /// The tree as it stands.
    own: TestWorkspace,
    /// The baseline's tests over the tree's product.
    deciding: TestWorkspace,
}

impl<'a> VerifiedTests<'a> {
    pub(super) fn new(id: &'a CheckId, settings: &'a CheckPolicy, cx: &'a CheckContext) -> Self {
        Self { id, settings, cx, superseded: Superseded::default() }
    }

    /// The record of the command alone, run in the tree itself.
    pub(super) async fn look(&self) -> Evidence {
        let run = TestOutcome::new(self.run_in_tree().await, self.settings);
        let Ok(tree) = WorkTree::open(&self.cx.site) else { return run.evidence };
        let check = self.superseding(&tree, None);
        if run.has_passed() || check.superseded.is_empty() {
            return run.evidence;
        }
        check.leave_out_let_go(self.settings, run).evidence
    }

    /// The record of the check.
    pub(super) async fn run(&self) -> Evidence {
        let began = Instant::now();
        let mut evidence = match self.verify().await {
            Ok(evidence) => evidence,
            Err(trouble) => {
                let mut evidence = self.id.record(Outcome::Inconclusive, trouble.to_string());
                evidence.argv = argv(&self.settings.command, self.settings.shell);
                match trouble {
                    Trouble::Baseline(_) => evidence.with_detail(json!({ BASE_UNREAD: true })),
                    _ => evidence,
                }
            }
        };
        self.id.as_str().clone_into(&mut evidence.check);
        evidence.with_duration(began.elapsed())
    }

    async fn verify(&self) -> Result<Evidence, Trouble> {
        let tree = WorkTree::open(&self.cx.site)?;
        let evidence = self.verify_tree(&tree).await;
        if let Some(state) = &self.cx.site.state
            && !self.cx.cancel.is_cancelled()
        {
            // By now this check has left the copy, which has grown if anything was built.
            limit_copies(state, tree.root(), self.cx.copies_max_bytes);
        }
        evidence
    }

    async fn verify_tree(&self, tree: &WorkTree) -> Result<Evidence, Trouble> {
        let overlay = Overlay::new(self.cx, tree)?;
        let runner = recognise(self.settings, &self.cx.site.folder_of(self.settings));
        let check = self.superseding(tree, overlay.as_ref());
        match &overlay {
            Some(overlay) => check.against_baseline(tree, overlay, runner.as_ref()).await,
            None => check.without_baseline(tree, runner.as_ref()).await,
        }
    }

    /// The record of a check for which there is no baseline.
    async fn without_baseline(
        &self,
        tree: &WorkTree,
        runner: Option<&RunnerCommand>,
    ) -> Result<Evidence, Trouble> {
        let Some(runner) = runner else {
            let run = TestOutcome::new(self.run_in_tree().await, self.settings);
            let mut verdict = Verdict::new(self.leave_out_let_go(self.settings, run));
            verdict.note_no_control(UNKNOWN_RUNNER);
            if verdict.has_passed() && self.is_sealed(tree) {
                let own_copy = TestWorkspace::open(tree, self.settings, self.cx).await?;
                let mut deciding_copy = own_copy.deciding_copy(self.settings)?;
                self.run_sealed(&mut deciding_copy, None, None, None, &mut verdict).await?;
            }
            return Ok(verdict.finish());
        };
        let mut own_copy = TestWorkspace::open(tree, self.settings, self.cx).await?;
        own_copy.sync(Contents::Tree)?;
        let result = own_copy.run(self.id, false).await;
        let own_run = TestOutcome::new(result, own_copy.settings());
        let own_run = self.leave_out_let_go(own_copy.settings(), own_run);
        let own_run = self.without_superseded_files(&mut own_copy, None, &[], own_run).await?;
        let mut verdict = Verdict::new(own_run);
        if verdict.has_passed() {
            self.call_control(&mut own_copy, None, runner, &mut verdict).await?;
            self.doubt_isolation(&own_copy, &mut verdict).await;
            let mut deciding_copy = own_copy.deciding_copy(self.settings)?;
            self.run_sealed(&mut deciding_copy, None, Some(runner), None, &mut verdict).await?;
        }
        self.finish(verdict).await
    }

    /// The record of a check, held against the baseline.
    async fn against_baseline(
        &self,
        tree: &WorkTree,
        overlay: &Overlay<'_>,
        runner: Option<&RunnerCommand>,
    ) -> Result<Evidence, Trouble> {
        let own_copy =
            TestWorkspace::open(tree, self.settings, self.cx).await?.with_changes(overlay);
        let deciding_copy = own_copy.deciding_copy(self.settings)?;
        let mut copies = Copies { own: own_copy, deciding: deciding_copy };
        let is_loop = !self.cx.options.occasion.is_pull_request();
        let is_changed_in_loop = is_loop && !overlay.changes.is_empty();
        let mut baseline_run = None;
        if is_changed_in_loop && runner.is_some() {
            baseline_run = self.baseline_run(&mut copies.deciding, overlay).await?;
        }
        let replacements = self.replacements(tree, overlay, baseline_run.as_ref())?;
        let old_tests = match replacements.is_empty() {
            true => None,
            false => Some(self.run_old_tests(&mut copies.deciding, overlay, replacements).await?),
        };
        if let Some(old_tests) = &old_tests
            && old_tests.is_decided(&copies.deciding)
        {
            let mut verdict = Verdict::new(old_tests.run.clone());
            verdict.add_detail("base_run", json!("failed"));
            verdict.refuse(old_tests.run.clone(), &old_tests.replacements);
            self.note_red_in_baseline(&copies.deciding, overlay, &mut verdict);
            self.note_edited_first_tests(overlay, &mut verdict);
            return Ok(verdict.finish());
        }
        let own_run = self.own_run(&mut copies, overlay, runner, old_tests.is_some()).await?;
        let mut verdict = Verdict::new(own_run);
        // An unchanged tree is its own baseline: the own run has stored its result, if it names tests.
        if is_loop && !is_changed_in_loop {
            baseline_run = self.stored_result(&copies.deciding, overlay, RunKind::Tests);
        } else if is_changed_in_loop && runner.is_none() && verdict.has_passed() {
            baseline_run = self.baseline_run(&mut copies.deciding, overlay).await?;
        }
        if verdict.evidence.outcome == Outcome::Fail {
            self.note_red_in_baseline(&copies.deciding, overlay, &mut verdict);
        }
        match runner {
            Some(runner) if verdict.has_passed() => {
                let deciding_copy = &mut copies.deciding;
                self.call_control(deciding_copy, Some(overlay), runner, &mut verdict).await?;
            }
            Some(_) => verdict.note_no_control("the command did not pass without one"),
            None => verdict.note_no_control(UNKNOWN_RUNNER),
        }
        let old_report = old_tests.as_ref().and_then(|old_tests| old_tests.run.report.clone());
        let mut comparison = Comparison::without_baseline(false);
        if verdict.has_passed() && is_loop {
            let report = old_report.as_ref().or(verdict.report.as_ref());
            comparison = self.compare_with_baseline(tree, overlay, baseline_run.as_ref(), report);
        } else if verdict.has_passed() && !self.is_approved() {
            comparison = self
                .compare_by_name(&mut copies.deciding, overlay, old_report.as_ref(), &verdict)
                .await?
                .unwrap_or(comparison);
        }
        match old_tests {
            Some(old_tests) => {
                old_tests.weigh(&comparison, overlay, self.cx.options.occasion, &mut verdict);
            }
            None => {
                verdict.add_detail("overlaid", json!([]));
                verdict.add_detail("adapted", json!([]));
                verdict.compare(&comparison, overlay);
            }
        }
        if is_loop && verdict.evidence.outcome == Outcome::Fail {
            verdict.name_removed_files(&comparison, overlay, &self.folder_in(tree));
        }
        if verdict.has_passed() && is_loop {
            self.doubt_without_baseline(tree, overlay, &comparison, &mut verdict)?;
            let report = old_report.as_ref().or(verdict.report.as_ref()).cloned();
            self.count_first_tests(baseline_run.as_ref(), report.as_ref(), &mut verdict);
        }
        self.doubt_isolation(&copies.own, &mut verdict).await;
        self.doubt_isolation(&copies.deciding, &mut verdict).await;
        let deciding_copy = &mut copies.deciding;
        self.run_sealed(deciding_copy, Some(overlay), runner, old_report.as_ref(), &mut verdict)
            .await?;
        self.note_edited_first_tests(overlay, &mut verdict);
        // Without a known runner the own run was the one in the tree.
        match runner {
            Some(_) => self.finish(verdict).await,
            None => Ok(verdict.finish()),
        }
    }

    /// The files that stand otherwise in the deciding copy than in the tree.
    fn replacements(
        &self,
        tree: &WorkTree,
        overlay: &Overlay<'_>,
        baseline_run: Option<&BaselineRun>,
    ) -> Result<Vec<Replacement>, Trouble> {
        let scripts = scripts_of(self.settings, &self.cx.site, tree);
        let mut replacements = overlay.replacements(tree, &scripts)?;
        let had_tests = match baseline_run {
            Some(run) if !run.tests.is_empty() => {
                let cwd = self.folder_in(tree);
                run.tests.iter().any(|test| !overlay.has_approved_test(&cwd, &test.id))
            }
            _ => overlay.baseline.has_tests(tree)?,
        };
        if !had_tests {
            // Without its new tests the tree has none, and the baseline had none to protect.
            replacements.retain(|file| !file.is_new());
        }
        Ok(replacements)
    }

    /// Runs the tree as it is: in its own copy, if the deciding one has other files, and in the tree
    /// itself, if a copy may lack what an unknown command needs.
    async fn own_run(
        &self,
        copies: &mut Copies,
        overlay: &Overlay<'_>,
        runner: Option<&RunnerCommand>,
        is_laid_over: bool,
    ) -> Result<TestOutcome, Trouble> {
        if runner.is_none() {
            let run = TestOutcome::new(self.run_in_tree().await, self.settings);
            let run = self.leave_out_let_go(copies.own.settings(), run);
            let copy = &mut copies.deciding;
            return self.without_superseded_files(copy, Some(overlay), &[], run).await;
        }
        let copy = if is_laid_over {
            copies.own.sync(Contents::Tree)?;
            &mut copies.own
        } else {
            self.lay(&mut copies.deciding, Some(overlay), &[])?;
            &mut copies.deciding
        };
        // A test that is let go ends no run early: those behind it have to run.
        let keep_going = !self.cx.allow.is_empty() || !self.superseded.is_empty();
        let result = copy.run(self.id, keep_going).await;
        if self.cx.cancel.is_cancelled() {
            return Err(Trouble::Ended);
        }
        let is_baseline = !is_laid_over && overlay.changes.is_empty();
        if let (true, Ok(run)) = (is_baseline, &result) {
            let baseline_run = BaselineRun::new(run.report.as_ref(), run.launched.exit_code);
            // A run that names no tests may lack something at this moment alone.
            if !baseline_run.tests.is_empty() {
                self.store_baseline_run(copy, overlay, &baseline_run);
            }
        }
        // The stored run has all its failing tests: one that a person leaves out is red all the same.
        let run = TestOutcome::new(result, copy.settings());
        let run = self.leave_out_let_go(copy.settings(), run);
        let overlay = if is_laid_over { None } else { Some(overlay) };
        self.without_superseded_files(copy, overlay, &[], run).await
    }

    /// Compares the tests of a run with the baseline's.
    fn compare_with_baseline(
        &self,
        tree: &WorkTree,
        overlay: &Overlay<'_>,
        baseline_run: Option<&BaselineRun>,
        report: Option<&TestReport>,
    ) -> Comparison {
        let Some(baseline_run) = baseline_run.filter(|run| !run.tests.is_empty()) else {
            // A list of tests that a person lets go is no list of all.
            let names_tests = |report: &TestReport| is_fully_named(report) && report.executed() > 0;
            return Comparison::without_baseline(report.is_some_and(names_tests));
        };
        let Some(report) = report.filter(|report| is_fully_named(report)) else {
            return Comparison::unlisted(baseline_run.tests.len());
        };
        let mut comparison = self.compare_tests(tree, overlay, &baseline_run.tests, report);
        comparison.leave_out(self.first_tests());
        comparison
    }

    /// Compares the tests by name. Those that moved with their code count as run, and those that a
    /// person's settings leave out as allowed.
    fn compare_tests(
        &self,
        tree: &WorkTree,
        overlay: &Overlay<'_>,
        baseline_tests: &[Test],
        report: &TestReport,
    ) -> Comparison {
        let name_changes = NameChanges::new(overlay, &self.folder_in(tree));
        let mut comparison = compare(baseline_tests, report, &name_changes, &self.cx.allow);
        comparison.relocate(baseline_tests, report, || SourceTests::new(overlay, tree));
        comparison.supersede(|id| self.superseded.has(id));
        if overlay.has_approved_settings(self.cx.options.occasion) {
            comparison.allow_not_run();
        }
        comparison
    }

    /// A pass is inconclusive if a baseline with tests was taken, and the results of its tests are
    /// not known.
    fn doubt_without_baseline(
        &self,
        tree: &WorkTree,
        overlay: &Overlay<'_>,
        comparison: &Comparison,
        verdict: &mut Verdict,
    ) -> Result<(), Trouble> {
        let is_taken = !overlay.baseline.is_from_history();
        if is_taken && comparison.is_without_baseline() && overlay.baseline.has_tests(tree)? {
            let summary = "the tests of the baseline are not known: the command gave no report there. \
                           Install what it needs, then run `gate baseline` again";
            verdict.set_outcome(Outcome::Inconclusive, summary.to_owned());
        }
        Ok(())
    }

    /// A pass says nothing of a copy whose tests load files of the work tree.
    async fn doubt_isolation(&self, copy: &TestWorkspace, verdict: &mut Verdict) {
        if verdict.has_passed()
            && let Some(file) = copy.tested_file_of_tree(self.id).await
        {
            verdict.refuse_unisolated(&file);
        }
    }

    /// The folder of the check, relative to the root.
    fn folder_in(&self, tree: &WorkTree) -> PathBuf {
        relative_folder(&self.cx.site.folder_of(self.settings), tree.root())
    }

    async fn finish(&self, verdict: Verdict) -> Result<Evidence, Trouble> {
        if verdict.has_failed_outside_tests && !self.cx.cancel.is_cancelled() {
            return Ok(self.in_tree_instead(verdict).await.finish());
        }
        Ok(verdict.finish())
    }

    async fn run_in_tree(&self) -> Result<FinishedRun, Box<Evidence>> {
        TestRun::new(self.id, self.settings, self.cx).run().await
    }
}

/// Adds members to `tests` in the detail of a record.
fn add_detail(evidence: &mut Evidence, members: Value) {
    let detail = evidence.detail.get_or_insert_with(|| json!({}));
    let Some(detail) = detail.as_object_mut() else { return };
    let tests = detail.entry("tests").or_insert(Value::Null);
    if tests.is_null() {
        *tests = Value::Object(Map::new());
    }
    if let (Some(tests), Value::Object(members)) = (tests.as_object_mut(), members) {
        tests.extend(members);
    }
}

/// The tree, and a check's context for a run whose result is no evidence. `None` if the work tree
/// cannot be read.
fn open_context(
    policy: &Policy,
    site: &CheckSite,
    baseline: &Baseline,
    cancel: &Cancellation,
) -> Option<(WorkTree, CheckContext)> {
    let tree = WorkTree::open(site).ok()?;
    let snapshot = tree.snapshot().ok()?;
    let folder = site.state.as_ref().map(|state| store::tree_folder(state, tree.root()));
    let options = GatherOptions {
        baseline: Some(baseline.clone()),
        cancel: cancel.clone(),
        ..GatherOptions::default()
    };
    let cx = CheckContext::new(policy, site, Arc::new(snapshot), folder.as_deref(), options);
    Some((tree, cx))
}
