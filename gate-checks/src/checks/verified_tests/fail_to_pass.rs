//! New tests that cannot fail: they run over what the sources were in the baseline, and if all of
//! them pass there, they prove nothing about the work (the no-op ablation of arXiv:2606.28430). One
//! that needs the work is enough: a guard may stand beside it.
//!
//! Two limits: tests that stand in a file of the product go back with it, and tests that do not run
//! there at all, such as those that do not build, prove nothing.

use std::collections::BTreeSet;

use gate_core::decide::evidence::Outcome;
use gate_core::decide::policy::FailToPass;
use gate_core::text::{MAX_NAMES, some_names};
use serde_json::json;

use super::VerifiedTests;
use super::identities::{LISTED, names_all, needing_the_work, new_and_passed};
use super::noticed::changes_code;
use super::overlay::Overlay;
use super::test_workspace::{Contents, TestWorkspace};
use super::trouble::Trouble;
use super::verdict::Verdict;
use crate::check::CheckId;
use crate::checks::test_run::Ran;
use crate::control::RunnerCommand;
use crate::report::{Status, Test, TestReport};

/// Why a run without the work has no effect.
const NOT_RECOGNISED: &str = "no report that names the tests is recognised";
const NOT_ALONE: &str = "the runner cannot be told to run the new tests alone";
const NO_TEST_FILE: &str = "no test file is new or edited";
const NO_CODE: &str = "no code is changed";
const NO_BASELINE: &str = "which tests are new is not known: the baseline's gave no answer";

/// Result of the new tests without the work.
enum Shown {
    /// These fail there.
    Needed(Vec<String>),
    /// These pass there, and none fails.
    Idle(Vec<String>),
    /// They do not run there.
    Not,
    /// No test is new.
    Nothing,
}

impl Shown {
    fn new(before: &[Test], report: &TestReport) -> Self {
        let needed = needing_the_work(before, report);
        let idle = new_and_passed(before, report);
        let broken = !report.errors.is_empty() || !report.problems.is_empty();
        match (needed.is_empty(), idle.is_empty()) {
            (false, _) => Self::Needed(needed),
            _ if broken || report.tests.is_empty() => Self::Not,
            (true, false) => Self::Idle(idle),
            (true, true) => Self::Nothing,
        }
    }
}

/// The first tests that failed at the baseline and pass now: they need the work, too.
fn repaired<'r>(before: &[Test], report: &'r TestReport) -> Vec<&'r str> {
    let failed: BTreeSet<_> = before
        .iter()
        .filter(|test| test.status == Status::Failed)
        .map(|test| test.id.as_str())
        .collect();
    report.named(Status::Passed).filter(|id| failed.contains(id)).take(LISTED).collect()
}

