//! The baseline's tests, from one run of the command on the baseline.

use gate_core::decide::policy::CheckPolicy;
use serde_json::json;

use super::VerifiedTests;
use super::control_outcome::{ControlOutcome, without};
use super::identities::names_all;
use super::overlay::Overlay;
use super::test_workspace::{Contents, TestWorkspace};
use super::trouble::Trouble;
use crate::check::CheckId;
use crate::control::RunnerCommand;
use crate::report::{Status, Test, TestReport};

/// The baseline's tests.
#[derive(Clone, Debug, Default)]
pub(super) struct BaselineTests {
    /// Empty where they could not be found out.
    pub(super) tests: Vec<Test>,
    /// True if the control of that run failed; none without a control.
    pub(super) control: Option<bool>,
}

/// Under this name what became of the control is kept among the tests.
const CONTROL: &str = "gate:control";

impl BaselineTests {
    /// The tests of a run on the baseline's own tree.
    pub(super) fn new(report: Option<&TestReport>, held: Option<ControlOutcome>) -> Self {
        let named = report.filter(|report| names_all(report));
        let tests = named.map(|report| report.tests.clone()).unwrap_or_default();
        Self { tests, control: held.map(|held| held == ControlOutcome::Failed) }
    }

    fn kept(tests: Vec<Test>) -> Self {
        let (control, tests): (Vec<_>, Vec<_>) =
            tests.into_iter().partition(|test| test.id == CONTROL);
        let control = control.first().map(|test| test.status == Status::Failed);
        Self { tests, control }
    }

    fn to_keep(&self) -> Vec<Test> {
        let status = |failed| if failed { Status::Failed } else { Status::Skipped };
        let control =
            self.control.map(|failed| Test { id: CONTROL.to_owned(), status: status(failed) });
        self.tests.iter().cloned().chain(control).collect()
    }
}

impl VerifiedTests<'_> {
    /// The baseline's tests. gate runs them if no earlier run is stored. None if the run gives no
    /// report: the next one may.
    pub(super) async fn known(
        &self,
        workspace: &mut TestWorkspace,
        overlay: &Overlay<'_>,
        found: Option<&RunnerCommand>,
        planted: bool,
    ) -> Result<Option<BaselineTests>, Trouble> {
        let key = self.key(planted);
        let (site, check) = (&self.cx.site, (self.id.as_str(), key.as_str()));
        if let Some(tests) = overlay.baseline.tests(site, workspace.tree(), check) {
            return Ok(Some(BaselineTests::kept(tests)));
        }
        workspace.sync(Contents::Baseline(overlay))?;
        let control = match found {
            Some(found) if planted => workspace.plant(found)?,
            _ => None,
        };
        let together = found.is_some_and(|found| workspace.is_about_tests(found));
        let log = CheckId::new(format!("{}-baseline", self.id));
        let Ok(ran) = workspace.run(&log, control.as_ref(), planted && together).await else {
            return if self.cx.cancel.is_cancelled() { Err(Trouble::Ended) } else { Ok(None) };
        };
        let held = control.as_ref().map(|control| {
            ControlOutcome::from_report(ran.report.as_ref(), ran.launched.exit_code, &control.id)
        });
        let report = match &control {
            Some(control) => ran.report.map(|report| without(report, &control.id)),
            None => ran.report,
        };
        let known = BaselineTests::new(report.as_ref(), held);
        self.keep(workspace, overlay, planted, &known);
        Ok(Some(known))
    }

    /// Keeps what is known.
    pub(super) fn keep(
        &self,
        workspace: &TestWorkspace,
        overlay: &Overlay<'_>,
        planted: bool,
        known: &BaselineTests,
    ) {
        let key = self.key(planted);
        let check = (self.id.as_str(), key.as_str());
        // What is not kept is found out again.
        let _ =
            overlay.baseline.keep_tests(&self.cx.site, workspace.tree(), check, &known.to_keep());
    }

    /// The command, and all else that a baseline's tests depend on.
    fn key(&self, planted: bool) -> String {
        let CheckPolicy { command, shell, cwd, env, report, .. } = self.settings;
        let version = env!("CARGO_PKG_VERSION");
        let key = json!([version, command, shell, cwd, env, report, planted]);
        blake3::hash(key.to_string().as_bytes()).to_hex().to_string()
    }
}

#[cfg(test)]
mod tests;
