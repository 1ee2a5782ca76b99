//! Sealed tests: laid over the product in the deciding copy, after everything else has passed.
//!
//! Nothing of their text may leave this run: it has no log and no excerpt, its report stands in the
//! copy, which is emptied after the run, and the product under test is confined as far as the
//! system can do that. What is shown is a count.

use std::fs;
use std::path::{Path, PathBuf};

use gate_core::decide::evidence::{Evidence, Outcome};
use gate_core::decide::policy::Reveal;
use gate_core::decide::sealed_tests::{MAX_SEALED_REFUSALS, SealedOutcome};
use gate_core::text::{MAX_NAMES, counted, some_names};
use serde_json::json;

use super::emptied::{emptied, is_nothing_left};
use super::identities::{is_allowed, is_fully_named};
use super::overlay::{Overlay, Replacement};
use super::sealed_count::{LetGo, SealedCount, SealedFile, SealedReport};
use super::test_workspace::TestWorkspace;
use super::verdict::Verdict;
use super::{TestOutcome, Trouble, VerifiedTests};
use crate::cancellation::Cancellation;
use crate::check::{CheckId, PrivateRun};
use crate::checks::test_run::FinishedRun;
use crate::process::{Capture, Confinement, Job, JobEnd, environment};
use crate::report::{Status, TestReport};
use crate::runner::RunnerCommand;
use crate::seal::{Seal, SealError};
use crate::site::CheckSite;
use crate::temporary::Temporary;
use crate::worktree::WorkTree;

/// A run of the sealed tests.
pub(super) struct SealedRun {
    /// An error if the command did not end by itself.
    pub(super) run: Result<FinishedRun, Box<Evidence>>,
    /// No other test ran.
    is_alone: bool,
    /// The limits that the system set, as they stand in records.
    confined: &'static str,
    /// The digests of the names of the sealed tests that ran without the work, as far as known.
    ran_before: Vec<String>,
}

/// A file that no interpreter and no compiler takes.
const BROKEN: &str = "<<<((( \"broken by gate\n";

impl SealedRun {
    fn passes_without_report(&self) -> bool {
        let run = self.run.as_ref();
        run.is_ok_and(|run| run.report.is_none() && run.launched.exit_code == Some(0))
    }
}

