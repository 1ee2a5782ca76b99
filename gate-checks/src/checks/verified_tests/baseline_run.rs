//! The command on the baseline: which tests there were, and how they ended. What it builds stays, for
//! the runs that decide.

use std::collections::BTreeSet;

use gate_core::decide::policy::CheckPolicy;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::identities::is_fully_named;
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
    /// `None` if a signal ended the run.
    pub(super) exit_code: Option<i32>,
}

impl BaselineRun {
    pub(super) fn new(report: Option<&TestReport>, exit_code: Option<i32>) -> Self {
        let full_report = report.filter(|report| is_fully_named(report));
        let tests = full_report.map(|report| report.tests.clone()).unwrap_or_default();
        Self { tests, exit_code }
    }

    /// The tests that failed, by name.
    pub(super) fn failed(&self) -> impl Iterator<Item = &str> {
        let failed = self.tests.iter().filter(|test| test.status == Status::Failed);
        failed.map(|test| test.id.as_str())
    }
}

/// The runs on the baseline whose results are stored with it.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum RunKind {
    /// Of all tests, as a [`BaselineRun`].
    Tests,
    /// Of a control alone, as the kinds of its tests that failed.
    Control,
    /// Of some tests, as a record of evidence.
    Record,
}

impl VerifiedTests<'_> {
    /// The run on the baseline in the deciding copy. gate runs it if no earlier run is stored. `None`
    /// if the command gives no answer: the next time it may.
    pub(super) async fn baseline_run(
        &self,
        deciding_copy: &mut TestWorkspace,
        overlay: &Overlay<'_>,
    ) -> Result<Option<BaselineRun>, Trouble> {
        if let Some(baseline_run) = self.stored_result(deciding_copy, overlay, RunKind::Tests) {
            return Ok(Some(baseline_run));
        }
        deciding_copy.lay(self.id, Contents::Baseline(overlay), &BTreeSet::new(), None)?;
        let log = CheckId::new(format!("{}-baseline", self.id));
        let Ok(run) = deciding_copy.run(&log, true).await else {
            return if self.cx.cancel.is_cancelled() { Err(Trouble::Ended) } else { Ok(None) };
        };
        let baseline_run = BaselineRun::new(run.report.as_ref(), run.launched.exit_code);
        self.store_baseline_run(deciding_copy, overlay, &baseline_run);
        Ok(Some(baseline_run))
    }

    /// Stores a run on the baseline, and what it has built.
    pub(super) fn store_baseline_run(
        &self,
        deciding_copy: &TestWorkspace,
        overlay: &Overlay<'_>,
        baseline_run: &BaselineRun,
    ) {
        deciding_copy.keep_caches(self.id, overlay.baseline);
        self.store_result(deciding_copy, overlay, RunKind::Tests, baseline_run);
    }

    /// The stored result of an earlier run on the baseline.
    pub(super) fn stored_result<T: for<'de> Deserialize<'de>>(
        &self,
        workspace: &TestWorkspace,
        overlay: &Overlay<'_>,
        kind: RunKind,
    ) -> Option<T> {
        overlay.baseline.result(&self.cx.site, workspace.tree(), &self.key(kind))
    }

    pub(super) fn store_result(
        &self,
        workspace: &TestWorkspace,
        overlay: &Overlay<'_>,
        kind: RunKind,
        result: &impl Serialize,
    ) {
        // A result that is not stored costs one more run the next time.
        let key = self.key(kind);
        let _ = overlay.baseline.keep_result(&self.cx.site, workspace.tree(), &key, result);
    }

    /// The key of a result: the check, its command, and all else that a run on the baseline depends on.
    pub(super) fn key(&self, kind: RunKind) -> String {
        let CheckPolicy { command, shell, cwd, env, report, .. } = self.settings;
        let version = env!("CARGO_PKG_VERSION");
        json!([kind, version, self.id.as_str(), command, shell, cwd, env, report]).to_string()
    }
}
