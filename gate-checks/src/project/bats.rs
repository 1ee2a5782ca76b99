//! Bats.

use super::folder::Folder;
use super::proposal::{Aim, Findings, Proposal};

/// The folders in which tests usually stand.
const FOLDERS: [&str; 2] = ["test", "tests"];

/// Proposes for a folder with `*.bats` files in `test` or `tests`, or one
/// folder further down.
pub(super) fn look(folder: &Folder<'_>) -> Findings {
    let mut findings = Findings::default();
    let with_nested: Vec<_> =
        FOLDERS.into_iter().filter(|name| has_nested_tests(folder, name)).collect();
    let folders: Vec<_> = FOLDERS
        .into_iter()
        .filter(|name| with_nested.contains(name) || has_tests(folder, name))
        .collect();
    if !folders.is_empty() {
        let recursive: &[&str] = if with_nested.is_empty() { &[] } else { &["--recursive"] };
        let words = [&["bats"], recursive, &folders].concat();
        let evidence = format!("*.bats in {}", folders.join(" and "));
        findings.propose(Proposal::new(Aim::Tests, "bats", &words, evidence));
    }
    findings
}

fn has_tests(folder: &Folder<'_>, below: &str) -> bool {
    folder.has_file_like(below, |name| name.ends_with(".bats"))
}

/// Test files stand one folder further down.
fn has_nested_tests(folder: &Folder<'_>, tests: &str) -> bool {
    let names = folder.names(tests);
    let mut own_names = names.iter().filter(|name| !LIBRARIES.contains(&name.as_str()));
    own_names.any(|name| has_tests(folder, &format!("{tests}/{name}")))
}

/// Copies of Bats and of its libraries, which hold tests of their own.
const LIBRARIES: [&str; 8] = [
    "bats",
    "bats-core",
    "bats-support",
    "bats-assert",
    "bats-file",
    "libs",
    "test_helper",
    "node_modules",
];
