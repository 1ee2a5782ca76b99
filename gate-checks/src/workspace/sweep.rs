//! Removes copies that nobody comes back to: each holds all the output of its tree's tools, and
//! those of trees that are gone would stay for ever.
//!
//! A copy goes that nobody used for a month, or whose tree is gone. If all copies take more than
//! the settings allow, those go that were used least recently. Neither rule waits for a copy that is
//! in use, or touches it.

use std::path::Path;
use std::time::Duration;

use super::stored_copy::{CopyUse, StoredCopy};
use crate::store;

/// A copy that nobody used for so long is made anew by whoever needs it.
const UNUSED: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// Removes the other copies beside this workspace whose trees are gone, or that nobody used for
/// long. A file that cannot be removed stays until the next time.
pub(super) fn remove_unused(workspace: &Path) {
    let Some(tree_folder) = workspace.parent() else { return };
    let Some(all_trees) = tree_folder.parent() else { return };
    for folder in store::folders(all_trees).unwrap_or_default() {
        if folder != tree_folder
            && let Ok(CopyUse::Free(copy)) = StoredCopy::new(folder).try_lock()
            && (copy.is_older(UNUSED) || copy.is_of_lost_tree())
        {
            copy.remove();
        }
    }
}

/// Removes copies until all together take at most so many bytes, those that were used least
/// recently first, and never that of this tree. 0: no bound.
///
/// Only the tree's own copy is measured, and only now and then; of the others the recorded size
/// counts.
pub(crate) fn limit_copies(state: &Path, root: &Path, max_bytes: u64) {
    if max_bytes == 0 {
        return;
    }
    let copy_of_tree = StoredCopy::new(store::tree_folder(state, root));
    copy_of_tree.renew_size();
    let (mut total, mut removable) = (0_u64, Vec::new());
    for copy in stored_copies(state) {
        let size = copy.size();
        total = total.saturating_add(size);
        if copy != copy_of_tree && size > 0 {
            removable.push((size, copy));
        }
    }
    removable.sort_by_cached_key(|(_, copy)| copy.last_used());
    for (size, copy) in removable {
        if total <= max_bytes {
            return;
        }
        if let Ok(CopyUse::Free(copy)) = copy.try_lock() {
            copy.remove();
            total -= size;
        }
    }
}

/// The recorded size of all copies in the state folder, in bytes.
pub(crate) fn recorded_size(state: &Path) -> u64 {
    stored_copies(state).iter().filter_map(StoredCopy::recorded_size).sum()
}

fn stored_copies(state: &Path) -> Vec<StoredCopy> {
    let folders = store::tree_folders(state).unwrap_or_default();
    folders.into_iter().map(StoredCopy::new).collect()
}
