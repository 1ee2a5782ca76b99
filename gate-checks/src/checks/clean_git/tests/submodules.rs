//! Submodules: their commit, and what is in them.

use super::{clean, dirty};
use crate::worktree::tests::fixture::Fixture;

#[test]
fn a_submodule_as_committed_is_clean() {
    clean(&Fixture::with_submodule());
}

#[test]
fn what_is_in_a_submodule_is_named() {
    let fixture = Fixture::with_submodule();
    fixture.git(&["config", "submodule.libs/x.ignore", "all"]);
    fixture.git(&["config", "diff.ignoreSubmodules", "all"]);
    fixture.write("libs/x/c", "eerht\n");
    fixture.write("libs/x/new", "");
    assert_eq!(fixture.git(&["status", "--porcelain"]), "", "git is fooled");
    dirty(&fixture, "unstaged: libs/x/c; untracked: libs/x/new");
    fixture.git_in(&fixture.path("libs/x"), &["add", "-A"]);
    dirty(&fixture, "staged: libs/x/c libs/x/new");
}

#[test]
fn a_submodule_at_another_commit_is_named() {
    let fixture = Fixture::with_submodule();
    fixture.write("libs/x/c", "eerht\n");
    fixture.git_in(&fixture.path("libs/x"), &["commit", "-qam", "moved"]);
    dirty(&fixture, "unstaged: libs/x");
    fixture.git(&["add", "libs/x"]);
    dirty(&fixture, "staged: libs/x");
}

#[test]
fn a_submodule_that_was_never_opened_is_clean() {
    let fixture = Fixture::with_submodule();
    fixture.git(&["submodule", "--quiet", "deinit", "-f", "libs/x"]);
    clean(&fixture);
    fixture.write("libs/x/planted", "");
    dirty(&fixture, "untracked: libs/x/planted");
}

#[test]
fn a_submodule_that_is_gone_is_named() {
    let fixture = Fixture::with_submodule();
    fixture.remove("libs/x");
    dirty(&fixture, "unstaged: libs/x");
    fixture.write("libs/x", "a file");
    dirty(&fixture, "unstaged: libs/x; untracked: libs/x");
}

#[test]
fn a_submodule_behind_a_link_is_gone() {
    let fixture = Fixture::with_submodule();
    std::fs::rename(fixture.path("libs"), fixture.beside("libs")).unwrap();
    gate_platform::symlink("../libs", fixture.path("libs")).unwrap();
    dirty(&fixture, "unstaged: libs/x; untracked: libs");
}

#[test]
fn a_submodule_as_the_project_is_its_own_tree() {
    let mut fixture = Fixture::with_submodule();
    fixture.write("a", "eno\n");
    fixture.site.project = fixture.path("libs/x");
    clean(&fixture);
    fixture.write("libs/x/c", "eerht\n");
    dirty(&fixture, "unstaged: c");
}

#[test]
fn a_submodule_that_no_clone_can_get_is_named() {
    let fixture = Fixture::repository();
    fixture.git(&["clone", "-q", ".", "nest"]);
    fixture.git(&["add", "nest"]);
    fixture.git(&["commit", "-qm", "a place for it"]);
    assert_eq!(fixture.git(&["status", "--porcelain"]), "", "git says no word");
    dirty(&fixture, "unstaged: nest");

    fixture.write(".gitmodules", "[submodule \"x\"]\n\tpath = other\n\turl = ./x\n");
    fixture.git(&["add", ".gitmodules"]);
    fixture.git(&["commit", "-qm", "another's name"]);
    dirty(&fixture, "unstaged: nest");

    fixture.remove("nest");
    std::fs::create_dir(fixture.path("nest")).unwrap();
    clean(&fixture);
}
