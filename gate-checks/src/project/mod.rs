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

use std::path::Path;

use folder::Folder;
use kind::Kind;
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

/// Looks at a project, and proposes checks for it.
pub fn detect(project: &Path) -> Detected {
    detect_with(project, &|program| which::which(program).is_ok())
}

/// As [`detect`], where the caller says which programs can be found.
pub fn detect_with(project: &Path, is_there: &dyn Fn(&str) -> bool) -> Detected {
    let found = merge::found(&Folder::new(project, is_there), &KINDS);
    Detected {
        proposals: found.proposals,
        notes: found.notes,
        repository: repository::holds(project),
        criteria: criteria::files(project),
    }
}

#[cfg(test)]
mod tests;
