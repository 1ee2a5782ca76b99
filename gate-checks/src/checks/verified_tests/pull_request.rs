//! The tests of a pull request.
//!
//! ```text
//! base's tests over the product ─► tree's own run ─► which of the base's tests does it still run?
//!       │ a test that nobody edited fails: the end
//!       └─► only edited tests fail ─► a reviewer has to approve them
//! ```
//!
//! If no test, no support and no setting of tests was changed or added, both runs would be the
//! same, and the tree's own is the only one. The base's run comes first: nothing of the tree's own
//! tests has run in the copy by then.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use gate_core::decide::evidence::{Evidence, Outcome};
use gate_core::integrity::{Language, loaded_by_itself};
use serde_json::json;

use super::deciding::{Blame, Failures};
use super::identities::{Compared, Renamed, Sources, compare, names_all};
use super::overlay::{Overlay, Replacement};
use super::test_workspace::{Contents, TestWorkspace};
use super::trouble::Trouble;
use super::verdict::Verdict;
use super::{Control, TestOutcome, VerifiedTests};
use crate::check::CheckId;
use crate::control::RunnerCommand;
use crate::report::{Status, Test, TestReport};
use crate::worktree::WorkTree;

/// The most runs of the base's tests: each takes edited files that only follow a new name.
const MAX_RUNS: usize = 3;

/// The base's tests over the product of the tree.
struct BaseRun<'r> {
    run: TestOutcome,
    /// The files that explain why it did not pass; nothing if it passed.
    blame: Blame<'r>,
    /// Edited files that ran in the place of their old texts.
    adapted: BTreeSet<PathBuf>,
}

