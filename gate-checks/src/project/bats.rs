//! Bats.

use super::folder::Folder;
use super::proposal::{Aim, Found, Proposal};

/// The folders in which its tests usually stand.
const FOLDERS: [&str; 2] = ["test", "tests"];

/// Proposes for a folder with `*.bats` files in `test` or `tests`, or one
/// folder further down.
pub(super) fn look(folder: &Folder<'_>) -> Found {
    let mut found = Found::default();
    let tests = FOLDERS.iter().filter_map(|&tests| deep(folder, tests).map(|deep| (tests, deep)));
    let tests: Vec<_> = tests.collect();
    if !tests.is_empty() {
        let recursive: &[&str] =
            if tests.iter().any(|(_, deep)| *deep) { &["--recursive"] } else { &[] };
        let folders: Vec<_> = tests.iter().map(|(name, _)| *name).collect();
        let words = [&["bats"], recursive, &folders].concat();
        let why = format!("*.bats in {}", folders.join(" and "));
        found.proposes(Proposal::new(Aim::Tests, "bats", &words, why));
    }
    found
}

/// True if its files are further down; `None` without any.
fn deep(folder: &Folder<'_>, tests: &str) -> Option<bool> {
    let below = folder.names(tests);
    let deep = below.iter().filter(|name| !LIBRARIES.contains(&name.as_str()));
    let mut deep = deep.map(|name| format!("{tests}/{name}"));
    if deep.any(|below| folder.any(&below, |name| name.ends_with(".bats"))) {
        return Some(true);
    }
    folder.any(tests, |name| name.ends_with(".bats")).then_some(false)
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
