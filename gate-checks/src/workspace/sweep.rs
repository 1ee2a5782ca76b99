//! Removes copies that nobody comes back to: each holds all that its tree's tools have built,
//! and those of trees that are gone would stay for ever.
//!
//! Two rules, and none of them waits or touches a copy that is in use: a copy that nobody used
//! for a month goes, or whose tree is gone; and if all copies take more than the settings
//! allow, those go that were used least recently.

use std::path::Path;
use std::time::Duration;

use super::stored_copy::{CopyUse, StoredCopy};
use crate::store;

/// A copy that nobody used for so long is made anew by whoever needs it.
const UNUSED: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// Removes the other copies beside this workspace whose trees are gone, or that nobody used for
/// long. What cannot be removed stays until the next time.
pub(super) fn remove_unused(workspace: &Path) {
    let Some(own) = workspace.parent() else { return };
    let Some(trees) = own.parent() else { return };
    for folder in store::folders(trees).unwrap_or_default() {
        if folder != own
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
    let own = StoredCopy::new(store::tree_folder(state, root));
    own.renew_size();
    let (mut total, mut others) = (0_u64, Vec::new());
    for copy in stored_copies(state) {
        let size = copy.size();
        total = total.saturating_add(size);
        if copy != own {
            others.push((copy.last_used(), size, copy));
        }
    }
    others.sort_by_key(|(last_used, ..)| *last_used);
    for (_, size, copy) in others {
        if total <= max_bytes {
            return;
        }
        if size > 0
            && let Ok(CopyUse::Free(copy)) = copy.try_lock()
        {
            copy.remove();
            total -= size;
        }
    }
}

/// The size of all copies in the state folder as it was recorded, in bytes.
pub(crate) fn recorded_size(state: &Path) -> u64 {
    stored_copies(state).iter().filter_map(StoredCopy::recorded_size).sum()
}

fn stored_copies(state: &Path) -> Vec<StoredCopy> {
    let folders = store::tree_folders(state).unwrap_or_default();
    folders.into_iter().map(StoredCopy::new).collect()
}
