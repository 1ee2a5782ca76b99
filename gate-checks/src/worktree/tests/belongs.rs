//! Which files belong to the tree.

use std::fs;

use super::fixture::Fixture;
use crate::worktree::{WorkTree, WorktreeError};

#[track_caller]
fn check(fixture: &Fixture, names: &[&str]) {
    assert_eq!(fixture.names(), names);
}

#[test]
fn tracked_and_untracked_files_belong_to_it() {
    let fixture = Fixture::repository();
    fixture.write("new/file", "");
    check(&fixture, &["a", "new/file", "src/b"]);
}

#[test]
fn the_root_is_the_nearest_folder_with_a_repository() {
    let mut fixture = Fixture::repository();
    fixture.write("app/deep/x", "");
    fixture.site.project = fixture.path("app/deep");
    fixture.git(&["config", "core.worktree", "/"]);
    let tree = WorkTree::open(&fixture.site).unwrap();
    assert_eq!(tree.root(), fixture.path("").components().as_path());
    check(&fixture, &["a", "app/deep/x", "src/b"]);
}

#[test]
fn a_project_that_is_not_there_is_an_error() {
    let mut fixture = Fixture::plain();
    fixture.site.project = fixture.path("nowhere");
    assert!(matches!(WorkTree::open(&fixture.site), Err(WorktreeError::Project { .. })));
}

#[test]
fn a_git_file_that_names_nothing_is_an_error() {
    for text in ["", "gitdir: nowhere", "gitdir:"] {
        let fixture = Fixture::plain();
        fixture.write(".git", text);
        let tree = WorkTree::open(&fixture.site).unwrap();
        assert!(tree.snapshot().is_err(), "{text}");
    }
}

#[test]
fn tracked_ignore_files_hide_what_is_not_tracked() {
    let fixture = Fixture::repository();
    fixture.write("kept.log", "");
    fixture.commit();
    fixture.write(".gitignore", "*.log\n/build/\n!src/*.log\n");
    fixture.write("src/.gitignore", "x*\n!xy\n");
    fixture.git(&["add", ".gitignore", "src/.gitignore"]);
    for name in ["build/out", "deep/build/out", "run.log", "src/run.log", "src/x", "src/xy", "x"] {
        fixture.write(name, "");
    }
    let here = [".gitignore", "a", "deep/build/out", "kept.log", "src/.gitignore", "src/b"];
    check(&fixture, &[&here[..], &["src/run.log", "src/xy", "x"]].concat());
}

#[test]
fn a_tracked_file_in_an_ignored_folder_is_never_ignored() {
    let fixture = Fixture::repository();
    fixture.write("build/deep/kept", "");
    fixture.commit();
    fixture.write(".gitignore", "build\n");
    fixture.git(&["add", ".gitignore"]);
    fixture.write("build/deep/not", "");
    check(&fixture, &[".gitignore", "a", "build/deep/kept", "src/b"]);
}

#[test]
fn braces_in_an_ignore_file_mean_themselves() {
    let fixture = Fixture::empty();
    fixture.write(".gitignore", "{a,b}\n");
    fixture.git(&["add", "-A"]);
    for name in ["a", "b", "{a,b}"] {
        fixture.write(name, "");
    }
    check(&fixture, &[".gitignore", "a", "b"]);
}

#[test]
fn what_is_not_tracked_hides_nothing() {
    let fixture = Fixture::repository();
    fixture.write(".git/info/exclude", "*.py\n");
    fixture.write("src/.gitignore", "*\n");
    fixture.write("own-excludes", "*.py\n");
    let excludes = fixture.path("own-excludes");
    fixture.git(&["config", "core.excludesFile", excludes.to_str().unwrap()]);
    fixture.write("conftest.py", "");
    fixture.write("src/conftest.py", "");
    let here = ["a", "conftest.py", "own-excludes", "src/.gitignore", "src/b", "src/conftest.py"];
    check(&fixture, &here);
}

#[test]
fn an_ignore_file_that_is_a_link_hides_nothing() {
    let fixture = Fixture::repository();
    fixture.write("list", "a*\n");
    gate_platform::symlink("list", fixture.path(".gitignore")).unwrap();
    fixture.commit();
    fixture.write("abc", "");
    check(&fixture, &[".gitignore", "a", "abc", "list", "src/b"]);
}

