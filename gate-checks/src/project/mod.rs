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
mod gradle;
mod just;
mod kind;
mod make;
mod maven;
mod merge;
mod node;
mod proposal;
mod python;
mod repository;
mod targets;
mod watching;
mod workflows;

use std::path::Path;

use folder::Folder;
use kind::Kind;
use proposal::Found;
pub use proposal::{Aim, Detected, Proposal};

/// The kinds of tools, in the order in which they take the plain names.
const KINDS: [Kind; 10] = [
    Kind::special("rust", cargo::look),
    Kind::special("node", node::look),
    Kind::special("python", python::look),
    Kind::special("go", go::look),
    Kind::special("java", gradle::look),
    Kind::special("java", maven::look),
    Kind::special("dotnet", dotnet::look),
    Kind::special("bats", bats::look),
    Kind::general("make", make::look),
    Kind::general("just", just::look),
];

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
        repository: repository::holds(project),
        criteria: criteria::files(project),
    }
}

#[cfg(test)]
mod tests;
