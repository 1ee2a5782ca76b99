//! New tests that cannot fail: they run over what the sources were in the baseline, and
//! what passes there says nothing of the work (the no-op ablation of
//! arXiv:2606.28430).
//!
//! A limit: tests that stand in a file of the product go back with it.

use gate_core::decide::evidence::Outcome;
use serde_json::json;

use super::VerifiedTests;
use super::identities::{self, LISTED, names_all, new_and_passed};
use super::overlay::Overlay;
use super::test_workspace::{Contents, TestWorkspace};
use super::trouble::Trouble;
use super::verdict::Verdict;
use crate::check::CheckId;
use crate::control::RunnerCommand;

impl VerifiedTests<'_> {
    /// Tries new tests without the work, where all is well so far.
    pub(super) async fn fail_to_pass(
        &self,
        workspace: &mut TestWorkspace,
        (overlay, found): (&Overlay<'_>, Option<&RunnerCommand>),
        verdict: &mut Verdict,
    ) -> Result<(), Trouble> {
        let files = overlay.new_tests();
        if verdict.evidence.outcome != Outcome::Pass || files.is_empty() {
            return Ok(());
        }
        let planted = found.is_some_and(|found| workspace.is_about_tests(found));
        let Some(known) = self.baseline_run(workspace, overlay, (found, planted)).await? else {
            let why = "which tests are new is not known: the baseline's gave no answer";
            verdict.becomes(Outcome::Inconclusive, why.to_owned());
            return Ok(());
        };
        workspace.sync(Contents::WithoutWork(overlay))?;
        if let (Some(found), Some(report)) = (found, &verdict.report) {
            workspace.narrow(found, &files, report);
        }
        let log = CheckId::new(format!("{}-without-work", self.id));
        let ran = workspace.run(&log, None, true).await;
        if self.cx.cancel.is_cancelled() {
            return Err(Trouble::Ended);
        }
        let Ok(ran) = ran else {
            let why = "new tests gave no answer over what the sources were";
            verdict.becomes(Outcome::Inconclusive, why.to_owned());
            return Ok(());
        };
        let report = ran.report.as_ref().filter(|report| names_all(report));
        let idle = match report {
            Some(report) => new_and_passed(&known.tests, report),
            // What does not even build without the work needs it.
            None if ran.launched.exit_code != Some(0) => Vec::new(),
            None => {
                let why = "which tests are new is not told, and they pass without the work";
                verdict.becomes(Outcome::Inconclusive, why.to_owned());
                return Ok(());
            }
        };
        let listed: Vec<_> = idle.iter().take(LISTED).collect();
        verdict.tell("without_work", json!({ "passed": listed }));
        if !idle.is_empty() {
            let what = if idle.len() == 1 { "1 new test passes" } else { "new tests pass" };
            let summary = format!("{what} without the work: {}", identities::some(&idle));
            verdict.becomes(Outcome::Fail, summary);
        }
        Ok(())
    }
}
