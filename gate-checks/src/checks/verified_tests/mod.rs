//! Tests that are believed because of the ground they stand on.
//!
//! ```text
//! sync ─► controls ─► own run ─► overlay ─► deciding run ─► compare ─► sealed tests
//! ```
//!
//! The own run is the tree as it stands, in a copy that stays warm, with tests among its own
//! that have to fail ([`control`](crate::control)). If the command is a known runner alone, one
//! run says all: the controls have to fail and the command with them, and the rest of the report
//! is judged as if the exit code, which is the runner's for failing tests, were 0. If the exit
//! code says more (a script, a threshold of coverage), the command runs once without controls
//! first.
//!
//! The deciding run is the tree's product with the baseline's tests, in a fresh folder and
//! without a control ([`deciding`]). Where the baseline itself does not end there as in the warm
//! copy, the warm copy decides ([`baseline_run`]).
//!
//! Tests that the agent does not see run last of all ([`sealed`]). Where tests are written before the
//! work, a check of its own looks at them alone ([`tests_first`]).
//!
//! If the copy lacks something that is no part of the tree, the command runs in the tree itself
//! once. It cannot pass there, but it can show why.

mod adapted;
mod baseline_run;
mod context;
mod control_outcome;
mod deciding;
mod identities;
mod overlay;
mod prefetch;
mod pull_request;
mod red_tests;
mod rerun;
mod sealed;
mod select;
mod test_workspace;
mod tests_first;
mod trouble;
mod verdict;
mod written_first;

use std::collections::BTreeSet;
use std::time::Instant;

use gate_core::decide::evidence::{Evidence, Outcome};
use gate_core::decide::policy::{CheckPolicy, Mode};
use serde_json::{Map, Value, json};

use super::launch::{CopyReport, OVER_MEMORY, argv};
use super::test_run::{Ran, TestRun};
use crate::check::{CheckContext, CheckId};
use crate::control::{Kinds, RunnerCommand, recognise};
use crate::report::{Status, TestReport};
use crate::workspace::limit_copies;
use crate::worktree::WorkTree;

use control_outcome::{ControlOutcome, without};
use overlay::Overlay;
use test_workspace::{Contents, TestWorkspace};
use trouble::Trouble;
use verdict::Verdict;

pub use identities::is_allowed as is_test_allowed;
pub use prefetch::learn_tests;
pub use red_tests::red_tests;
pub use rerun::{RedTests, RerunTree, rerun};
pub(super) use tests_first::TestsFirst;
pub use tests_first::tests_first_policy;
pub use written_first::carry_tests;

/// The member of a record's detail that is true if the files of the baseline could not be read.
pub const BASE_UNREAD: &str = "base_unread";

/// A check whose tests are verified.
pub(super) struct VerifiedTests<'a> {
    pub(super) id: &'a CheckId,
    pub(super) settings: &'a CheckPolicy,
    pub(super) cx: &'a CheckContext,
}

#[derive(Clone)]
struct TestOutcome {
    /// The record, without the control.
    evidence: Evidence,
    /// The report, without the control.
    report: Option<TestReport>,
    control: Control,
    /// The kinds of tests of the control.
    kinds: Kinds,
    /// The exit code with a control in the run.
    code: Option<i32>,
}

/// The outcome of the control.
#[derive(Clone)]
enum Control {
    /// There was none, and why.
    None(String),
    Planted(ControlOutcome),
}