impl VerifiedTests<'_> {
    /// The check has sealed tests, or the seals cannot be read: tests that may be there must not be
    /// left out.
    pub(super) fn is_sealed(&self, tree: &WorkTree) -> bool {
        !matches!(self.seal(tree), Ok(None))
    }

    pub(super) fn seal(&self, tree: &WorkTree) -> Result<Option<Seal>, SealError> {
        let configured_folder = self.settings.sealed.as_deref();
        Seal::find(&self.cx.site, tree, self.id.as_str(), configured_folder)
    }

    /// Runs the check's sealed tests, if it has any and has passed so far. `old_report` is that of
    /// the baseline's tests over the product, if they ran.
    pub(super) async fn run_sealed(
        &self,
        deciding_copy: &mut TestWorkspace,
        overlay: Option<&Overlay<'_>>,
        runner: Option<&RunnerCommand>,
        old_report: Option<&TestReport>,
        verdict: &mut Verdict,
    ) -> Result<(), Trouble> {
        if !verdict.has_passed() {
            return Ok(());
        }
        let tree = deciding_copy.tree().clone();
        let seal_and_files = match self.seal(&tree) {
            Ok(Some(seal)) => seal.files().map(|files| (seal, files)),
            Ok(None) => return Ok(()),
            Err(error) => Err(error),
        };
        let (seal, paths) = match seal_and_files {
            Ok(seal_and_files) => seal_and_files,
            Err(error) => {
                verdict.set_outcome(Outcome::Inconclusive, error.to_string());
                return Ok(());
            }
        };
        if self.cx.options.about.sealed_refusals >= MAX_SEALED_REFUSALS {
            let summary = format!(
                "the sealed tests refused {MAX_SEALED_REFUSALS} times in this run, and do not run \
                 again: a person has to look at the work"
            );
            verdict.add_detail("sealed", json!({ "outcome": SealedOutcome::Spent }));
            verdict.set_outcome(Outcome::Fail, summary);
            return Ok(());
        }
        let files = self.sealed_files(&seal.folder, &paths, overlay, &tree)?;
        let replacements = self.replacements_over(&tree, overlay)?;
        self.lay(deciding_copy, overlay, &replacements)?;
        let mut unsealed_report = old_report.or(verdict.report.as_ref()).cloned();
        let is_unnamed = unsealed_report.as_ref().is_none_or(|report| !is_fully_named(report));
        let is_in_old_place = files.iter().any(|file| file.old_text.is_some());
        // Without a runner no earlier run proved that the copy lacks nothing. Without names the sealed
        // tests of an old file are told by the number of the others.
        if runner.is_none() || is_unnamed && is_in_old_place {
            let unsealed = self.unsealed_run(deciding_copy, overlay, replacements, &files).await?;
            let Some(unsealed_run) = unsealed else {
                let summary = "sealed tests run in a copy of the tree, and without them the command \
                               does not pass there: what tests need and git ignores has to be \
                               tracked, or made by the tests";
                verdict.set_outcome(Outcome::Inconclusive, summary.to_owned());
                return Ok(());
            };
            unsealed_report = unsealed_run.report;
        }
        let mut sealed_copy = deciding_copy.deciding_copy(self.settings)?;
        sealed_copy.lay_sealed(&seal.folder, &paths)?;
        let sealed_run = self
            .run_confined(&mut sealed_copy, &seal, &paths, runner, unsealed_report.as_ref())
            .await;
        // The copy is emptied before an error of the run is returned.
        sealed_copy.end_private()?;
        let sealed_run = sealed_run?;
        if sealed_run.passes_without_report()
            && self.passes_with_broken_files(deciding_copy, overlay, &seal, &paths).await?
        {
            let summary = "the command passes as well if the sealed files are broken: it does not \
                           run them";
            verdict.set_outcome(Outcome::Inconclusive, summary.to_owned());
            return Ok(());
        }
        let is_readable = seal.is_readable_in(&tree);
        let unsealed = unsealed_report.as_ref();
        self.weigh_sealed(&sealed_run, &files, unsealed, is_readable, verdict);
        Ok(())
    }

    /// Runs the sealed tests, alone if the runner can, and confined as far as the system can.
    pub(super) async fn run_confined(
        &self,
        sealed_copy: &mut TestWorkspace,
        seal: &Seal,
        files: &[PathBuf],
        runner: Option<&RunnerCommand>,
        unsealed_report: Option<&TestReport>,
    ) -> Result<SealedRun, Trouble> {
        let confinement = confinement(&self.cx.site, sealed_copy, seal, &self.cx.cancel).await;
        let confined = match &confinement {
            Some(confinement) if confinement.has_namespaces => "network",
            Some(_) => "files",
            None => "none",
        };
        let folder = sealed_copy.folder().to_owned();
        sealed_copy.keep_private(PrivateRun { folder, confinement });
        let is_alone = runner
            .zip(unsealed_report)
            .is_some_and(|(runner, report)| sealed_copy.run_only(runner, files, report));
        let result = sealed_copy.run(&CheckId::new(format!("{}-sealed", self.id)), true).await;
        if self.cx.cancel.is_cancelled() {
            return Err(Trouble::Ended);
        }
        Ok(SealedRun { run: result, is_alone, confined, ran_before: seal.ran.clone() })
    }

    /// The run of the command in this copy without the sealed tests and the old ones in their places;
    /// `None` if it does not pass. Where no earlier run proved that, a copy that lacks something would
    /// look like a wrong product.
    pub(super) async fn unsealed_run(
        &self,
        copy: &mut TestWorkspace,
        overlay: Option<&Overlay<'_>>,
        mut replacements: Vec<Replacement>,
        files: &[SealedFile],
    ) -> Result<Option<TestOutcome>, Trouble> {
        let replaced = files.iter().filter(|file| file.old_text.is_some());
        let replaced: Vec<_> = replaced.map(|file| &file.tests).collect();
        let is_replaced = |path: &Path| replaced.iter().any(|file| file.path == path);
        replacements.retain(|file| !is_replaced(&file.path));
        replacements.extend(replaced.iter().map(|file| emptied(file)));
        if !replaced.is_empty() {
            self.lay(copy, overlay, &replacements)?;
        }
        let log = CheckId::new(format!("{}-unsealed", self.id));
        let result = copy.run(&log, true).await;
        if self.cx.cancel.is_cancelled() {
            return Err(Trouble::Ended);
        }
        let run = self.leave_out_let_go(copy.settings(), TestOutcome::new(result, copy.settings()));
        let has_passed =
            run.has_passed() || !replaced.is_empty() && is_nothing_left(copy, &run, is_replaced);
        Ok(has_passed.then_some(run))
    }

    fn replacements_over(
        &self,
        tree: &WorkTree,
        overlay: Option<&Overlay<'_>>,
    ) -> Result<Vec<Replacement>, Trouble> {
        overlay.map_or(Ok(Vec::new()), |overlay| self.replacements(tree, overlay, None))
    }

    /// The command passes with a text in the place of each sealed file that no language reads. Without a
    /// report nothing else shows that it runs them.
    async fn passes_with_broken_files(
        &self,
        deciding_copy: &mut TestWorkspace,
        overlay: Option<&Overlay<'_>>,
        seal: &Seal,
        files: &[PathBuf],
    ) -> Result<bool, Trouble> {
        let tree = deciding_copy.tree().clone();
        self.lay(deciding_copy, overlay, &self.replacements_over(&tree, overlay)?)?;
        let broken = Temporary::new("try")?;
        for file in files {
            let path = broken.path().join(file);
            fs::create_dir_all(path.parent().unwrap_or(&path))?;
            fs::write(path, BROKEN)?;
        }
        let mut copy = deciding_copy.deciding_copy(self.settings)?;
        copy.lay_sealed(broken.path(), files)?;
        // Confined and without a log: the names of the files are secret, too.
        let broken_run = self.run_confined(&mut copy, seal, files, None, None).await;
        copy.end_private()?;
        Ok(broken_run?.passes_without_report())
    }

    pub(super) fn count_sealed(
        &self,
        report: &SealedReport<'_>,
        files: &[SealedFile],
    ) -> SealedCount {
        let let_go = LetGo {
            is_approved: &|id| is_allowed(id, &self.cx.allow),
            is_superseded: &|id| self.superseded.has(id),
        };
        SealedCount::new(report, files, let_go)
    }

    fn weigh_sealed(
        &self,
        sealed_run: &SealedRun,
        files: &[SealedFile],
        unsealed_report: Option<&TestReport>,
        is_readable: bool,
        verdict: &mut Verdict,
    ) {
        let Ok(run) = &sealed_run.run else {
            let summary = "the sealed tests gave no answer: the command did not end by itself";
            verdict.set_outcome(Outcome::Inconclusive, summary.to_owned());
            return;
        };
        let count = run.report.as_ref().map(|report| {
            let is_alone = sealed_run.is_alone;
            // Alone, each test in the report is sealed.
            let unsealed = if is_alone { None } else { unsealed_report };
            let report = SealedReport { report, unsealed, is_alone };
            self.count_sealed(&report, files)
        });
        let is_explained = count.as_ref().is_some_and(|count| count.is_failure_explained);
        let has_ended_well = run.launched.exit_code == Some(0) || is_explained;
        let is_listed = count.as_ref().is_some_and(|count| count.ran() > 0);
        // A product that ends its process with 0 leaves no report either.
        let is_report_expected = verdict.report.is_some() || run.report.is_some();
        if has_ended_well && is_report_expected && !is_listed {
            let summary = "no sealed test is in the report: the command does not find the files \
                           that were laid over the tree, or the product ends it";
            verdict.set_outcome(Outcome::Inconclusive, summary.to_owned());
            return;
        }
        if let Some(count) = &count
            && has_ended_well
            && count.failed == 0
            && !count.silent_files.is_empty()
        {
            let summary = format!(
                "{} of {} has no result in the report: the command does not find it or skips it, or \
                 the product ends it",
                count.silent_files.len(),
                counted(files.len(), "sealed file")
            );
            verdict.set_outcome(Outcome::Inconclusive, summary);
            return;
        }
        let has_failed = count.as_ref().is_some_and(|count| count.failed > 0);
        let newly_skipped = count.as_ref().map_or(0, |count| {
            let skipped = count.named(Status::Skipped).iter();
            skipped
                .filter(|id| sealed_run.ran_before.contains(&gate_core::digest(id.as_bytes())))
                .count()
        });
        if has_ended_well && !has_failed && newly_skipped > 0 {
            let summary = format!(
                "{} skipped now, and ran before the work",
                if newly_skipped == 1 {
                    "a sealed test is".to_owned()
                } else {
                    format!("{newly_skipped} sealed tests are")
                }
            );
            verdict.set_outcome(Outcome::Inconclusive, summary);
            return;
        }
        let has_passed = has_ended_well && !has_failed;
        let outcome = if has_passed { SealedOutcome::Passed } else { SealedOutcome::Failed };
        let reveal = self.settings.reveal;
        let mut detail = json!({
            "outcome": outcome,
            "confined": sealed_run.confined,
            "readable": is_readable,
        });
        let mut summary = String::new();
        if let Some(count) = count
            && is_listed
            && reveal != Reveal::None
        {
            summary = format!("{} of {} sealed tests pass", count.passed, count.total());
            let skipped = count.named(Status::Skipped).len();
            if skipped > 0 {
                summary.push_str(&format!(", {skipped} skipped"));
            }
            (detail["passed"], detail["total"]) = (json!(count.passed), json!(count.total()));
            let failed_names = count.named(Status::Failed);
            if reveal == Reveal::Names && !failed_names.is_empty() {
                summary.push_str(&format!(", not {}", some_names(failed_names, MAX_NAMES)));
                detail["failed"] = json!(failed_names);
            }
        } else if !has_passed {
            "a sealed test fails".clone_into(&mut summary);
        }
        verdict.add_detail("sealed", detail);
        if has_passed {
            let note = if summary.is_empty() { "the sealed tests pass" } else { &summary };
            let readers = if is_readable { " (readable by the agent)" } else { "" };
            verdict.evidence.summary.push_str(&format!("; {note}{readers}"));
        } else {
            verdict.set_outcome(Outcome::Fail, summary);
            // The excerpt is the own run's, which passed.
            verdict.evidence.excerpt = None;
        }
    }
}

