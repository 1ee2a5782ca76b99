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
mod identities;
mod learn;
mod overlay;
mod pull_request;
mod rerun;
mod sealed;
mod select;
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
use super::test_run::{Ran, TestRun};
use crate::baseline::Baseline;
use crate::cancellation::Cancellation;
use crate::check::{CheckContext, CheckId, GatherOptions};
use crate::report::TestReport;
use crate::runner::{RunnerCommand, recognise};
use crate::scripts::scripts_of;
use crate::site::CheckSite;
use crate::store;
use crate::workspace::limit_copies;
use crate::worktree::WorkTree;

use baseline_run::{BaselineRun, RunKind};
use identities::{Compared, Renamed, Sources, compare, names_all};
use overlay::{Overlay, Replacement};
use test_workspace::{Contents, TestWorkspace, Trouble};
use verdict::Verdict;

pub use identities::is_allowed as is_test_allowed;
pub use learn::{learn_tests, red_tests};
pub use rerun::{RedTests, RerunTree, rerun};
pub(super) use tests_first::TestsFirst;
pub use tests_first::{carry_tests, tests_first_policy};

/// The member of a record's detail that is true if the files of the baseline could not be read.
pub const BASE_UNREAD: &str = "base_unread";

/// The reason for no control if the runner is not known.
const UNKNOWN_RUNNER: &str = "the command starts no runner that gate has a control for";

/// A check whose tests are verified.
pub(super) struct VerifiedTests<'a> {
    pub(super) id: &'a CheckId,
    pub(super) settings: &'a CheckPolicy,
    pub(super) cx: &'a CheckContext,
}

/// A run of tests.
#[derive(Clone)]
struct TestOutcome {
    evidence: Evidence,
    report: Option<TestReport>,
}

impl TestOutcome {
    fn new(result: Result<Ran, Box<Evidence>>, settings: &CheckPolicy) -> Self {
        match result {
            Ok(ran) => {
                let report = ran.report.clone();
                Self { evidence: ran.judged(settings), report }
            }
            Err(evidence) => Self { evidence: *evidence, report: None },
        }
    }

    fn passed(&self) -> bool {
        self.evidence.outcome == Outcome::Pass
    }

    /// True if something other than a test failed, such as a file that the copy lacks.
    fn falls_short(&self) -> bool {
        let detail = self.evidence.detail.as_ref();
        if detail.is_some_and(|detail| detail.get(OVER_MEMORY).is_some()) {
            return false;
        }
        let ran = self.report.as_ref().is_some_and(|report| {
            report.failed > 0 || (report.executed() > 0 && report.errors.is_empty())
        });
        !self.passed() && !ran
    }
}

