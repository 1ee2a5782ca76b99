//! Submodules, whose files are no part of a baseline.

use std::collections::BTreeMap;

use gate_core::integrity::{Finding, SUBMODULE, Severity, guarded};

use super::Baseline;
use crate::worktree::{WorkTree, WorktreeError};

/// The submodules that stand at another commit than the tree's commit says.
pub(super) fn moved(
    tree: &WorkTree,
    commit: &str,
) -> Result<BTreeMap<String, String>, WorktreeError> {
    let mut moved = BTreeMap::new();
    for (path, named) in tree.submodules_of(commit)? {
        if let Some(head) = tree.head_of_submodule(&path)?.filter(|head| *head != named) {
            moved.insert(path, head);
        }
    }
    Ok(moved)
}

impl Baseline {
    /// The submodules that stand at another commit now. One whose tests or settings of runners
    /// are others decides, and so does one whose changes cannot be read.
    ///
    /// # Errors
    ///
    /// A git command that fails.
    pub(crate) fn moved_submodules(&self, tree: &WorkTree) -> Result<Vec<Finding>, WorktreeError> {
        let mut findings = Vec::new();
        for (path, named) in tree.submodules_of(self.commit())? {
            let was = self.body.submodules.get(&path).unwrap_or(&named);
            let Some(now) = tree.head_of_submodule(&path)?.filter(|head| head != was) else {
                continue;
            };
            let changed = tree.changed_in_submodule(&path, (was, &now))?;
            let finding = SUBMODULE.finding(&path);
            let (severity, message) = match changed {
                None => {
                    let message = format!("{}: what changed cannot be read", finding.message);
                    (finding.severity, message)
                }
                Some(files) => match files.iter().find(|file| guarded(file).is_some()) {
                    Some(file) => {
                        (finding.severity, format!("{}: {file} is another one", finding.message))
                    }
                    None => (Severity::Warn, finding.message.clone()),
                },
            };
            findings.push(Finding { severity, message, ..finding });
        }
        Ok(findings)
    }
}
