//! The command on the baseline, in the warm workspace: which tests there were, and how they ended.

use gate_core::decide::policy::CheckPolicy;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::VerifiedTests;
use super::control_outcome::{ControlOutcome, without};
use super::identities::names_all;
use super::overlay::Overlay;
use super::test_workspace::{Contents, TestWorkspace};
use super::trouble::Trouble;
use crate::check::CheckId;
use crate::control::{Kinds, RunnerCommand};
use crate::report::{Status, Test, TestReport};
use crate::worktree::WorkTree;

/// A run of the command on the baseline.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct BaselineRun {
    /// Empty if the report does not name every test.
    pub(super) tests: Vec<Test>,
    /// None if a signal ended it. With a control in the run the code says nothing.
    pub(super) exit_code: Option<i32>,
    /// The kinds of tests of the control that failed in that run; none without a control.
    pub(super) control: Option<Kinds>,
}

impl BaselineRun {
    pub(super) fn new(
        report: Option<&TestReport>,
        exit_code: Option<i32>,
        control: Option<ControlOutcome>,
    ) -> Self {
        let named = report.filter(|report| names_all(report));
        let tests = named.map(|report| report.tests.clone()).unwrap_or_default();
        Self { tests, exit_code, control: control.map(|one| Kinds::ALL.without(one.lost())) }
    }

    /// The tests that failed, by name.
    pub(super) fn failed(&self) -> impl Iterator<Item = &str> {
        let failed = self.tests.iter().filter(|test| test.status == Status::Failed);
        failed.map(|test| test.id.as_str())
    }
}

/// The runs on the baseline that are kept.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum RunKind {
    /// In the warm workspace.
    Warm,
    /// The same with a control.
    WithControl,
    /// In a fresh folder.
    Fresh,
    /// In the warm workspace, as a record.
    Record,
}

impl VerifiedTests<'_> {
    /// The run on the baseline in the warm workspace. gate runs it if no earlier run is stored.
    /// None if the command gives no answer: the next time it may.
    pub(super) async fn baseline_run(
        &self,
        workspace: &mut TestWorkspace,
        overlay: &Overlay<'_>,
        (runner, planted): (Option<&RunnerCommand>, bool),
    ) -> Result<Option<BaselineRun>, Trouble> {
        let kind = if planted { RunKind::WithControl } else { RunKind::Warm };
        if let Some(run) = self.kept(workspace, overlay, kind) {
            return Ok(Some(run));
        }
        workspace.sync(Contents::Baseline(overlay))?;
        let control = match runner {
            Some(runner) if planted => workspace.plant(runner)?,
            _ => None,
        };
        let log = CheckId::new(format!("{}-baseline", self.id));
        let Ok(ran) = workspace.run(&log, control.as_ref(), true).await else {
            return if self.cx.cancel.is_cancelled() { Err(Trouble::Ended) } else { Ok(None) };
        };
        let exit_code = ran.launched.exit_code;
        let outcome = control.as_ref().map(|control| {
            ControlOutcome::from_report(ran.report.as_ref(), exit_code, &control.id)
        });
        let report = match &control {
            Some(control) => ran.report.map(|report| without(report, &control.id)),
            None => ran.report,
        };
        let run = BaselineRun::new(report.as_ref(), exit_code, outcome);
        self.keep(workspace, overlay, kind, &run);
        Ok(Some(run))
    }

    /// A run on the baseline from before.
    pub(super) fn kept(
        &self,
        workspace: &TestWorkspace,
        overlay: &Overlay<'_>,
        kind: RunKind,
    ) -> Option<BaselineRun> {
        overlay.baseline.result(&self.cx.site, workspace.tree(), &self.key(kind))
    }

    /// The tests that passed on the baseline, as far as that is known.
    pub(super) fn passed_before(&self, tree: &WorkTree, overlay: &Overlay<'_>) -> Vec<String> {
        let kinds = [RunKind::WithControl, RunKind::Warm];
        let run: Option<BaselineRun> = kinds
            .iter()
            .find_map(|kind| overlay.baseline.result(&self.cx.site, tree, &self.key(*kind)));
        let tests = run.map(|run| run.tests).unwrap_or_default();
        let passed = tests.into_iter().filter(|test| test.status == Status::Passed);
        passed.map(|test| test.id).collect()
    }

    pub(super) fn keep(
        &self,
        workspace: &TestWorkspace,
        overlay: &Overlay<'_>,
        kind: RunKind,
        run: &BaselineRun,
    ) {
        // What is not kept is found out again.
        let _ = overlay.baseline.keep_result(&self.cx.site, workspace.tree(), &self.key(kind), run);
    }

    /// The check, its command, and all else that a run on the baseline depends on.
    pub(super) fn key(&self, kind: RunKind) -> String {
        let CheckPolicy { command, shell, cwd, env, report, prepare, .. } = self.settings;
        let version = env!("CARGO_PKG_VERSION");
        json!([kind, version, self.id.as_str(), command, shell, cwd, env, report, prepare])
            .to_string()
    }
}

#[cfg(test)]
mod tests;