/// The limits of the run: as many as the system can set. `None` if it can set no limit.
async fn confinement(
    site: &CheckSite,
    sealed_copy: &TestWorkspace,
    seal: &Seal,
    cancel: &Cancellation,
) -> Option<Confinement> {
    let folder = sealed_copy.folder().to_owned();
    let hidden: Vec<PathBuf> = [Some(&seal.folder), site.state.as_ref()]
        .into_iter()
        .flatten()
        .filter(|hidden_folder| !folder.starts_with(hidden_folder))
        .cloned()
        .collect();
    // An empty program shows whether the system can set these limits.
    for has_namespaces in [true, false] {
        let confinement =
            Confinement { folder: folder.clone(), hidden: hidden.clone(), has_namespaces };
        let job = Job {
            argv: ["sh", "-c", ":"].map(str::to_owned).to_vec(),
            folder: folder.clone(),
            environment: environment(&site.environment, &[]),
            stdin: None,
            supervisor: site.supervisor.clone(),
            memory: None,
            is_low_priority: false,
            confinement: Some(confinement.clone()),
        };
        let is_supervised = site.supervisor.is_some();
        if is_supervised && job.run(Capture::new(None), cancel).await.end == JobEnd::Exited(0) {
            return Some(confinement);
        }
    }
    None
}
