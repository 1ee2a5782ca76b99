//! Tests, tried: in a copy of the tree that stays warm, with the baseline's tests over
//! the agent's sources, and with a test among them that has to fail.
//!
//! Where the command is a known runner alone, one run tells all: the control has to
//! fail and the command with it, and what is left of the report is judged as if the
//! exit code, which is the runner's for failing tests, were 0. Where the exit code
//! tells more (a script, a threshold of coverage, a hook of the project's own), the
//! command runs twice, first without the control.
//!
//! Tests of the baseline have to be there, and to run ([`identities`]). Which they were
//! is found out by running the command on the baseline, once.
//!
//! Where tests were edited or removed since the baseline, the run is the baseline's
//! tests on the agent's sources; then the tree as it stands has to pass too: a tree
//! whose own tests fail is not done, and its new tests may need what it has edited.
//!
//! Where settings ask for it, new tests run once more over what the sources were, and
//! have to fail there ([`fail_to_pass`]).
//!
//! Where the copy falls short of something that is no part of the tree, the command
//! runs in the tree itself once. It cannot pass there, but it can tell why.

mod baseline_tests;
mod control_outcome;
mod fail_to_pass;
mod identities;
mod overlay;
mod prefetch;
mod rerun;
mod select;
mod test_workspace;
mod trouble;
mod verdict;

use std::time::Instant;

use gate_core::decide::evidence::{Evidence, Outcome};
use gate_core::decide::policy::{CheckPolicy, Mode};
use serde_json::{Map, Value, json};

use super::launch::{CopyReport, argv};
use super::test_run::{Ran, TestRun};
use crate::check::{CheckContext, CheckId};
use crate::control::{RunnerCommand, recognise};
use crate::report::{Status, TestReport};
use crate::worktree::WorkTree;

use control_outcome::{ControlOutcome, without};
use overlay::Overlay;
use test_workspace::{Contents, TestWorkspace};
use trouble::Trouble;

pub use prefetch::learn_tests;
pub use rerun::{PutBack, rerun};

/// A check whose tests are tried.
pub(super) struct VerifiedTests<'a> {
    pub(super) id: &'a CheckId,
    pub(super) settings: &'a CheckPolicy,
    pub(super) cx: &'a CheckContext,
}

struct TestOutcome {
    /// The record, without the control.
    evidence: Evidence,
    /// The report, without the control.
    report: Option<TestReport>,
    control: Control,
    /// The exit code with a control in the run.
    code: Option<i32>,
}

