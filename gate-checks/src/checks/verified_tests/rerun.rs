//! A check, run once more in the copy of the tree with files as the baseline had them:
//! whose a failure is.

use std::path::PathBuf;

use gate_core::decide::evidence::Evidence;
use gate_core::decide::policy::Policy;
use tokio::runtime::Builder;

use super::VerifiedTests;
use super::baseline_run::RunKind;
use super::context::context;
use super::overlay::Overlay;
use super::test_workspace::{Contents, TestWorkspace};
use super::trouble::Trouble;
use crate::baseline::Baseline;
use crate::cancellation::Cancellation;
use crate::check::CheckId;
use crate::check_kind::{CheckKind, with_command};
use crate::gather::GatherError;
use crate::site::CheckSite;
use crate::worktree::WorkTree;

/// The files that are put back to their baseline.
#[derive(Clone, Copy, Debug)]
pub enum PutBack<'f> {
    /// All: the check runs on the baseline. The record is kept.
    Everything,
    /// These, relative to the work tree's root.
    Files(&'f [PathBuf]),
}

/// Runs the command of a configured check once, in the copy of the work tree, and returns its
/// record. None if the check runs no command, or the copy cannot be made, or nobody waits for it
/// any more.
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
    (check, put_back): (&str, PutBack<'_>),
    cancel: &Cancellation,
) -> Result<Option<Evidence>, GatherError> {
    let Some(settings) = policy.checks.get(check) else { return Ok(None) };
    let Some((settings, _)) = with_command(check, settings, site) else { return Ok(None) };
    if CheckKind::for_check(check, &settings) != CheckKind::Command {
        return Ok(None);
    }
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let Some((tree, cx)) = context(policy, site, baseline, cancel) else { return Ok(None) };
    let id = CheckId::new(check);
    let trial = VerifiedTests { id: &id, settings: &settings, cx: &cx };
    let ran = runtime.block_on(trial.rerun(&tree, put_back));
    // The cause of a failure stays unknown if the copy cannot be made.
    Ok(ran.ok().flatten())
}

impl VerifiedTests<'_> {
    async fn rerun(
        &self,
        tree: &WorkTree,
        put_back: PutBack<'_>,
    ) -> Result<Option<Evidence>, Trouble> {
        let Some(overlay) = Overlay::new(self.cx, tree)? else { return Ok(None) };
        let kept = match put_back {
            PutBack::Everything => {
                overlay.baseline.result(&self.cx.site, tree, &self.key(RunKind::Record))
            }
            PutBack::Files(_) => None,
        };
        if kept.is_some() {
            return Ok(kept);
        }
        let mut workspace = TestWorkspace::open(tree, self.settings, self.cx).await?;
        workspace.sync(match put_back {
            PutBack::Everything => Contents::Baseline(&overlay),
            PutBack::Files(files) => Contents::PutBack(&overlay, files),
        })?;
        let log = CheckId::new(format!("{}-put-back", self.id));
        let Ok(ran) = workspace.run(&log, None, true).await else { return Ok(None) };
        let mut evidence = ran.judged(workspace.settings());
        self.id.as_str().clone_into(&mut evidence.check);
        self.cx.masker.evidence(&mut evidence);
        if matches!(put_back, PutBack::Everything) && !self.cx.cancel.is_cancelled() {
            // What is not kept is found out again.
            let key = self.key(RunKind::Record);
            let _ = overlay.baseline.keep_result(&self.cx.site, tree, &key, &evidence);
        }
        Ok(Some(evidence))
    }
}
