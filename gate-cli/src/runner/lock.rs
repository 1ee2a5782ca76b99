//! The lock on a task: one loop at a time.

use std::fs::{File, TryLockError};
use std::io;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use super::preset::shell_word;
use super::watch::POLL_INTERVAL;
use crate::failure::Failure;
use crate::governance::Task;

/// The file in a task's folder that a running loop locks.
const LOCK_FILE: &str = ".gate-loop.lock";

/// The longest wait for other commands that look if the task is locked.
const PATIENCE: Duration = Duration::from_secs(1);

/// Locks the task: one loop at a time.
pub(super) fn lock(task: &Task) -> Result<File, Failure> {
    let path = task.folder().join(LOCK_FILE);
    let file = File::options()
        .create(true)
        .append(true)
        .open(&path)
        .map_err(|error| unlockable(&path, &error))?;
    let until = Instant::now() + PATIENCE;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::WouldBlock) if Instant::now() < until => thread::sleep(POLL_INTERVAL),
            Err(TryLockError::WouldBlock) => {
                let message = format!("another loop runs over the task {}", task.id());
                return Err(Failure::usage("task-running", message)
                    .hint(format!("`gate stop --task {}` ends it", shell_word(task.id()))));
            }
            Err(TryLockError::Error(error)) => return Err(unlockable(&path, &error)),
        }
    }
}

/// A loop runs over the task. Such a loop ends the records of its runs itself.
pub(crate) fn is_locked(task: &Task) -> bool {
    is_locked_in(&task.folder())
}

/// A loop runs over the task with this folder.
pub(crate) fn is_locked_in(folder: &Path) -> bool {
    let lock = File::open(folder.join(LOCK_FILE));
    // A shared lock: two commands that look at once do not take each other for a loop.
    lock.is_ok_and(|lock| lock.try_lock_shared().is_err())
}

fn unlockable(path: &Path, error: &io::Error) -> Failure {
    Failure::internal("folder-unwritable", format!("cannot lock {}: {error}", path.display()))
}