#[test]
fn the_users_own_excludes_count() {
    let fixture = Fixture::repository();
    fixture.write("x.swp", "");
    let settings = fixture.beside("home/.config/git");
    fs::create_dir_all(&settings).unwrap();
    fs::write(settings.join("ignore"), "*.swp\n").unwrap();
    check(&fixture, &["a", "src/b"]);

    fs::write(fixture.beside("home/excludes"), "nothing\n").unwrap();
    fixture.git(&["config", "--global", "core.excludesFile", "~/excludes"]);
    check(&fixture, &["a", "src/b", "x.swp"]);
    fs::write(fixture.beside("home/excludes"), "*.swp\n").unwrap();
    check(&fixture, &["a", "src/b"]);
}

#[test]
fn users_excludes_inside_of_the_tree_count_where_tracked() {
    let fixture = Fixture::repository();
    fixture.write("dots/ignore", "*.swp\n");
    let file = fixture.path("dots/ignore");
    fixture.git(&["config", "--global", "core.excludesFile", file.to_str().unwrap()]);
    fixture.write("x.swp", "");
    check(&fixture, &["a", "dots/ignore", "src/b", "x.swp"]);
    fixture.git(&["add", "dots"]);
    check(&fixture, &["a", "dots/ignore", "src/b"]);
}

#[test]
fn caches_are_left_out_where_untracked() {
    let fixture = Fixture::repository();
    fixture.write("src/__pycache__/b.pyc", "");
    fixture.write(".pytest_cache/v/lastfailed", "");
    fixture.write(".coverage", "");
    check(&fixture, &["a", "src/b"]);
    fixture.git(&["add", "-f", "src/__pycache__/b.pyc"]);
    check(&fixture, &["a", "src/__pycache__/b.pyc", "src/b"]);
}

#[test]
fn a_cache_hides_only_what_its_tool_writes() {
    let fixture = Fixture::repository();
    fixture.write("src/__pycache__/evil.py", "");
    fixture.write(".pytest_cache/v/deep/evil.js", "");
    fixture.write(".pytest_cache/v/deep/lastfailed", "");
    fixture.write(".coverage.py", "");
    gate_platform::symlink("/elsewhere", fixture.path("src/__pycache__/l.pyc")).unwrap();
    let here = [".coverage.py", ".pytest_cache/v/deep/evil.js", "a", "src/__pycache__/evil.py"];
    check(&fixture, &[&here[..], &["src/__pycache__/l.pyc", "src/b"]].concat());
}

#[test]
fn a_git_folder_that_is_no_repository_is_walked() {
    let fixture = Fixture::repository();
    fixture.write("src/.git/evil.py", "");
    fixture.write("lib/.git", "gitdir: nowhere\n");
    check(&fixture, &["a", "lib/.git", "src/.git/evil.py", "src/b"]);
}

#[test]
fn an_ignore_file_hides_no_more_than_git_does() {
    let names = ["a", "b", "d/a", "d!a", "-", "keep.py", "x", "z"];
    for text in ["a\t\n", "[x\\-z]\n", "d[/]a\n", "d[!x]a\n", "*.py\n!keep.py\t\n", "[b\n", "\\/\n"]
    {
        let fixture = Fixture::empty();
        fixture.write(".gitignore", text);
        fixture.git(&["add", ".gitignore"]);
        for name in names {
            fixture.write(name, "");
        }
        let told = fixture.git(&["ls-files", "-z", "--others", "--exclude-standard"]);
        let here = fixture.names();
        let missing: Vec<_> =
            told.split_terminator('\0').filter(|line| !here.iter().any(|i| i == line)).collect();
        assert!(missing.is_empty(), "{text:?} hides {missing:?}");
    }
}

#[test]
fn the_callers_files_and_folder_of_logs_are_left_out() {
    let mut fixture = Fixture::repository();
    for name in ["logs/1.log", "logs/2.log", "run.log", "src/run.log"] {
        fixture.write(name, "");
    }
    fixture.site.callers_files =
        ["logs/1.log", "run.log", "src/run.log"].map(|name| fixture.path(name)).to_vec();
    check(&fixture, &["a", "src/b"]);
    fixture.git(&["add", "logs/2.log", "run.log"]);
    check(&fixture, &["a", "logs/2.log", "run.log", "src/b"]);
}

