//! The lock on a task: one loop at a time.

use std::fs::{File, TryLockError};
use std::io;
use std::path::Path;

use crate::failure::Failure;
use crate::governance::Task;

/// The file in a task's folder that a running loop locks.
const LOCK_FILE: &str = ".gate-loop.lock";

/// Locks the task: one loop at a time.
pub(super) fn lock(task: &Task) -> Result<File, Failure> {
    let path = task.folder().join(LOCK_FILE);
    let file = File::options().create(true).append(true).open(&path);
    let file = file.map_err(|error| cannot_lock(&path, &error))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => {
            let message = format!("another loop runs over the task {}", task.id());
            Err(Failure::usage("task-running", message).hint("gate stop ends it"))
        }
        Err(TryLockError::Error(error)) => Err(cannot_lock(&path, &error)),
    }
}

/// True if a loop runs over the task. Such a loop ends the records of its runs itself.
pub(super) fn is_locked(task: &Task) -> bool {
    let lock = File::options().append(true).open(task.folder().join(LOCK_FILE));
    lock.is_ok_and(|lock| lock.try_lock().is_err())
}

fn cannot_lock(path: &Path, error: &io::Error) -> Failure {
    Failure::internal("folder-unwritable", format!("cannot lock {}: {error}", path.display()))
}
