//! Submodules, whose files are no part of a baseline.

use std::collections::BTreeMap;

use gate_core::integrity::{Finding, SUBMODULE};

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
    /// The submodules that stand at another commit now.
    ///
    /// # Errors
    ///
    /// A git command that fails.
    pub(crate) fn moved_submodules(&self, tree: &WorkTree) -> Result<Vec<Finding>, WorktreeError> {
        let mut findings = Vec::new();
        for (path, named) in tree.submodules_of(self.commit())? {
            let was = self.body.submodules.get(&path).unwrap_or(&named);
            if tree.head_of_submodule(&path)?.is_some_and(|head| head != *was) {
                findings.push(SUBMODULE.finding(&path));
            }
        }
        Ok(findings)
    }
}