impl VerifiedTests<'_> {
    /// The record of a check whose baseline is the base of a pull request.
    pub(super) async fn judge_pull_request(
        &self,
        tree: &WorkTree,
        overlay: &Overlay<'_>,
        runner: Option<&RunnerCommand>,
    ) -> Result<Evidence, Trouble> {
        let mut workspace = TestWorkspace::open(tree, self.settings, self.cx).await?;
        let mut replacements = overlay.replacements(tree)?;
        if !overlay.baseline.has_tests(tree)? {
            replacements.retain(|file| !file.is_new());
        }
        let base = match replacements.is_empty() {
            true => None,
            false => Some(self.base_run(&mut workspace, overlay, &replacements).await?),
        };
        let laid: Vec<_> = replacements.iter().collect();
        if let Some(BaseRun { run, .. }) = base.as_ref().filter(|base| base.is_decided()) {
            let mut verdict = Verdict::new(run.clone());
            if verdict.falls_short {
                return Ok(self.in_tree_instead(verdict).await.finished());
            }
            verdict.add_detail("base_run", json!("failed"));
            verdict.refuse(run.clone(), &Compared::unknown(false), &laid);
            return Ok(verdict.finished());
        }
        let tree_run = self.tree_run(&mut workspace, overlay, runner).await?;
        let mut verdict = self.own_verdict(&mut workspace, Some(overlay), runner, tree_run).await?;
        if verdict.passed() {
            let base_tests = base.as_ref().and_then(|base| base.run.report.as_ref());
            self.compare_names(&mut workspace, overlay, base_tests, &mut verdict).await?;
        }
        if verdict.passed()
            && let Some(file) = workspace.tested_file_of_tree(self.id).await
        {
            verdict.is_about_the_tree(&file);
        }
        if verdict.falls_short && !self.cx.cancel.is_cancelled() {
            return Ok(self.in_tree_instead(verdict).await.finished());
        }
        if let Some(BaseRun { run, blame, adapted }) = base {
            let state = if run.passed() { "passed" } else { "failed" };
            let adapted = adapted.iter().map(|path| path.to_string_lossy());
            let old = laid.iter().filter(|file| !file.is_new()).map(|file| file.name());
            verdict.add_detail("base_run", json!(state));
            verdict.add_detail("overlaid", json!(old.collect::<Vec<_>>()));
            verdict.add_detail("adapted", json!(adapted.collect::<Vec<_>>()));
            let changed: Vec<_> = blame.files.into_values().collect();
            if !changed.is_empty() && verdict.passed() {
                verdict.needs_approval(run, &Compared::unknown(false), &changed);
            } else if !changed.is_empty() {
                verdict.name_changed(&changed);
            }
        }
        Ok(verdict.finished())
    }

    /// Runs the base's tests over the product. An edited file that only follows a new name of the
    /// product runs in the place of its old text.
    async fn base_run<'r>(
        &self,
        workspace: &mut TestWorkspace,
        overlay: &Overlay<'_>,
        replacements: &'r [Replacement],
    ) -> Result<BaseRun<'r>, Trouble> {
        let log = CheckId::new(format!("{}-base", self.id));
        let mut adapted: BTreeSet<PathBuf> = BTreeSet::new();
        for runs in 1.. {
            let laid: Vec<_> =
                replacements.iter().filter(|file| !adapted.contains(&file.path)).collect();
            workspace.sync(Contents::Replaced(&laid))?;
            let ran = workspace.run(&log, None, true).await;
            if self.cx.cancel.is_cancelled() {
                break;
            }
            let none = Control::None(String::new());
            let run = self.let_go(workspace, TestOutcome::new(ran, workspace.settings(), none));
            if run.passed() {
                return Ok(BaseRun { run, blame: Blame::default(), adapted });
            }
            let failures = Failures::new(&run, &Compared::unknown(false));
            let blame = Blame::new(&failures, &laid, &self.inside(workspace.tree()))
                .or_settings(&failures, &laid);
            let adapts = self.adapts(workspace.tree(), overlay, &laid, &blame);
            if adapts.is_empty() || runs == MAX_RUNS {
                return Ok(BaseRun { run, blame, adapted });
            }
            adapted.extend(adapts);
        }
        Err(Trouble::Ended)
    }

    /// The files that may run as they are in the place of what was laid for them: edited ones that
    /// only follow a new name, if these explain all failures; else new data, which the product may
    /// read. What a runner loads is code.
    fn adapts(
        &self,
        tree: &WorkTree,
        overlay: &Overlay<'_>,
        laid: &[&Replacement],
        blame: &Blame<'_>,
    ) -> Vec<PathBuf> {
        let edited = blame.files.values().filter(|(file, _)| self.is_adapted(tree, overlay, file));
        let edited: Vec<_> = edited.map(|(file, _)| file.path.clone()).collect();
        let is_explained = blame.others.is_empty() && !blame.files.is_empty();
        if is_explained {
            return if edited.len() == blame.files.len() { edited } else { Vec::new() };
        }
        let data = laid.iter().filter(|file| file.is_new() && is_data(&file.path));
        data.map(|file| file.path.clone()).collect()
    }

    /// Runs the tree's own tests, with a control if one can be planted.
    async fn tree_run(
        &self,
        workspace: &mut TestWorkspace,
        overlay: &Overlay<'_>,
        runner: Option<&RunnerCommand>,
    ) -> Result<TestOutcome, Trouble> {
        let own = match runner {
            Some(runner) => {
                workspace.sync(Contents::Tree)?;
                workspace.note_changes(Some(overlay));
                self.with_control(workspace, runner).await?
            }
            None => {
                let reason = "the command starts no runner that gate has a control for".to_owned();
                TestOutcome::new(self.in_tree().await, self.settings, Control::None(reason))
            }
        };
        Ok(self.let_go(workspace, own))
    }

    /// Fails the verdict if tests of the base are gone from the tree's own run, or skipped there.
    /// `base_tests` is the report of the base's tests over the product, if they ran.
    // A product can leave out tests that nobody edited, which then are skipped in both runs, and a
    // source can be gone with the tests in it. Only a run of the base itself shows them.
    async fn compare_names(
        &self,
        workspace: &mut TestWorkspace,
        overlay: &Overlay<'_>,
        base_tests: Option<&TestReport>,
        verdict: &mut Verdict,
    ) -> Result<(), Trouble> {
        let Some(report) = verdict.report.clone() else { return Ok(()) };
        let skips = |report: &TestReport| report.named(Status::Skipped).next().is_some();
        let is_unsure = skips(&report)
            || base_tests.is_some_and(skips)
            || overlay.lost_inline_tests(workspace.tree())?;
        let of_base: Option<Vec<Test>> = if is_unsure {
            let run = self.baseline_run(workspace, overlay, (None, false)).await?;
            run.map(|run| run.tests).filter(|tests| !tests.is_empty())
        } else {
            base_tests.filter(|report| names_what_passed(report)).map(|report| report.tests.clone())
        };
        let Some(of_base) = of_base else {
            if overlay.approved().next().is_none() {
                count_lost(base_tests, &report, verdict);
            }
            return Ok(());
        };
        let compared = if names_all(&report) {
            let renamed = Renamed::new(overlay, &self.inside(workspace.tree()));
            let mut compared = compare(&of_base, &report, &renamed, &self.cx.allow);
            compared.relocate(&of_base, &report, || Sources::new(overlay, workspace.tree()));
            if overlay.has_approved_settings() {
                compared.allow_what_is_not_run();
            }
            compared
        } else {
            Compared::unlisted(of_base.len())
        };
        verdict.compare(&compared, overlay);
        Ok(())
    }
}

/// Data is in no language that gate knows, and no runner loads it by itself.
fn is_data(path: &Path) -> bool {
    let name = path.to_string_lossy();
    Language::from_path(&name).is_none() && !loaded_by_itself(&name)
}

/// A runner that names failing tests alone says nothing of the others.
fn names_what_passed(report: &TestReport) -> bool {
    names_all(report) && report.named(Status::Passed).next().is_some()
}

/// Fails the verdict if fewer tests ran than of the base, where the runner names none of them.
fn count_lost(base_tests: Option<&TestReport>, report: &TestReport, verdict: &mut Verdict) {
    let Some(of_base) = base_tests else { return };
    let lost = of_base.executed().saturating_sub(report.executed());
    if lost > 0 {
        let summary = format!(
            "{} tests ran on the base's files, and {} run now",
            of_base.executed(),
            report.executed()
        );
        verdict.add_detail("baseline", json!({ "known": false, "lost": lost }));
        verdict.becomes(Outcome::Fail, summary);
    }
}

impl BaseRun<'_> {
    /// True if the base's tests refuse, whatever the tree's own do: one fails that nobody edited,
    /// or no edit explains the failure.
    fn is_decided(&self) -> bool {
        !self.run.passed() && (!self.blame.others.is_empty() || self.blame.files.is_empty())
    }
}
