//! The red tests of a check, run once more: they were red before, they are flaky, or another's
//! change broke them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use gate_core::decide::checks::CheckKind;
use gate_core::decide::evidence::{Evidence, Outcome};
use gate_core::decide::policy::{CheckPolicy, Policy};
use tokio::runtime::Builder;

use super::baseline_run::RunKind;
use super::overlay::Overlay;
use super::test_workspace::{Contents, TestWorkspace, with_files};
use super::{Trouble, VerifiedTests, open_context};
use crate::baseline::Baseline;
use crate::cancellation::Cancellation;
use crate::check::CheckId;
use crate::gather::GatherError;
use crate::programs::with_command;
use crate::runner::{Runner, recognise};
use crate::site::CheckSite;
use crate::worktree::WorkTree;

/// The tree that red tests run on once more.
#[derive(Clone, Copy, Debug)]
pub enum RerunTree<'f> {
    /// The baseline, in the copy. The record is kept.
    Baseline,
    /// The work tree itself, as it is now.
    Now,
    /// The work tree itself, with all tests of the check: one may fail because of another.
    NowWhole,
    /// The work tree with these files as the baseline had them, in the copy. Their names are
    /// relative to its root.
    Without(&'f [PathBuf]),
}

/// Failing tests of a check.
#[derive(Clone, Copy, Debug)]
pub struct RedTests<'t> {
    /// The check.
    pub check: &'t str,
    /// The tests, as the report names them; the check's name alone if they are not known.
    pub tests: &'t [String],
}

/// Runs the red tests of a configured check once more, and returns the record. Where the runner
/// cannot be given them alone, its whole command runs. None if the check runs no command, or the
/// copy cannot be made, or nobody waits for it any more.
///
/// It blocks, and must not be called inside of a tokio runtime.
///
/// # Errors
///
/// [`GatherError`]: nothing could be run.
pub fn rerun(
    policy: &Policy,
    site: &CheckSite,
    baseline: &Baseline,
    red_tests: RedTests<'_>,
    rerun_tree: RerunTree<'_>,
    cancel: &Cancellation,
) -> Result<Option<Evidence>, GatherError> {
    let RedTests { check, tests } = red_tests;
    let Some(settings) = policy.checks.get(check) else { return Ok(None) };
    let Some((settings, _)) = with_command(check, settings, site) else { return Ok(None) };
    if CheckKind::for_check(check, &settings) != CheckKind::Command {
        return Ok(None);
    }
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let Some((tree, cx)) = open_context(policy, site, baseline, cancel) else { return Ok(None) };
    let id = CheckId::new(check);
    let check = VerifiedTests::new(&id, &settings, &cx);
    let evidence = runtime.block_on(async {
        match rerun_tree {
            RerunTree::Baseline => check.rerun_on_baseline(&tree, tests).await,
            RerunTree::Now => Ok(check.rerun_in_tree(tests).await),
            RerunTree::NowWhole => Ok(check.rerun_in_tree(&[]).await),
            RerunTree::Without(files) => check.rerun_without(&tree, files, tests).await,
        }
    });
    // The cause of a failure stays unknown if the copy cannot be made.
    Ok(evidence.ok().flatten())
}

impl VerifiedTests<'_> {
    async fn rerun_on_baseline(
        &self,
        tree: &WorkTree,
        tests: &[String],
    ) -> Result<Option<Evidence>, Trouble> {
        let Some(overlay) = Overlay::new(self.cx, tree)? else { return Ok(None) };
        let key = format!("{} {}", self.key(RunKind::Record), tests.join("\n"));
        let stored_evidence = overlay.baseline.result(&self.cx.site, tree, &key);
        if stored_evidence.is_some() {
            return Ok(stored_evidence);
        }
        let evidence = self.rerun_in_copy(tree, Contents::Baseline(&overlay), tests).await?;
        if let (Some(evidence), false) = (&evidence, self.cx.cancel.is_cancelled()) {
            // A record that is not stored costs one more run the next time.
            let _ = overlay.baseline.keep_result(&self.cx.site, tree, &key, evidence);
        }
        Ok(evidence)
    }

    async fn rerun_without(
        &self,
        tree: &WorkTree,
        files: &[PathBuf],
        tests: &[String],
    ) -> Result<Option<Evidence>, Trouble> {
        let Some(overlay) = Overlay::new(self.cx, tree)? else { return Ok(None) };
        self.rerun_in_copy(tree, Contents::PutBack(&overlay, files), tests).await
    }

    async fn rerun_in_copy(
        &self,
        tree: &WorkTree,
        contents: Contents<'_>,
        tests: &[String],
    ) -> Result<Option<Evidence>, Trouble> {
        let mut workspace = TestWorkspace::open(tree, self.settings, self.cx).await?;
        workspace.sync(contents)?;
        let folder = self.cx.site.folder_of(self.settings);
        if let Some(mut files) = files_of_tests(self.settings, &folder, tests) {
            let folder_in_copy = workspace.folder_of_tests();
            files.retain(|file| folder_in_copy.join(file).is_file());
            if files.is_empty() {
                // A test that is not there does not fail there.
                return Ok(Some(self.id.record(Outcome::Pass, "")));
            }
            workspace.run_files(files);
        }
        let log = CheckId::new(format!("{}-again", self.id));
        let Ok(run) = workspace.run(&log, true).await else { return Ok(None) };
        let evidence = run.judged(workspace.settings());
        Ok(Some(self.masked_record(evidence)))
    }

    async fn rerun_in_tree(&self, tests: &[String]) -> Option<Evidence> {
        let mut settings = self.settings.clone();
        let folder = self.cx.site.folder_of(self.settings);
        if let Some(files) = files_of_tests(self.settings, &folder, tests)
            && !files.is_empty()
        {
            settings.command = with_files(&settings.command, files);
        }
        let id = CheckId::new(format!("{}-again", self.id));
        let rerun = VerifiedTests::new(&id, &settings, self.cx);
        Some(self.masked_record(rerun.run_in_tree().await.ok()?.judged(&settings)))
    }

    /// The record under the check's own name, not that of its log.
    fn masked_record(&self, mut evidence: Evidence) -> Evidence {
        self.id.as_str().clone_into(&mut evidence.check);
        self.cx.masker.evidence(&mut evidence);
        evidence
    }
}

/// The files of red tests, relative to the check's folder, if the command is pytest's and names no
/// file itself.
fn files_of_tests<'t>(
    settings: &CheckPolicy,
    cwd: &Path,
    tests: &'t [String],
) -> Option<BTreeSet<&'t str>> {
    let runner = recognise(settings, cwd)?;
    let names_files = runner.args.iter().any(|word| !word.starts_with('-') || word == "--");
    if runner.runner != Runner::Pytest || !runner.starts_runner_alone || names_files {
        return None;
    }
    tests
        .iter()
        .map(|test| {
            let (file, _) = test.split_once("::")?;
            // A name may be relative to a folder above; then the whole command has to run.
            (file.ends_with(".py") && cwd.join(file).is_file()).then_some(file)
        })
        .collect()
}