/// The outcome of the control.
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
                Self { evidence: ran.judged(settings), report, control, code }
            }
            Err(evidence) => Self { evidence: *evidence, report: None, control, code: None },
        }
    }

    fn passed(&self) -> bool {
        self.evidence.outcome == Outcome::Pass
    }

    /// True if something other than a test failed, such as a file that the copy lacks.
    fn falls_short(&self) -> bool {
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
        let evidence = match self.tried().await {
            Ok(evidence) => evidence,
            Err(trouble) => {
                let argv = argv(&self.settings.command, self.settings.shell);
                let evidence = self.record(Outcome::Inconclusive);
                Evidence { argv, summary: trouble.to_string(), ..evidence }
            }
        };
        let duration_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
        Evidence { check: self.id.as_str().to_owned(), duration_ms, ..evidence }
    }

    fn record(&self, outcome: Outcome) -> Evidence {
        Evidence::new(self.id.as_str(), Mode::default(), outcome)
    }

    async fn tried(&self) -> Result<Evidence, Trouble> {
        let tree = WorkTree::open(&self.cx.site)?;
        let overlay = Overlay::new(self.cx, &tree)?;
        let found =
            recognise(self.id.as_str(), self.settings, &self.cx.site.folder_of(self.settings));
        let overlaid = overlay.as_ref().map(Overlay::names).unwrap_or_default();
        if found.is_none() && overlaid.is_empty() {
            return self.unknown(&tree, overlay.as_ref()).await;
        }
        let mut workspace = TestWorkspace::open(&tree, self.settings, self.cx).await?;
        let hold = match &overlay {
            Some(overlay) if !overlaid.is_empty() => Contents::Overlay(overlay),
            _ => Contents::Tree,
        };
        workspace.sync(hold)?;
        let tried = self.with_control(&workspace, found.as_ref()).await?;
        let mut verdict =
            self.weigh(&mut workspace, overlay.as_ref(), found.as_ref(), tried).await?;
        if let Some(object) = verdict.told.as_object_mut() {
            object.insert("overlaid".to_owned(), json!(overlaid));
        }
        if let Some(overlay) = &overlay
            && !overlaid.is_empty()
        {
            self.as_it_stands(&mut workspace, (overlay, found.as_ref()), &mut verdict).await?;
        }
        if let Some(overlay) = &overlay
            && self.settings.fail_to_pass
        {
            self.fail_to_pass(&mut workspace, (overlay, found.as_ref()), &mut verdict).await?;
        }
        if verdict.falls_short && !self.cx.cancel.is_cancelled() {
            return Ok(self.in_tree_instead(verdict).await.finished());
        }
        Ok(verdict.finished())
    }

    /// A command of which nothing is known, as it stands in the tree.
    async fn unknown(
        &self,
        tree: &WorkTree,
        overlay: Option<&Overlay<'_>>,
    ) -> Result<Evidence, Trouble> {
        let why = Control::None("the command starts no runner that gate knows".to_owned());
        let tried = TestOutcome::new(self.in_tree().await, self.settings, why);
        let (Some(overlay), true) = (overlay, tried.passed()) else {
            return Ok(verdict::Verdict::new(tried).finished());
        };
        let mut workspace = TestWorkspace::open(tree, self.settings, self.cx).await?;
        Ok(self.weigh(&mut workspace, Some(overlay), None, tried).await?.finished())
    }

    async fn in_tree(&self) -> Result<Ran, Box<Evidence>> {
        let run = TestRun {
            id: self.id,
            settings: self.settings,
            cx: self.cx,
            keep_going: false,
            variables: Vec::new(),
            told: CopyReport::default(),
        };
        run.run().await
    }

    /// Runs the command in the workspace, with a control where one can be planted.
    async fn with_control(
        &self,
        workspace: &TestWorkspace,
        found: Option<&RunnerCommand>,
    ) -> Result<TestOutcome, Trouble> {
        let Some(found) = found else {
            let why = Control::None("the command starts no runner that gate knows".to_owned());
            return Ok(TestOutcome::new(
                workspace.run(self.id, None, false).await,
                workspace.settings(),
                why,
            ));
        };
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
        let second = match workspace.run(&log, Some(&control), false).await {
            Ok(ran) => ran,
            Err(evidence) => return Ok(TestOutcome { evidence: *evidence, ..first }),
        };
        let code = second.launched.exit_code;
        let held = ControlOutcome::from_report(second.report.as_ref(), code, &control.id);
        // Where nothing is told of tests the command alone can say that it failed.
        let is_silent = second.report.as_ref().is_none_or(|report| report.tests.is_empty());
        let held = if held == ControlOutcome::NoTest && is_silent && code != Some(0) {
            ControlOutcome::Failed
        } else {
            held
        };
        Ok(TestOutcome { control: Control::Planted(held), code, ..first })
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
        let held = ControlOutcome::from_report(ran.report.as_ref(), code, &control.id);
        let report = ran.report.map(|report| without(report, &control.id));
        let fails = report.as_ref().is_some_and(|report| {
            report.failed > 0 || report.named(Status::Failed).next().is_some()
        });
        let is_tests =
            held == ControlOutcome::Failed && code == found.runner.failing_code() && !fails;
        let as_if = if is_tests { Some(0) } else { code };
        let ran = Ran { launched: ran.launched, report: report.clone() };
        let evidence = ran.judged_as(workspace.settings(), as_if);
        Ok(TestOutcome { evidence, report, control: Control::Planted(held), code })
    }
}

impl TestOutcome {
    fn without_place(self, found: &RunnerCommand) -> Self {
        let why = format!("there is no place for a control of {}", found.runner.name());
        Self { control: Control::None(why), ..self }
    }
}

/// Puts members into the part of a record that tells of tests.
fn tell(evidence: &mut Evidence, told: Value) {
    let detail = evidence.detail.get_or_insert_with(|| json!({}));
    let Some(all) = detail.as_object_mut() else { return };
    let tests = all.entry("tests").or_insert(Value::Null);
    if tests.is_null() {
        *tests = Value::Object(Map::new());
    }
    if let (Some(tests), Value::Object(told)) = (tests.as_object_mut(), told) {
        tests.extend(told);
    }
}
