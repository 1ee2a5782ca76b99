//! `DONE`: an agent's claim that its task is done. The file stands for an exit signal
//! and for nothing else; gate looks at the evidence all the same.

use std::fs;
use std::io;

use gate_core::protocol::run::layout;

use crate::failure::Failure;
use crate::governance::Task;

/// What the bus says of a file that no agent of this loop created.
pub(super) const LEFT_OVER: &str =
    "DONE was left over from before this loop: it was removed, and counts for nothing";

/// Takes the claim away, and says whether there was one: it has to be made anew.
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
