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
use super::{Trouble, VerifiedTests, context};
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
    /// The same, with all tests: one may fail because of another.
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
    (red, on): (RedTests<'_>, RerunTree<'_>),
    cancel: &Cancellation,
) -> Result<Option<Evidence>, GatherError> {
    let Some(settings) = policy.checks.get(red.check) else { return Ok(None) };
    let Some((settings, _)) = with_command(red.check, settings, site) else { return Ok(None) };
    if CheckKind::for_check(red.check, &settings) != CheckKind::Command {
        return Ok(None);
    }
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let Some((tree, cx)) = context(policy, site, baseline, cancel) else { return Ok(None) };
    let id = CheckId::new(red.check);
    let verified = VerifiedTests { id: &id, settings: &settings, cx: &cx };
    let ran = runtime.block_on(async {
        match on {
            RerunTree::Baseline => verified.on_baseline(&tree, red.tests).await,
            RerunTree::Now => Ok(verified.now(red.tests).await),
            RerunTree::NowWhole => Ok(verified.now(&[]).await),
            RerunTree::Without(files) => verified.without(&tree, files, red.tests).await,
        }
    });
    // The cause of a failure stays unknown if the copy cannot be made.
    Ok(ran.ok().flatten())
}

impl VerifiedTests<'_> {
    async fn on_baseline(
        &self,
        tree: &WorkTree,
        tests: &[String],
    ) -> Result<Option<Evidence>, Trouble> {
        let Some(overlay) = Overlay::new(self.cx, tree)? else { return Ok(None) };
        let key = format!("{} {}", self.key(RunKind::Record), tests.join("\n"));
        let kept = overlay.baseline.result(&self.cx.site, tree, &key);
        if kept.is_some() {
            return Ok(kept);
        }
        let ran = self.in_copy(tree, Contents::Baseline(&overlay), tests).await?;
        if let (Some(evidence), false) = (&ran, self.cx.cancel.is_cancelled()) {
            // What is not kept is found out again.
            let _ = overlay.baseline.keep_result(&self.cx.site, tree, &key, evidence);
        }
        Ok(ran)
    }

    async fn without(
        &self,
        tree: &WorkTree,
        files: &[PathBuf],
        tests: &[String],
    ) -> Result<Option<Evidence>, Trouble> {
        let Some(overlay) = Overlay::new(self.cx, tree)? else { return Ok(None) };
        self.in_copy(tree, Contents::PutBack(&overlay, files), tests).await
    }

    async fn in_copy(
        &self,
        tree: &WorkTree,
        contents: Contents<'_>,
        tests: &[String],
    ) -> Result<Option<Evidence>, Trouble> {
        let mut workspace = TestWorkspace::open(tree, self.settings, self.cx).await?;
        workspace.sync(contents)?;
        if let Some(files) = files_of(self.settings, &self.folder(), tests) {
            let cwd = workspace.folder_of_tests();
            let files: Vec<_> = files.into_iter().filter(|file| cwd.join(file).is_file()).collect();
            if files.is_empty() {
                // A test that is not there does not fail there.
                return Ok(Some(self.id.record(Outcome::Pass, "")));
            }
            workspace.run_files(&files);
        }
        let log = CheckId::new(format!("{}-again", self.id));
        let Ok(ran) = workspace.run(&log, true).await else { return Ok(None) };
        let evidence = ran.judged(workspace.settings());
        Ok(Some(self.named(evidence)))
    }

    async fn now(&self, tests: &[String]) -> Option<Evidence> {
        let mut settings = self.settings.clone();
        if let Some(files) = files_of(self.settings, &self.folder(), tests)
            && !files.is_empty()
        {
            settings.command = with_files(&settings.command, files);
        }
        let id = CheckId::new(format!("{}-again", self.id));
        let again = VerifiedTests { id: &id, settings: &settings, cx: self.cx };
        Some(self.named(again.in_tree().await.ok()?.judged(&settings)))
    }

    /// The folder in which the command runs.
    fn folder(&self) -> PathBuf {
        self.cx.site.folder_of(self.settings)
    }

    fn named(&self, mut evidence: Evidence) -> Evidence {
        self.id.as_str().clone_into(&mut evidence.check);
        self.cx.masker.evidence(&mut evidence);
        evidence
    }
}

/// The files of red tests, relative to the check's folder, if the command is pytest's and names no
/// file itself.
fn files_of<'t>(
    settings: &CheckPolicy,
    cwd: &Path,
    tests: &'t [String],
) -> Option<BTreeSet<&'t str>> {
    let found = recognise(settings, cwd)?;
    let names_files = found.args.iter().any(|word| !word.starts_with('-') || word == "--");
    if found.runner != Runner::Pytest || !found.alone || names_files {
        return None;
    }
    let file = |test: &'t String| Some(test.split_once("::")?.0);
    // A name may be relative to a folder above.
    let file = |test| file(test).filter(|file| file.ends_with(".py") && cwd.join(file).is_file());
    tests.iter().map(file).collect()
}