impl TestOutcome {
    fn new(result: Result<Ran, Box<Evidence>>, settings: &CheckPolicy, control: Control) -> Self {
        match result {
            Ok(ran) => {
                let (report, code) = (ran.report.clone(), ran.launched.exit_code);
                Self { evidence: ran.judged(settings), report, control, kinds: Kinds::NONE, code }
            }
            Err(evidence) => {
                let kinds = Kinds::NONE;
                Self { evidence: *evidence, report: None, control, kinds, code: None }
            }
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
                let mut evidence = self.record(Outcome::Inconclusive);
                evidence.argv = argv(&self.settings.command, self.settings.shell);
                let evidence = evidence.with_summary(trouble.to_string());
                match trouble {
                    Trouble::Baseline(_) => evidence.with_detail(json!({ BASE_UNREAD: true })),
                    _ => evidence,
                }
            }
        };
        self.id.as_str().clone_into(&mut evidence.check);
        evidence.with_duration(began.elapsed())
    }

    fn record(&self, outcome: Outcome) -> Evidence {
        Evidence::new(self.id.as_str(), Mode::default(), outcome)
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
        let overlay = overlay.as_ref();
        let runner = recognise(self.settings, &self.cx.site.folder_of(self.settings));
        if let (true, Some(overlay)) = (self.cx.occasion.is_pull_request(), overlay) {
            return self.judge_pull_request(tree, overlay, runner.as_ref()).await;
        }
        let Some(runner) = &runner else {
            let reason = "the command starts no runner that gate has a control for".to_owned();
            let own = TestOutcome::new(self.in_tree().await, self.settings, Control::None(reason));
            if !own.passed() || overlay.is_none() && !self.is_sealed(tree) {
                return Ok(Verdict::new(own).finished());
            }
            let mut workspace = TestWorkspace::open(tree, self.settings, self.cx).await?;
            return self.judged(&mut workspace, (overlay, None), own).await;
        };
        let mut workspace = TestWorkspace::open(tree, self.settings, self.cx).await?;
        workspace.sync(Contents::Tree)?;
        workspace.note_changes(overlay);
        let own = self.with_control(&workspace, runner).await?;
        self.judged(&mut workspace, (overlay, Some(runner)), own).await
    }

    /// From the own run to the record.
    async fn judged(
        &self,
        workspace: &mut TestWorkspace,
        (overlay, runner): (Option<&Overlay<'_>>, Option<&RunnerCommand>),
        own: TestOutcome,
    ) -> Result<Evidence, Trouble> {
        // With its failing tests: one that a person leaves out is red in the baseline all the same.
        self.remember(workspace, overlay, runner, &own);
        let own = self.let_go(workspace, own);
        let mut verdict = self.own_verdict(workspace, overlay, runner, own).await?;
        let mut adapted = BTreeSet::new();
        if let (Some(overlay), true) = (overlay, verdict.passed()) {
            adapted = self.decide(workspace, (overlay, runner), &mut verdict).await?;
        }
        if verdict.passed()
            && let Some(file) = workspace.tested_file_of_tree(self.id).await
        {
            verdict.is_about_the_tree(&file);
        }
        self.run_sealed(workspace, (overlay, runner), &adapted, &mut verdict).await?;
        if let Some(overlay) = overlay {
            self.note_edited_first(overlay, &mut verdict);
        }
        if verdict.falls_short && !self.cx.cancel.is_cancelled() {
            return Ok(self.in_tree_instead(verdict).await.finished());
        }
        Ok(verdict.finished())
    }

    async fn in_tree(&self) -> Result<Ran, Box<Evidence>> {
        let run = TestRun {
            id: self.id,
            settings: self.settings,
            cx: self.cx,
            keep_going: false,
            variables: Vec::new(),
            copy_report: CopyReport::default(),
        };
        run.run().await
    }

    /// Runs the command in the workspace, with a control if one can be planted.
    async fn with_control(
        &self,
        workspace: &TestWorkspace,
        found: &RunnerCommand,
    ) -> Result<TestOutcome, Trouble> {
        if workspace.is_about_tests(found) {
            return self.together(workspace, found).await;
        }
        let why = Control::None("the command did not pass without one".to_owned());
        let first =
            TestOutcome::new(workspace.run(self.id, None, false).await, workspace.settings(), why);
        if !first.passed() {
            return Ok(first);
        }
        let Some(control) = workspace.plant(found)? else { return Ok(first.without_place(found)) };
        let log = CheckId::new(format!("{}-control", self.id));
        let second = match workspace.run(&log, Some(&control), true).await {
            Ok(ran) => ran,
            Err(evidence) => return Ok(TestOutcome { evidence: *evidence, ..first }),
        };
        let code = second.launched.exit_code;
        let outcome = ControlOutcome::from_report(second.report.as_ref(), code, &control.id);
        // If the report names no tests, the exit code alone shows that the command failed.
        let is_silent = second.report.as_ref().is_none_or(|report| report.tests.is_empty());
        let outcome = if outcome == ControlOutcome::NoTest && is_silent && code != Some(0) {
            ControlOutcome::Failed
        } else {
            outcome
        };
        let kinds = control.id.kinds();
        Ok(TestOutcome { control: Control::Planted(outcome), kinds, code, ..first })
    }

    /// One run with a control.
    async fn together(
        &self,
        workspace: &TestWorkspace,
        found: &RunnerCommand,
    ) -> Result<TestOutcome, Trouble> {
        let Some(control) = workspace.plant(found)? else {
            let none = Control::None(String::new());
            let ran = workspace.run(self.id, None, false).await;
            return Ok(TestOutcome::new(ran, workspace.settings(), none).without_place(found));
        };
        let ran = match workspace.run(self.id, Some(&control), true).await {
            Ok(ran) => ran,
            failed @ Err(_) => {
                let none = Control::None("the command gave no answer".to_owned());
                return Ok(TestOutcome::new(failed, workspace.settings(), none));
            }
        };
        let code = ran.launched.exit_code;
        let outcome = ControlOutcome::from_report(ran.report.as_ref(), code, &control.id);
        let report = ran.report.map(|report| without(report, &control.id));
        let fails = report.as_ref().is_some_and(|report| {
            report.failed > 0 || report.named(Status::Failed).next().is_some()
        });
        let is_tests = outcome.has_failed() && code == Some(found.runner.failing_code()) && !fails;
        let as_if = if is_tests { Some(0) } else { code };
        let ran = Ran { launched: ran.launched, report: report.clone() };
        let evidence = ran.judged_as(workspace.settings(), as_if);
        let kinds = control.id.kinds();
        Ok(TestOutcome { evidence, report, control: Control::Planted(outcome), kinds, code })
    }
}

impl TestOutcome {
    fn without_place(self, found: &RunnerCommand) -> Self {
        let why = format!("there is no place for a control of {}", found.runner.name());
        Self { control: Control::None(why), ..self }
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
