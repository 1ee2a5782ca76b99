//! The call of a control alone, after the tests that decide have passed: would a failing test fail
//! the command?

use gate_core::decide::evidence::Outcome;
use serde_json::json;
use std::collections::BTreeSet;

use super::baseline_run::RunKind;
use super::control_outcome::ControlOutcome;
use super::overlay::Overlay;
use super::test_workspace::{Contents, TestWorkspace};
use super::verdict::Verdict;
use super::{Trouble, VerifiedTests};
use crate::check::CheckId;
use crate::control::Kinds;
use crate::runner::RunnerCommand;

/// A control that ran.
struct Called {
    outcome: ControlOutcome,
    /// The kinds of tests that it has.
    kinds: Kinds,
    code: Option<i32>,
}

/// The meaning of a control that did not fail.
enum Meaning {
    Tamper,
    /// It says nothing, and why.
    Nothing(&'static str),
    /// The tests of these kinds say nothing, and the others failed as they must.
    Less(Kinds),
}

impl VerifiedTests<'_> {
    /// Plants a control in a copy that is laid, and runs it: it has to fail.
    pub(super) async fn call_control(
        &self,
        workspace: &mut TestWorkspace,
        overlay: Option<&Overlay<'_>>,
        runner: &RunnerCommand,
        verdict: &mut Verdict,
    ) -> Result<(), Trouble> {
        let log = CheckId::new(format!("{}-control", self.id));
        let Some(called) = self.called(workspace, runner, &log).await? else {
            let why = format!("there is no place for a control of {}", runner.runner.name());
            verdict.has_no_control(&why);
            return Ok(());
        };
        let (outcome, kinds) = (called.outcome, called.kinds);
        verdict.add_detail("control", json!(outcome.name()));
        verdict.add_detail("controls", json!(kinds));
        verdict.add_detail("exit_code_with_control", json!(called.code));
        if outcome == ControlOutcome::Failed {
            return Ok(());
        }
        match self.meaning(workspace, overlay, runner, &outcome).await? {
            Meaning::Tamper => verdict.becomes(Outcome::Tamper, outcome.summary(called.code)),
            Meaning::Nothing(why) => verdict.has_no_control(why),
            Meaning::Less(silent) => {
                verdict.add_detail("control", json!(ControlOutcome::Failed.name()));
                verdict.add_detail("controls", json!(&kinds - &silent));
            }
        }
        Ok(())
    }

    /// Runs a control alone; none if there is no place for one.
    async fn called(
        &self,
        workspace: &TestWorkspace,
        runner: &RunnerCommand,
        log: &CheckId,
    ) -> Result<Option<Called>, Trouble> {
        let Some(control) = workspace.plant(runner)? else { return Ok(None) };
        let ran = workspace.run_control(log, runner, &control).await;
        if self.cx.cancel.is_cancelled() {
            return Err(Trouble::Ended);
        }
        let kinds = control.id.kinds();
        let Ok(ran) = ran else {
            return Ok(Some(Called { outcome: ControlOutcome::NoTest, kinds, code: None }));
        };
        let code = ran.launched.exit_code;
        let outcome = ControlOutcome::from_report(ran.report.as_ref(), code, &control.id);
        // If the report names no tests, the exit code alone shows that the command failed.
        let is_silent = ran.report.as_ref().is_none_or(|report| report.tests.is_empty());
        let outcome = if outcome == ControlOutcome::NoTest && is_silent && code != Some(0) {
            ControlOutcome::Failed
        } else {
            outcome
        };
        Ok(Some(Called { outcome, kinds, code }))
    }

    /// Finds the meaning of a control that did not fail. A project's own settings may leave it out:
    /// then it does not fail on the baseline either.
    async fn meaning(
        &self,
        workspace: &mut TestWorkspace,
        overlay: Option<&Overlay<'_>>,
        runner: &RunnerCommand,
        outcome: &ControlOutcome,
    ) -> Result<Meaning, Trouble> {
        if *outcome == ControlOutcome::Masked {
            return Ok(Meaning::Tamper);
        }
        let is_left_out = matches!(outcome, ControlOutcome::Missing | ControlOutcome::NoTest);
        let mut failed_before = None;
        if let Some(overlay) = overlay {
            if is_left_out && overlay.has_approved_settings(self.cx.options.occasion) {
                return Ok(Meaning::Nothing("settings that a person has approved leave it out"));
            }
            failed_before = self.failed_on_baseline(workspace, overlay, runner).await?;
        }
        if let ControlOutcome::Partly { passed, missing } = outcome {
            let lost = passed | missing;
            let is_tamper = match failed_before {
                Some(failed) => !failed.is_disjoint(&lost),
                None => !passed.is_empty(),
            };
            return Ok(if is_tamper { Meaning::Tamper } else { Meaning::Less(lost) });
        }
        let part = runner.runner.selects(&runner.args);
        Ok(match (failed_before.as_ref().map(Kinds::is_empty), outcome) {
            (Some(false), _) => Meaning::Tamper,
            (Some(true), _) => Meaning::Nothing("it is left out in the baseline too"),
            (None, ControlOutcome::NoTest) => Meaning::Nothing("the report names no test"),
            (None, ControlOutcome::Missing) if part => {
                Meaning::Nothing("the command was not seen to run all tests")
            }
            (None, _) => Meaning::Tamper,
        })
    }

    /// The kinds of a control's tests that fail on the baseline; none if there is no place for one.
    async fn failed_on_baseline(
        &self,
        workspace: &TestWorkspace,
        overlay: &Overlay<'_>,
        runner: &RunnerCommand,
    ) -> Result<Option<Kinds>, Trouble> {
        if let Some(kinds) = self.kept(workspace, overlay, RunKind::Control) {
            return Ok(Some(kinds));
        }
        let mut deciding = workspace.deciding(self.settings)?;
        let contents = Contents::Baseline(overlay);
        deciding.lay(self.id, contents, &BTreeSet::new(), Some(overlay.baseline))?;
        let log = CheckId::new(format!("{}-baseline-control", self.id));
        let Some(called) = self.called(&deciding, runner, &log).await? else { return Ok(None) };
        let failed = &called.kinds - &called.outcome.lost();
        self.keep(workspace, overlay, RunKind::Control, &failed);
        Ok(Some(failed))
    }
}
