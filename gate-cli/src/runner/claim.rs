//! `DONE`: an agent's claim that its task is done. A claim, and no more: gate
//! looks at the evidence all the same.

use std::fs;
use std::io;

use gate_core::Scan;
use gate_core::decide::signal::Status;
use gate_core::protocol::run::layout;

use crate::failure::Failure;
use crate::governance::Task;

/// What the file says, in words that gate reads.
pub(super) const TEXT: &str = "\
All tasks are completed: the task's folder holds DONE.

EXIT_STATUS: COMPLETE
EXIT_REASON: the agent created DONE
";

/// What an agent says that gave no signal, and created the file.
pub(super) fn unless_said(scan: &Scan) -> Option<String> {
    (scan.signal.status == Status::Absent).then(|| format!("{}\n\n{TEXT}", scan.said))
}

/// Takes the claim away: the work is not done, and it has to be made anew.
pub(super) fn withdraw(task: &Task) -> Result<(), Failure> {
    let path = task.folder().join(layout::DONE);
    match fs::remove_file(&path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            let message = format!("cannot remove {}: {error}", path.display());
            Err(Failure::internal("folder-unwritable", message))
        }
        _ => Ok(()),
    }
}