impl VerifiedTests<'_> {
    fn requires_need(&self) -> bool {
        self.settings.fail_to_pass == FailToPass::Required
    }

    /// Tries new tests without the work, if all is well so far.
    pub(super) async fn fail_to_pass(
        &self,
        workspace: &mut TestWorkspace,
        (overlay, found): (Option<&Overlay<'_>>, Option<&RunnerCommand>),
        verdict: &mut Verdict,
    ) -> Result<(), Trouble> {
        if self.settings.fail_to_pass.is_off() || verdict.evidence.outcome != Outcome::Pass {
            return Ok(());
        }
        let Some(report) = verdict.report.clone().filter(names_all) else {
            self.note_unnamed_tests(verdict);
            return Ok(());
        };
        let Some(overlay) = overlay else {
            self.note_unknown(verdict, "there is no baseline: run `gate baseline` before the work");
            return Ok(());
        };
        let files = overlay.new_tests();
        if files.is_empty() {
            self.note_no_effect(verdict, NO_TEST_FILE);
            return Ok(());
        }
        // If the work is tests alone, there is nothing that they could need.
        if !self.requires_need() && !changes_code(overlay, workspace.tree())? {
            self.note_no_effect(verdict, NO_CODE);
            return Ok(());
        }
        let known = self.before(workspace, overlay, found, self.requires_need()).await?;
        let Some(before) = known else {
            self.note_unknown(verdict, NO_BASELINE);
            return Ok(());
        };
        let repaired = repaired(&before, &report);
        if !self.requires_need() && !repaired.is_empty() {
            verdict.add_detail("without_work", json!({ "outcome": "shown", "failed": repaired }));
            return Ok(());
        }
        workspace.sync(Contents::WithoutWork(overlay))?;
        let is_alone = found.is_some_and(|found| workspace.run_only(found, &files, &report));
        if !self.requires_need() && !is_alone {
            self.note_no_effect(verdict, NOT_ALONE);
            return Ok(());
        }
        let log = CheckId::new(format!("{}-without-work", self.id));
        let ran = workspace.run(&log, None, true).await;
        if self.cx.cancel.is_cancelled() {
            return Err(Trouble::Ended);
        }
        self.weigh_need(&before, ran.ok().as_ref(), verdict);
        Ok(())
    }

    /// The baseline's tests; with `or_none`, one more run shows whether it has none. `None` if they
    /// are not known.
    pub(super) async fn before(
        &self,
        workspace: &mut TestWorkspace,
        overlay: &Overlay<'_>,
        found: Option<&RunnerCommand>,
        or_none: bool,
    ) -> Result<Option<Vec<Test>>, Trouble> {
        let planted = found.is_some_and(|found| workspace.is_about_tests(found));
        let known = self.baseline_run(workspace, overlay, (found, planted)).await?;
        if let Some(known) = known.filter(|known| !known.tests.is_empty()) {
            return Ok(Some(known.tests));
        }
        if !or_none {
            return Ok(None);
        }
        // This run shows whether the baseline had no test yet.
        workspace.sync(Contents::Baseline(overlay))?;
        let log = CheckId::new(format!("{}-baseline", self.id));
        let ran = workspace.run(&log, None, true).await;
        if self.cx.cancel.is_cancelled() {
            return Err(Trouble::Ended);
        }
        let report = ran.ok().and_then(|ran| ran.report);
        let had_none = report.is_some_and(|report| {
            let counted = report.executed().saturating_add(report.skipped);
            counted == 0 && report.errors.is_empty() && report.problems.is_empty()
        });
        Ok(had_none.then(Vec::new))
    }

    fn weigh_need(&self, before: &[Test], ran: Option<&Ran>, verdict: &mut Verdict) {
        let shown = match ran.map(|ran| (&ran.report, ran.launched.exit_code)) {
            Some((Some(report), _)) => Shown::new(before, report),
            Some((None, code)) if code != Some(0) => Shown::Not,
            _ => {
                self.note_unknown(verdict, "the new tests gave no answer without the work");
                return;
            }
        };
        match shown {
            Shown::Needed(needed) => {
                let listed: Vec<_> = needed.iter().take(LISTED).collect();
                verdict.add_detail("without_work", json!({ "outcome": "shown", "failed": listed }));
            }
            Shown::Idle(idle) => self.note_idle(&idle, verdict),
            Shown::Not => {
                verdict.add_detail("without_work", json!({ "outcome": "not-shown" }));
                if self.requires_need() {
                    let what = "; whether a new test needs the work is not shown: they do not run \
                                without the work";
                    verdict.evidence.summary.push_str(what);
                }
            }
            Shown::Nothing => {
                verdict.add_detail("without_work", json!({ "outcome": "no-new-test" }));
            }
        }
    }

    fn note_idle(&self, idle: &[String], verdict: &mut Verdict) {
        let listed: Vec<_> = idle.iter().take(LISTED).collect();
        verdict.add_detail("without_work", json!({ "outcome": "not-needed", "passed": listed }));
        let names = some_names(idle, MAX_NAMES);
        let pass = if idle.len() == 1 { "1 new test passes" } else { "all new tests pass" };
        if self.requires_need() {
            let summary = format!(
                "{pass} without the work: {names}; add a test that fails until the work is done"
            );
            verdict.becomes(Outcome::Fail, summary);
        } else {
            let warning = format!("; warning: {pass} without the work: {names}");
            verdict.evidence.summary.push_str(&warning);
        }
    }

    /// Notes that the report names no tests, so that nothing can be tried.
    pub(super) fn note_unnamed_tests(&self, verdict: &mut Verdict) {
        self.note_no_effect(verdict, NOT_RECOGNISED);
    }

    /// Notes that nothing was tried; in the summary only if it is required.
    fn note_no_effect(&self, verdict: &mut Verdict, why: &str) {
        if self.settings.fail_to_pass.is_off() || verdict.evidence.outcome != Outcome::Pass {
            return;
        }
        verdict.add_detail("without_work", json!({ "outcome": "no-effect", "why": why }));
        if self.requires_need() {
            let note = format!("; `fail_to_pass` had no effect: {why}");
            verdict.evidence.summary.push_str(&note);
        }
    }

    /// Notes that the result is not known: in doubt, a required need is not shown.
    fn note_unknown(&self, verdict: &mut Verdict, why: &str) {
        if self.requires_need() {
            verdict.add_detail("without_work", json!({ "outcome": "not-known", "why": why }));
            verdict.becomes(Outcome::Inconclusive, why.to_owned());
        } else {
            self.note_no_effect(verdict, why);
        }
    }
}

#[cfg(test)]
mod tests;
