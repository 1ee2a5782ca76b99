//! The lock on a task: one loop at a time.

use std::fs::{File, TryLockError};
use std::io::{self, Read, Write};
use std::path::Path;
use std::time::{Duration, Instant};
use std::{process, thread};

use gate_core::text::shell_word;
use jiff::Timestamp;

use super::watch::POLL_INTERVAL;
use crate::failure::Failure;
use crate::governance::Task;

/// The file in a task's folder that a running loop locks.
const LOCK_FILE: &str = ".gate-loop.lock";

/// The longest wait for other commands that look if the task is locked.
const PATIENCE: Duration = Duration::from_secs(1);

/// The lock on a task. The system gives it back with its process, also when power fails.
#[derive(Debug)]
pub(super) struct TaskLock {
    /// The text that this lock left in its file; none if it could not be written.
    pub(super) mark: Option<String>,
    /// Holds the lock.
    _file: File,
}

/// Locks the task: one loop at a time.
pub(super) fn lock(task: &Task) -> Result<TaskLock, Failure> {
    let path = task.folder().join(LOCK_FILE);
    let file = File::options()
        .create(true)
        .append(true)
        .open(&path)
        .map_err(|error| unlockable(&path, &error))?;
    let until = Instant::now() + PATIENCE;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(TaskLock { mark: leave_mark(&file), _file: file }),
            Err(TryLockError::WouldBlock) if Instant::now() < until => thread::sleep(POLL_INTERVAL),
            Err(TryLockError::WouldBlock) => {
                let message = format!("another loop runs over the task {}", task.id());
                return Err(Failure::usage("task-running", message).hint(format!(
                    "`gate stop --task {}` ends it; a loop beside it needs another `--task`",
                    shell_word(task.id())
                )));
            }
            Err(TryLockError::Error(error)) => return Err(unlockable(&path, &error)),
        }
    }
}

/// A loop runs over the task. Such a loop ends the records of its runs itself.
pub(crate) fn is_locked(task: &Task) -> bool {
    let lock = File::open(task.folder().join(LOCK_FILE));
    // A shared lock: two commands that look at once do not take each other for a loop.
    lock.is_ok_and(|lock| lock.try_lock_shared().is_err())
}

/// The loop that left this mark in the lock of this folder holds it no more. A lock that cannot be
/// looked at says nothing.
///
/// The mark makes sure that this is the lock of that loop. The name of the machine does not:
/// containers may share it, and have the same folders with other files. The id of a boot does not
/// either, because a loop whose machine was started again has died. A lock without a known mark is
/// taken for the loop's.
pub(crate) fn is_let_go(folder: &Path, mark: Option<&str>) -> bool {
    let Ok(mut lock) = File::open(folder.join(LOCK_FILE)) else { return false };
    let mut text = String::new();
    lock.try_lock_shared().is_ok()
        && lock.read_to_string(&mut text).is_ok()
        && mark.is_none_or(|mark| mark == text)
}

/// Leaves a text in a lock that no other loop leaves. It is on the disk before the start of the
/// loop is recorded, so that a power cut does not part them.
fn leave_mark(mut file: &File) -> Option<String> {
    let mark = format!("{}-{}", Timestamp::now().as_nanosecond(), process::id());
    file.set_len(0).ok()?;
    file.write_all(mark.as_bytes()).ok()?;
    file.sync_all().ok()?;
    Some(mark)
}

fn unlockable(path: &Path, error: &io::Error) -> Failure {
    Failure::internal("folder-unwritable", format!("cannot lock {}: {error}", path.display()))
}
