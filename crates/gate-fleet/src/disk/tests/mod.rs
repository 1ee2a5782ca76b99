//! Run folders, facts and buses on disk: files that are not what they seem, and requests
//! that are old.

mod facts;
mod files;
mod notices;
mod runs;
mod tasks;

use tempfile::TempDir;

use super::{Project, Runs, Task};

/// A task of a project, and the folder that it all stands in.
fn task() -> (TempDir, Project, Task) {
    let folder = tempfile::tempdir().unwrap();
    let project = Runs::at(folder.path()).project("shop").unwrap();
    let task = project.task("t1").unwrap();
    (folder, project, task)
}
