//! The command on the baseline: which tests there were, and how they ended. What it builds stays, for
//! the runs that decide.

use std::collections::BTreeSet;

use gate_core::decide::policy::CheckPolicy;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::identities::names_all;
use super::overlay::Overlay;
use super::test_workspace::{Contents, TestWorkspace};
use super::{Trouble, VerifiedTests};
use crate::check::CheckId;
use crate::report::{Status, Test, TestReport};

/// A run of the command on the baseline.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct BaselineRun {
    /// Empty if the report does not name every test.
    pub(super) tests: Vec<Test>,
    /// None if a signal ended it.
    pub(super) exit_code: Option<i32>,
}

impl BaselineRun {
    pub(super) fn new(report: Option<&TestReport>, exit_code: Option<i32>) -> Self {
        let named = report.filter(|report| names_all(report));
        let tests = named.map(|report| report.tests.clone()).unwrap_or_default();
        Self { tests, exit_code }
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
    /// Of all tests.
    Tests,
    /// Of a control alone: the kinds of its tests that failed.
    Control,
    /// Of some tests, as a record.
    Record,
}

impl VerifiedTests<'_> {
    /// The run on the baseline in the deciding copy. gate runs it if no earlier run is stored. None if
    /// the command gives no answer: the next time it may.
    pub(super) async fn baseline_run(
        &self,
        deciding: &mut TestWorkspace,
        overlay: &Overlay<'_>,
    ) -> Result<Option<BaselineRun>, Trouble> {
        if let Some(run) = self.kept(deciding, overlay, RunKind::Tests) {
            return Ok(Some(run));
        }
        deciding.lay(self.id, Contents::Baseline(overlay), &BTreeSet::new(), None)?;
        let log = CheckId::new(format!("{}-baseline", self.id));
        let Ok(ran) = deciding.run(&log, true).await else {
            return if self.cx.cancel.is_cancelled() { Err(Trouble::Ended) } else { Ok(None) };
        };
        let run = BaselineRun::new(ran.report.as_ref(), ran.launched.exit_code);
        self.keep_baseline_run(deciding, overlay, &run);
        Ok(Some(run))
    }

    /// Keeps a run on the baseline, and what it has built.
    pub(super) fn keep_baseline_run(
        &self,
        deciding: &TestWorkspace,
        overlay: &Overlay<'_>,
        run: &BaselineRun,
    ) {
        deciding.keep_caches(self.id, overlay.baseline);
        self.keep(deciding, overlay, RunKind::Tests, run);
    }

    /// A result on the baseline from before.
    pub(super) fn kept<T: for<'de> Deserialize<'de>>(
        &self,
        workspace: &TestWorkspace,
        overlay: &Overlay<'_>,
        kind: RunKind,
    ) -> Option<T> {
        overlay.baseline.result(&self.cx.site, workspace.tree(), &self.key(kind))
    }

    pub(super) fn keep(
        &self,
        workspace: &TestWorkspace,
        overlay: &Overlay<'_>,
        kind: RunKind,
        result: &impl Serialize,
    ) {
        // What is not kept is found out again.
        let key = self.key(kind);
        let _ = overlay.baseline.keep_result(&self.cx.site, workspace.tree(), &key, result);
    }

    /// The check, its command, and all else that a run on the baseline depends on.
    pub(super) fn key(&self, kind: RunKind) -> String {
        let CheckPolicy { command, shell, cwd, env, report, .. } = self.settings;
        let version = env!("CARGO_PKG_VERSION");
        json!([kind, version, self.id.as_str(), command, shell, cwd, env, report]).to_string()
    }
}
