//! `DONE`: the file with which an agent claims that its task is done. It counts as an
//! exit signal and as nothing else; gate still checks the evidence.

use std::fs;
use std::io;

use gate_fleet::run::layout;

use crate::failure::Failure;
use crate::governance::Task;

/// The message on the bus about a file that no agent of this loop created.
pub(super) const LEFT_OVER: &str =
    "DONE was left over from before this loop: it was removed, and counts for nothing";

/// Removes the file, so that the agent has to claim anew. Returns `false` if there is no such file.
pub(super) fn withdraw(task: &Task) -> Result<bool, Failure> {
    let path = task.folder().join(layout::DONE);
    match fs::remove_file(&path) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => {
            let message = format!("cannot remove {}: {error}", path.display());
            Err(Failure::internal("folder-unwritable", message))
        }
    }
}
