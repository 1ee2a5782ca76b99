//! Detects the kind of a project, and the commands that check it.
//!
//! Each kind of tool is one file with one function that looks at a folder and proposes;
//! `KINDS` is the list of them. A proposal is a guess that a person reads and approves:
//! nothing here is run.

mod bats;
mod cargo;
mod criteria;
mod dotnet;
mod folder;
mod go;
mod jvm;
mod merge;
mod node;
mod proposal;
mod python;
mod recipes;
mod watching;
mod workflows;

use std::path::Path;

use folder::Folder;
use proposal::Found;
pub use proposal::{Aim, Detected, Proposal};

/// A kind of tool.
struct Kind {
    /// End of the check's name.
    ecosystem: &'static str,
    /// Runs any command, so that a tool of the language is a better choice.
    is_general: bool,
    /// Looks at a folder.
    look: fn(&Folder<'_>) -> Found,
}

/// The kinds of tools, in the order in which they take the plain names.
const KINDS: [Kind; 10] = [
    special("rust", cargo::look),
    special("node", node::look),
    special("python", python::look),
    special("go", go::look),
    special("java", jvm::look_for_gradle),
    special("java", jvm::look_for_maven),
    special("dotnet", dotnet::look),
    special("bats", bats::look),
    Kind { is_general: true, ..special("make", recipes::look_for_make) },
    Kind { is_general: true, ..special("just", recipes::look_for_just) },
];

const fn special(ecosystem: &'static str, look: fn(&Folder<'_>) -> Found) -> Kind {
    Kind { ecosystem, is_general: false, look }
}

/// Looks at a project, and proposes checks for it. What CI runs is not looked at: a check without a
/// command takes its own from here, and files of CI are easy to write.
pub fn detect(project: &Path) -> Detected {
    detect_with(project, false, &in_path)
}

/// As [`detect`], with the commands by which CI runs tests before all others.
pub fn detect_with_ci(project: &Path) -> Detected {
    detect_with(project, true, &in_path)
}

fn in_path(program: &str) -> bool {
    which::which(program).is_ok()
}

/// As [`detect`], if the caller says which programs can be found.
fn detect_with(project: &Path, reads_ci: bool, is_there: &dyn Fn(&str) -> bool) -> Detected {
    let folder = Folder::new(project, is_there);
    let mut read = Found::default();
    let ci = if reads_ci { workflows::look(&folder, &mut read) } else { Vec::new() };
    let found = merge::found(&folder, &KINDS, ci);
    Detected {
        proposals: found.proposals,
        notes: [found.notes, read.notes].concat(),
        repository: is_in_repository(project),
        criteria: criteria::files(project),
    }
}

/// True if the folder, or one above it, has a `.git`: a folder, or the file of a worktree
/// or submodule.
fn is_in_repository(project: &Path) -> bool {
    let project = project.canonicalize().unwrap_or_else(|_| project.to_owned());
    project.ancestors().any(|folder| folder.join(".git").exists())
}

#[cfg(test)]
mod tests;