#[test]
fn outside_of_git_a_callers_file_hides_no_folder() {
    let mut fixture = Fixture::plain();
    fixture.write("src/lib.rs", "");
    fixture.write("src/run.log", "");
    fixture.site.callers_files = vec![fixture.path("src/run.log")];
    check(&fixture, &["src/lib.rs"]);
}

#[test]
fn the_sites_globs_and_state_are_left_out_also_where_tracked() {
    let mut fixture = Fixture::repository();
    fixture.write(".state/gate/x", "");
    fixture.commit();
    fixture.site.state = Some(fixture.path(".state/gate"));
    fixture.site.ignore = vec!["sr*".to_owned()];
    check(&fixture, &["a"]);
}

#[test]
fn a_glob_that_cannot_be_read_is_an_error() {
    let mut fixture = Fixture::plain();
    fixture.site.ignore = vec!["[".to_owned()];
    assert!(matches!(WorkTree::open(&fixture.site), Err(WorktreeError::Glob { .. })));
}

#[test]
fn a_nested_repository_is_untracked_files() {
    let fixture = Fixture::repository();
    fixture.write("nest/conftest.py", "");
    fixture.write("nest/.gitignore", "conftest.py\n");
    fixture.git(&["init", "-q", "nest"]);
    fixture.git_in(&fixture.path("nest"), &["add", ".gitignore"]);
    check(&fixture, &["a", "nest/.gitignore", "nest/conftest.py", "src/b"]);
}

#[test]
fn a_submodule_is_walked_by_its_own_rules() {
    let fixture = Fixture::with_submodule();
    fixture.write("libs/x/.gitignore", "*.log\n");
    fixture.write("libs/x/run.log", "");
    fixture.write("libs/x/new", "");
    check(
        &fixture,
        &[
            ".gitmodules",
            "a",
            "libs/x/.gitignore",
            "libs/x/c",
            "libs/x/new",
            "libs/x/run.log",
            "src/b",
        ],
    );
    fixture.git_in(&fixture.path("libs/x"), &["add", ".gitignore"]);
    check(&fixture, &[".gitmodules", "a", "libs/x/.gitignore", "libs/x/c", "libs/x/new", "src/b"]);
}

#[test]
fn an_ignored_submodule_is_walked() {
    let fixture = Fixture::with_submodule();
    fixture.write(".gitignore", "libs\n");
    fixture.git(&["add", ".gitignore"]);
    check(&fixture, &[".gitignore", ".gitmodules", "a", "libs/x/c", "src/b"]);
}

#[test]
fn a_link_to_a_folder_is_not_followed() {
    let fixture = Fixture::repository();
    fs::rename(fixture.path("src"), fixture.beside("elsewhere")).unwrap();
    gate_platform::symlink("../elsewhere", fixture.path("src")).unwrap();
    check(&fixture, &["a", "src"]);
}

#[test]
fn outside_of_git_every_ignore_file_counts() {
    let fixture = Fixture::plain();
    fixture.write(".gitignore", "*.log\n");
    fixture.write("src/.gitignore", "gen\n");
    for name in ["run.log", "src/gen", "src/lib.rs"] {
        fixture.write(name, "");
    }
    check(&fixture, &[".gitignore", "src/.gitignore", "src/lib.rs"]);
    let snapshot = fixture.snapshot();
    assert_eq!((snapshot.head, snapshot.index), (None, None));
}

#[test]
fn the_digest_is_the_same_with_and_without_git() {
    let fixture = Fixture::repository();
    fixture.write("new", "");
    let with = fixture.snapshot();
    fixture.remove(".git");
    let without = fixture.snapshot();
    assert_eq!(with.digest, without.digest);
    assert!(with.head.is_some_and(|head| head.len() == 40) && with.index.is_some());
}

#[test]
fn a_linked_work_tree_has_the_digest_of_the_first() {
    let mut fixture = Fixture::repository();
    let first = fixture.snapshot();
    fixture.git(&["worktree", "add", "-q", "../linked"]);
    fixture.site.project = fixture.beside("linked");
    let linked = fixture.snapshot();
    assert_eq!((first.digest, first.head), (linked.digest, linked.head));
}