impl VerifiedTests<'_> {
    /// The record of the check.
    pub(super) async fn run(&self) -> Evidence {
        let began = Instant::now();
        let mut evidence = match self.verified().await {
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

    async fn verified(&self) -> Result<Evidence, Trouble> {
        let tree = WorkTree::open(&self.cx.site)?;
        let evidence = self.verified_in(&tree).await;
        if let Some(state) = &self.cx.site.state
            && !self.cx.cancel.is_cancelled()
        {
            // By now this check has left the copy, which has grown if anything was built.
            limit_copies(state, tree.root(), self.cx.copies_max_bytes);
        }
        evidence
    }

    async fn verified_in(&self, tree: &WorkTree) -> Result<Evidence, Trouble> {
        let overlay = Overlay::new(self.cx, tree)?;
        let runner = recognise(self.settings, &self.cx.site.folder_of(self.settings));
        match &overlay {
            Some(overlay) => self.against_baseline(tree, overlay, runner.as_ref()).await,
            None => self.without_baseline(tree, runner.as_ref()).await,
        }
    }

    /// The record of a check if nothing older is known.
    async fn without_baseline(
        &self,
        tree: &WorkTree,
        runner: Option<&RunnerCommand>,
    ) -> Result<Evidence, Trouble> {
        let Some(runner) = runner else {
            let mut verdict = Verdict::new(TestOutcome::new(self.in_tree().await, self.settings));
            verdict.has_no_control(UNKNOWN_RUNNER);
            if verdict.passed() && self.is_sealed(tree) {
                let workspace = TestWorkspace::open(tree, self.settings, self.cx).await?;
                let mut deciding = workspace.deciding(self.settings)?;
                self.run_sealed(&mut deciding, (None, None), None, &mut verdict).await?;
            }
            return Ok(verdict.finished());
        };
        let mut workspace = TestWorkspace::open(tree, self.settings, self.cx).await?;
        workspace.sync(Contents::Tree)?;
        let result = workspace.run(self.id, false).await;
        let own = self.let_go(&workspace, TestOutcome::new(result, workspace.settings()));
        let mut verdict = Verdict::new(own);
        if verdict.passed() {
            self.call_control(&mut workspace, None, runner, &mut verdict).await?;
            self.doubt_isolation(&workspace, &mut verdict).await;
            let mut deciding = workspace.deciding(self.settings)?;
            self.run_sealed(&mut deciding, (None, Some(runner)), None, &mut verdict).await?;
        }
        self.finished(verdict).await
    }

    /// The record of a check, held against the baseline.
    async fn against_baseline(
        &self,
        tree: &WorkTree,
        overlay: &Overlay<'_>,
        runner: Option<&RunnerCommand>,
    ) -> Result<Evidence, Trouble> {
        let mut own = TestWorkspace::open(tree, self.settings, self.cx).await?;
        own.note_changes(overlay);
        let mut deciding = own.deciding(self.settings)?;
        let is_loop = !self.cx.options.occasion.is_pull_request();
        let differs = is_loop && !overlay.changes.is_empty();
        let mut baseline = None;
        if differs && runner.is_some() {
            baseline = self.baseline_run(&mut deciding, overlay).await?;
        }
        let laid = self.laid(tree, overlay, baseline.as_ref())?;
        let old = match laid.is_empty() {
            true => None,
            false => Some(self.old_tests(&mut deciding, overlay, laid).await?),
        };
        if let Some(old) = old.as_ref().filter(|old| old.is_decided(&deciding)) {
            let mut verdict = Verdict::new(old.run.clone());
            verdict.add_detail("base_run", json!("failed"));
            verdict.refuse(old.run.clone(), &old.laid);
            self.note_red_before(&deciding, overlay, &mut verdict);
            self.note_edited_first(overlay, &mut verdict);
            return Ok(verdict.finished());
        }
        let runs = (&mut own, &mut deciding);
        let own_run = self.own_run(runs, overlay, (runner, old.is_some())).await?;
        let mut verdict = Verdict::new(own_run);
        if is_loop && !differs {
            baseline = self.kept(&deciding, overlay, RunKind::Tests);
        } else if differs && runner.is_none() && verdict.passed() {
            baseline = self.baseline_run(&mut deciding, overlay).await?;
        }
        if verdict.evidence.outcome == Outcome::Fail {
            self.note_red_before(&deciding, overlay, &mut verdict);
        }
        match runner {
            Some(runner) if verdict.passed() => {
                self.call_control(&mut deciding, Some(overlay), runner, &mut verdict).await?;
            }
            Some(_) => verdict.has_no_control("the command did not pass without one"),
            None => verdict.has_no_control(UNKNOWN_RUNNER),
        }
        let of_old = old.as_ref().and_then(|old| old.run.report.clone());
        let mut compared = Compared::unknown(false);
        if verdict.passed() && is_loop {
            let report = of_old.as_ref().or(verdict.report.as_ref());
            compared = self.compared(tree, overlay, (baseline.as_ref(), report));
        } else if verdict.passed() && !self.is_approved() {
            let found =
                self.compare_names(&mut deciding, overlay, of_old.as_ref(), &verdict).await?;
            compared = found.unwrap_or(compared);
        }
        match old {
            Some(old) => old.weigh(&compared, (overlay, self.cx.options.occasion), &mut verdict),
            None => {
                verdict.add_detail("overlaid", json!([]));
                verdict.add_detail("adapted", json!([]));
                verdict.compare(&compared, overlay);
            }
        }
        if is_loop && verdict.evidence.outcome == Outcome::Fail {
            verdict.name_lost(&compared, overlay, &self.inside(tree));
        }
        if verdict.passed() && is_loop {
            self.doubt_without_baseline(tree, overlay, &compared, &mut verdict)?;
            let report = of_old.as_ref().or(verdict.report.as_ref()).cloned();
            self.count_first(baseline.as_ref(), report.as_ref(), &mut verdict);
        }
        self.doubt_isolation(&own, &mut verdict).await;
        self.doubt_isolation(&deciding, &mut verdict).await;
        let sealed = (Some(overlay), runner);
        self.run_sealed(&mut deciding, sealed, of_old.as_ref(), &mut verdict).await?;
        self.note_edited_first(overlay, &mut verdict);
        // Without a known runner the own run was the one in the tree.
        match runner {
            Some(_) => self.finished(verdict).await,
            None => Ok(verdict.finished()),
        }
    }

    /// The files that stand otherwise in the deciding copy than in the tree.
    fn laid(
        &self,
        tree: &WorkTree,
        overlay: &Overlay<'_>,
        baseline: Option<&BaselineRun>,
    ) -> Result<Vec<Replacement>, Trouble> {
        let scripts = scripts_of(self.settings, &self.cx.site, tree);
        let mut laid = overlay.replacements(tree, &scripts)?;
        let had_tests = match baseline {
            Some(run) if !run.tests.is_empty() => {
                let inside = self.inside(tree);
                run.tests.iter().any(|test| !overlay.has_approved(&inside, &test.id))
            }
            _ => overlay.baseline.has_tests(tree)?,
        };
        if !had_tests {
            // Without them a run would find no test, and no test is there to be protected.
            laid.retain(|file| !file.is_new());
        }
        Ok(laid)
    }

    /// Runs the tree as it is: in its own copy, if the deciding one has other files, and in the tree
    /// itself, if a copy may lack what an unknown command needs.
    async fn own_run(
        &self,
        (own, deciding): (&mut TestWorkspace, &mut TestWorkspace),
        overlay: &Overlay<'_>,
        (runner, is_laid_over): (Option<&RunnerCommand>, bool),
    ) -> Result<TestOutcome, Trouble> {
        if runner.is_none() {
            let run = TestOutcome::new(self.in_tree().await, self.settings);
            return Ok(self.let_go(own, run));
        }
        let workspace = if is_laid_over {
            own.sync(Contents::Tree)?;
            own
        } else {
            self.lay(deciding, overlay, &[])?;
            deciding
        };
        let result = workspace.run(self.id, false).await;
        if self.cx.cancel.is_cancelled() {
            return Err(Trouble::Ended);
        }
        let is_baseline = !is_laid_over && overlay.changes.is_empty();
        if let (true, Ok(ran)) = (is_baseline, &result) {
            let run = BaselineRun::new(ran.report.as_ref(), ran.launched.exit_code);
            // What is not known may only lack something at this moment.
            if !run.tests.is_empty() {
                self.keep_baseline_run(workspace, overlay, &run);
            }
        }
        let run = TestOutcome::new(result, workspace.settings());
        // With its failing tests it is kept: one that a person leaves out is red all the same.
        Ok(self.let_go(workspace, run))
    }

    /// Compares the tests of a run with the baseline's.
    fn compared(
        &self,
        tree: &WorkTree,
        overlay: &Overlay<'_>,
        (baseline, report): (Option<&BaselineRun>, Option<&TestReport>),
    ) -> Compared {
        let Some(baseline) = baseline.filter(|baseline| !baseline.tests.is_empty()) else {
            return Compared::unknown(report.is_some_and(names_all));
        };
        let Some(report) = report.filter(|report| names_all(report)) else {
            return Compared::unlisted(baseline.tests.len());
        };
        let renamed = Renamed::new(overlay, &self.inside(tree));
        let mut compared = compare(&baseline.tests, report, &renamed, &self.cx.allow);
        compared.relocate(&baseline.tests, report, || Sources::new(overlay, tree));
        compared.count_without(self.first_tests());
        if overlay.has_approved_settings(self.cx.options.occasion) {
            compared.allow_what_is_not_run();
        }
        compared
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

    /// A pass says nothing of a copy whose tests load files of the work tree.
    async fn doubt_isolation(&self, workspace: &TestWorkspace, verdict: &mut Verdict) {
        if verdict.passed()
            && let Some(file) = workspace.tested_file_of_tree(self.id).await
        {
            verdict.is_about_the_tree(&file);
        }
    }

    /// The folder of the check, relative to the root.
    fn inside(&self, tree: &WorkTree) -> PathBuf {
        identities::inside(&self.cx.site.folder_of(self.settings), tree.root())
    }

    async fn finished(&self, verdict: Verdict) -> Result<Evidence, Trouble> {
        if verdict.falls_short && !self.cx.cancel.is_cancelled() {
            return Ok(self.in_tree_instead(verdict).await.finished());
        }
        Ok(verdict.finished())
    }

    async fn in_tree(&self) -> Result<Ran, Box<Evidence>> {
        TestRun::new(self.id, self.settings, self.cx).run().await
    }
}

/// Adds members to `tests` in the detail of a record.
fn add_detail(evidence: &mut Evidence, members: Value) {
    let detail = evidence.detail.get_or_insert_with(|| json!({}));
    let Some(all) = detail.as_object_mut() else { return };
    let tests = all.entry("tests").or_insert(Value::Null);
    if tests.is_null() {
        *tests = Value::Object(Map::new());
    }
    if let (Some(tests), Value::Object(members)) = (tests.as_object_mut(), members) {
        tests.extend(members);
    }
}

/// A check's context for a run whose result is no evidence; none if the work tree cannot be
/// read.
fn context(
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
