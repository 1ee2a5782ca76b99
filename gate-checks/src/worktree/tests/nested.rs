//! Repositories inside of others: which one the work tree is.

use std::path::Path;

use super::fixture::Fixture;
use crate::worktree::WorkTree;

/// Whether the tree of a project begins at this folder below the root.
#[track_caller]
fn check(fixture: &mut Fixture, project: &str, root: &str) {
    fixture.site.project = fixture.path(project);
    let tree = WorkTree::open(&fixture.site).unwrap();
    let found = tree.root().strip_prefix(fixture.path("")).unwrap();
    assert_eq!(found, Path::new(root));
}

#[test]
fn a_repository_over_tracked_files_is_the_outer_one() {
    let mut fixture = Fixture::repository();
    fixture.write("src/[x]/deep/c", "");
    fixture.commit();
    for inner in ["src", "src/[x]", "src/[x]/deep"] {
        fixture.git(&["init", "-q", inner]);
        check(&mut fixture, inner, "");
    }
    check(&mut fixture, "src/[x]/deep", "");
}

#[test]
fn nor_does_it_help_to_forget_them() {
    let mut fixture = Fixture::repository();
    fixture.git(&["rm", "-rq", "--cached", "src"]);
    fixture.git(&["init", "-q", "src"]);
    check(&mut fixture, "src", "");
    fixture.git_in(&fixture.path("src"), &["add", "-A"]);
    fixture.git_in(&fixture.path("src"), &["commit", "-qm", "own"]);
    fixture.git(&["add", "src"]);
    check(&mut fixture, "src", "");
}

#[test]
fn nor_to_have_added_them_only() {
    let mut fixture = Fixture::repository();
    fixture.write("new/c", "");
    fixture.git(&["add", "new"]);
    fixture.git(&["init", "-q", "new"]);
    check(&mut fixture, "new", "");
}

#[test]
fn an_outer_index_that_cannot_be_read_is_an_error() {
    let mut fixture = Fixture::repository();
    fixture.git(&["init", "-q", "src"]);
    fixture.write(".git/index", "no index");
    fixture.site.project = fixture.path("src");
    assert!(WorkTree::open(&fixture.site).is_err());
}

#[test]
fn a_clone_that_nobody_tracks_is_its_own() {
    let mut fixture = Fixture::repository();
    fixture.write(".gitignore", "ignored\n");
    fixture.commit();
    for inner in ["untracked/clone", "ignored/clone"] {
        fixture.git(&["clone", "-q", ".", inner]);
        check(&mut fixture, inner, inner);
        check(&mut fixture, &format!("{inner}/src"), inner);
    }
}

#[test]
fn a_linked_work_tree_inside_is_its_own() {
    let mut fixture = Fixture::repository();
    fixture.git(&["worktree", "add", "-q", ".worktrees/x"]);
    check(&mut fixture, ".worktrees/x/src", ".worktrees/x");
}

#[test]
fn a_submodule_is_its_own() {
    let mut fixture = Fixture::with_submodule();
    check(&mut fixture, "libs/x", "libs/x");
}

#[test]
fn a_git_folder_or_file_that_is_no_repository_is_passed_over() {
    let mut fixture = Fixture::repository();
    fixture.write("src/.git/HEAD", "ref: refs/heads/main\n");
    fixture.write("lib/.git", "gitdir: nowhere\n");
    check(&mut fixture, "src", "");
    check(&mut fixture, "lib", "");
}
