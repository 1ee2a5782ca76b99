//! Removes workspaces that nobody comes back to: each holds all that its tree's tools
//! have built, and those of trees that are gone would stay for ever.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::{Duration, SystemTime};

use crate::remove::remove_all;
use crate::store;

/// A workspace that nobody opened for so long is made anew by whoever needs it.
const UNUSED: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// The file that names a workspace's tree.
const OF: &str = "of";

/// Notes that this workspace is used now, by this tree.
pub(super) fn used(workspace: &Path, lock: &File, tree: &Path) -> io::Result<()> {
    let of = tree.as_os_str().as_bytes();
    if fs::read(workspace.join(OF)).ok().as_deref() != Some(of) {
        store::write_file(&workspace.join(OF), of)?;
    }
    lock.set_modified(SystemTime::now())
}

/// Empties the other workspaces beside this one whose trees are gone, or that nobody
/// opened for long. Those that somebody has are left alone, and what cannot be removed
/// stays until the next time.
pub(super) fn others(workspace: &Path) {
    let own = workspace.parent();
    let all = own.and_then(Path::parent).and_then(|trees| fs::read_dir(trees).ok());
    for folder in all.into_iter().flatten().flatten().map(|entry| entry.path()) {
        if Some(folder.as_path()) != own {
            empty(&folder.join(super::FOLDER));
        }
    }
}

fn empty(workspace: &Path) {
    let lock = File::options().append(true).open(workspace.join(super::LOCK));
    let Ok(lock) = lock else { return };
    if lock.try_lock().is_err() || !is_left(workspace, &lock) {
        return;
    }
    // The lock stays, so that whoever waits for it has what it locks.
    let entries = fs::read_dir(workspace).into_iter().flatten().flatten();
    for path in entries.map(|entry| entry.path()).filter(|path| !path.ends_with(super::LOCK)) {
        let _ = if path.is_dir() { remove_all(&path) } else { fs::remove_file(&path) };
    }
}

fn is_left(workspace: &Path, lock: &File) -> bool {
    let opened = lock.metadata().and_then(|about| about.modified());
    let is_old = opened.is_ok_and(|at| at.elapsed().is_ok_and(|passed| passed >= UNUSED));
    let Ok(of) = fs::read(workspace.join(OF)) else { return is_old };
    let tree = Path::new(OsStr::from_bytes(&of));
    // Where nobody can look it may still be.
    is_old || tree.try_exists().is_ok_and(|exists| !exists)
}
