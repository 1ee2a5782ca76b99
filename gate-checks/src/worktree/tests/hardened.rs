//! What git is asked with.

use std::fs;

use super::fixture::Fixture;
use crate::worktree::WorkTree;

/// A git that notes that it was started, and then is git.
fn noting(fixture: &Fixture, name: &str) -> String {
    let real = fixture.site.environment[0].1.split(':').map(|part| format!("{part}/git"));
    let real = real.into_iter().find(|real| fs::metadata(real).is_ok()).unwrap();
    let mark = fixture.beside(&format!("{name}-ran"));
    format!("#!/bin/sh\ntouch {}\nexec {real} \"$@\"\n", mark.display())
}

#[test]
fn a_git_in_the_tree_or_on_a_relative_path_is_not_started() {
    let mut fixture = Fixture::repository();
    fixture.write("bin/git", noting(&fixture, "tree"));
    fixture.mode("bin/git", 0o755);
    gate_platform::symlink(fixture.path("bin"), fixture.beside("way")).unwrap();
    let (inside, way) = (fixture.path("bin"), fixture.beside("way"));
    let path = &mut fixture.site.environment[0].1;
    *path = format!("bin::.:{}:{}:{path}", inside.display(), way.display());
    fixture.snapshot();
    assert!(!fixture.beside("tree-ran").exists());
}

#[test]
fn the_first_git_outside_of_the_tree_is_started() {
    let mut fixture = Fixture::repository();
    let script = noting(&fixture, "other");
    let script = script.trim_start_matches("#!/bin/sh\n");
    fs::create_dir(fixture.beside("bin")).unwrap();
    fixture.program("bin/git", script);
    let path = format!("{}:{}", fixture.beside("bin").display(), fixture.site.environment[0].1);
    fixture.site.environment[0].1 = path;
    fixture.snapshot();
    assert!(fixture.beside("other-ran").exists());
}

#[test]
fn settings_of_the_repository_start_nothing() {
    let fixture = Fixture::repository();
    let mark = fixture.beside("started");
    let program = fixture.program("evil", &format!("touch {}", mark.display()));
    for name in [
        "core.fsmonitor",
        "core.sshCommand",
        "core.pager",
        "pager.ls-files",
        "alias.ls-files",
        "diff.external",
        "credential.helper",
        "core.askPass",
    ] {
        fixture.git(&["config", name, &program]);
    }
    fixture.snapshot();
    WorkTree::open(&fixture.site)
        .unwrap()
        .status(&crate::cancellation::Cancellation::default())
        .unwrap();
    assert!(!mark.exists());
}

#[test]
fn variables_of_git_are_not_passed_on() {
    let mut fixture = Fixture::repository();
    let whole = fixture.snapshot();
    let other = Fixture::empty();
    for (name, value) in [
        ("GIT_DIR", other.path(".git")),
        ("GIT_WORK_TREE", other.path("")),
        ("GIT_INDEX_FILE", other.path("index")),
        ("GIT_OBJECT_DIRECTORY", other.path("objects")),
        ("GIT_CEILING_DIRECTORIES", fixture.path("")),
        ("GIT_TRACE", fixture.beside("trace")),
    ] {
        let value = value.to_str().unwrap().to_owned();
        fixture.site.environment.push((name.to_owned(), value));
    }
    assert_eq!(fixture.snapshot(), whole);
    assert!(!fixture.beside("trace").exists());
}

#[test]
fn a_git_that_fails_is_an_error_that_says_so() {
    let fixture = Fixture::repository();
    fixture.write(".git/index", "no index");
    let tree = WorkTree::open(&fixture.site).unwrap();
    let error = tree.snapshot().unwrap_err().to_string();
    assert!(error.starts_with("git ls-files in "), "{error}");
    assert!(error.contains("index"), "{error}");
}

#[test]
fn names_that_lead_out_of_the_tree_are_not_looked_at() {
    let fixture = Fixture::repository();
    let blob = fixture.git(&["rev-parse", "HEAD:a"]);
    let head = fixture.git(&["rev-parse", "HEAD"]);
    fs::write(fixture.beside("secret"), "").unwrap();
    // Git itself refuses such names, so the index is patched: `XX/` to `../`.
    let (blob, head) = (blob.trim(), head.trim());
    for entry in [format!("100644,{blob},XX/secret"), format!("160000,{head},XX/tree")] {
        fixture.git(&["update-index", "--add", "--cacheinfo", &entry]);
    }
    patch_index(&fixture);
    assert!(fixture.git(&["ls-files"]).contains("../secret"));
    assert_eq!(fixture.names(), ["a", "src/b"]);
}

/// Renames `XX` in the index to `..`, and makes its checksum fit.
fn patch_index(fixture: &Fixture) {
    fixture.git(&["update-index", "--index-version", "2"]);
    let mut bytes = fs::read(fixture.path(".git/index")).unwrap();
    let places: Vec<_> = (0..bytes.len() - 3).filter(|at| &bytes[*at..at + 3] == b"XX/").collect();
    for at in places {
        bytes[at..at + 2].copy_from_slice(b"..");
    }
    let end = bytes.len() - 20;
    // Git takes a checksum of zeros for one that was left out.
    bytes[end..].fill(0);
    fs::write(fixture.path(".git/index"), bytes).unwrap();
}
