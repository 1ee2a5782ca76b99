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
use crate::control::FailureKinds;
use crate::report::Test;
use crate::runner::RunnerCommand;

/// A runner, and the tests that it has just reported.
#[derive(Clone, Copy)]
struct Called<'a> {
    runner: &'a RunnerCommand,
    tests: &'a [Test],
}

/// A control that ran.
struct ControlRun {
    outcome: ControlOutcome,
    /// The kinds of tests that the control has.
    kinds: FailureKinds,
    exit_code: Option<i32>,
}

/// The meaning of a control that did not fail.
enum Meaning {
    Tamper,
    /// The control says nothing, for this reason.
    Nothing(&'static str),
    /// The tests of these kinds say nothing, and the others failed as they must.
    Less(FailureKinds),
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
        let tests = verdict.report.as_ref().map(|report| report.tests.clone()).unwrap_or_default();
        let called = Called { runner, tests: &tests };
        let Some(control_run) = self.run_control_alone(workspace, called, &log).await? else {
            let reason = format!("there is no place for a control of {}", runner.runner.name());
            verdict.note_no_control(&reason);
            return Ok(());
        };
        let ControlRun { outcome, kinds, exit_code } = control_run;
        verdict.add_detail("control", json!(outcome.name()));
        verdict.add_detail("controls", json!(kinds));
        verdict.add_detail("exit_code_with_control", json!(exit_code));
        if outcome == ControlOutcome::Failed {
            return Ok(());
        }
        match self.meaning(workspace, overlay, called, &outcome).await? {
            Meaning::Tamper => verdict.set_outcome(Outcome::Tamper, outcome.summary(exit_code)),
            Meaning::Nothing(reason) => verdict.note_no_control(reason),
            Meaning::Less(silent) => {
                verdict.add_detail("control", json!(ControlOutcome::Failed.name()));
                verdict.add_detail("controls", json!(&kinds - &silent));
            }
        }
        Ok(())
    }

    /// Plants a control and runs it alone. `None` if there is no place for one.
    async fn run_control_alone(
        &self,
        workspace: &TestWorkspace,
        Called { runner, tests }: Called<'_>,
        log: &CheckId,
    ) -> Result<Option<ControlRun>, Trouble> {
        let Some(control) = workspace.plant(runner, tests)? else { return Ok(None) };
        let result = workspace.run_control(log, runner, &control).await;
        if self.cx.cancel.is_cancelled() {
            return Err(Trouble::Ended);
        }
        let kinds = control.names.kinds();
        let Ok(run) = result else {
            let outcome = ControlOutcome::NoTest;
            return Ok(Some(ControlRun { outcome, kinds, exit_code: None }));
        };
        let exit_code = run.launched.exit_code;
        let mut outcome =
            ControlOutcome::from_report(run.report.as_ref(), exit_code, &control.names);
        // If the report names no tests, the exit code alone shows that the command failed.
        let is_unnamed = run.report.as_ref().is_none_or(|report| report.tests.is_empty());
        if outcome == ControlOutcome::NoTest && is_unnamed && exit_code != Some(0) {
            outcome = ControlOutcome::Failed;
        }
        Ok(Some(ControlRun { outcome, kinds, exit_code }))
    }

    /// Finds the meaning of a control that did not fail. A project's own settings may leave it out:
    /// then it does not fail on the baseline either.
    async fn meaning(
        &self,
        workspace: &mut TestWorkspace,
        overlay: Option<&Overlay<'_>>,
        called: Called<'_>,
        outcome: &ControlOutcome,
    ) -> Result<Meaning, Trouble> {
        if *outcome == ControlOutcome::Masked {
            return Ok(Meaning::Tamper);
        }
        let is_left_out = matches!(outcome, ControlOutcome::Missing | ControlOutcome::NoTest);
        let mut failed_on_baseline = None;
        if let Some(overlay) = overlay {
            if is_left_out && overlay.has_approved_settings(self.cx.options.occasion) {
                return Ok(Meaning::Nothing("settings that a person has approved leave it out"));
            }
            failed_on_baseline = self.failed_on_baseline(workspace, overlay, called).await?;
        }
        if let ControlOutcome::Partly { passed, missing } = outcome {
            let not_failed = passed | missing;
            let is_tamper = match failed_on_baseline {
                Some(failed) => !failed.is_disjoint(&not_failed),
                None => !passed.is_empty(),
            };
            return Ok(if is_tamper { Meaning::Tamper } else { Meaning::Less(not_failed) });
        }
        let Called { runner, .. } = called;
        let is_selection = runner.runner.selects_tests(&runner.args);
        let fails_nowhere = failed_on_baseline.as_ref().map(FailureKinds::is_empty);
        Ok(match (fails_nowhere, outcome) {
            (Some(false), _) => Meaning::Tamper,
            (Some(true), _) => Meaning::Nothing("it is left out in the baseline too"),
            (None, ControlOutcome::NoTest) => Meaning::Nothing("the report names no test"),
            (None, ControlOutcome::Missing) if is_selection => {
                Meaning::Nothing("the command was not seen to run all tests")
            }
            (None, _) => Meaning::Tamper,
        })
    }

    /// The kinds of a control's tests that fail on the baseline. `None` if there is no place for a
    /// control.
    async fn failed_on_baseline(
        &self,
        workspace: &TestWorkspace,
        overlay: &Overlay<'_>,
        called: Called<'_>,
    ) -> Result<Option<FailureKinds>, Trouble> {
        if let Some(kinds) = self.stored_result(workspace, overlay, RunKind::Control) {
            return Ok(Some(kinds));
        }
        let mut deciding_copy = workspace.deciding_copy(self.settings)?;
        let contents = Contents::Baseline(overlay);
        deciding_copy.lay(self.id, contents, &BTreeSet::new(), Some(overlay.baseline))?;
        let log = CheckId::new(format!("{}-baseline-control", self.id));
        let Some(control_run) = self.run_control_alone(&deciding_copy, called, &log).await? else {
            return Ok(None);
        };
        let failed = &control_run.kinds - &control_run.outcome.not_failed();
        self.store_result(workspace, overlay, RunKind::Control, &failed);
        Ok(Some(failed))
    }
}
