//! A pass counts if the copy was tested, and not the work tree.
//!
//! It is looked for only where something installed leads into the tree. Others open files of the
//! tree too, such as an editor or another check: so a suspicion has to be confirmed by another run,
//! and by quiet while nothing runs.

use std::time::Duration;

use gate_core::decide::evidence::Outcome;
use tokio::time::sleep;

use super::VerifiedTests;
use super::test_workspace::TestWorkspace;
use super::verdict::Verdict;
use crate::check::CheckId;

/// The time in which others have to leave the tree alone.
const QUIET: Duration = Duration::from_millis(300);

impl VerifiedTests<'_> {
    /// Makes a pass inconclusive if its runs loaded files of the work tree.
    pub(super) async fn confirm_isolation(&self, workspace: &TestWorkspace, verdict: &mut Verdict) {
        let suspected = workspace.take_opened();
        if verdict.evidence.outcome != Outcome::Pass || suspected.is_empty() {
            return;
        }
        let mut others = workspace.watch();
        sleep(QUIET).await;
        if !others.take().is_empty() {
            return;
        }
        let log = CheckId::new(format!("{}-isolation", self.id));
        // Only the files that it opens count.
        drop(workspace.run(&log, None, false).await);
        let again = workspace.take_opened();
        if let Some(file) = suspected.intersection(&again).next() {
            let summary = format!(
                "not isolated: the tests loaded {} of the work tree, and not the copy's; install \
                 it in a folder of the project (node_modules, .venv), or set `control = false`",
                file.display()
            );
            verdict.becomes(Outcome::Inconclusive, summary);
        }
    }
}
