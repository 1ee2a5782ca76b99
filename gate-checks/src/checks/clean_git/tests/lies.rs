//! Ways to make git say that all is well.

use std::fs;

use gate_core::decide::evidence::Outcome;
use gate_platform::symlink;

use super::{clean, dirty, look};
use crate::cancellation::Cancellation;
use crate::worktree::tests::fixture::Fixture;

#[test]
fn index_flags_hide_no_edit() {
    for flag in ["--assume-unchanged", "--skip-worktree"] {
        let fixture = Fixture::repository();
        fixture.git(&["update-index", flag, "a"]);
        clean(&fixture);
        fixture.write("a", "eno\n");
        assert_eq!(fixture.git(&["status", "--porcelain"]), "", "git is fooled");
        dirty(&fixture, "unstaged: a");
    }
}

#[test]
fn index_flags_hide_no_removal() {
    for flag in ["--assume-unchanged", "--skip-worktree"] {
        let fixture = Fixture::repository();
        fixture.git(&["update-index", flag, "a"]);
        fixture.remove("a");
        dirty(&fixture, "unstaged: a");
    }
}

#[test]
fn a_present_file_of_a_sparse_checkout_hides_no_edit() {
    let fixture = Fixture::repository();
    fixture.git(&["config", "core.sparseCheckout", "true"]);
    fixture.git(&["update-index", "--skip-worktree", "a"]);
    fixture.write("a", "eno\n");
    dirty(&fixture, "unstaged: a");
}

#[test]
fn a_removal_that_calls_itself_sparse_is_no_pass() {
    let fixture = Fixture::repository();
    fixture.git(&["config", "core.sparseCheckout", "true"]);
    fixture.git(&["update-index", "--skip-worktree", "a"]);
    fixture.remove("a");
    assert_eq!(fixture.git(&["status", "--porcelain"]), "", "git is fooled");
    let evidence = look(&fixture);
    assert_eq!(evidence.outcome, Outcome::Inconclusive);
    assert!(evidence.summary.contains(": a;"), "{}", evidence.summary);
}

#[test]
fn a_repository_made_over_the_work_hides_nothing() {
    let mut fixture = Fixture::repository();
    fixture.write("src/b", "owt\n");
    fixture.git(&["init", "-q", "src"]);
    fixture.git_in(&fixture.path("src"), &["add", "-A"]);
    fixture.git_in(&fixture.path("src"), &["commit", "-qm", "own"]);
    fixture.site.project = fixture.path("src");
    dirty(&fixture, "unstaged: src/b");
}

#[test]
fn code_in_a_cache_or_in_a_folder_called_git_is_named() {
    let fixture = Fixture::repository();
    fixture.write("__pycache__/conftest.py", "");
    fixture.write("src/.git/conftest.py", "");
    dirty(&fixture, "untracked: __pycache__/conftest.py src/.git/conftest.py");
}

#[test]
fn excludes_of_the_repository_hide_no_file() {
    let fixture = Fixture::repository();
    fixture.write(".git/info/exclude", "conftest.py\n");
    fs::write(fixture.beside("excludes"), "*.cfg\n").unwrap();
    let excludes = fixture.beside("excludes");
    fixture.git(&["config", "core.excludesFile", excludes.to_str().unwrap()]);
    fixture.git(&["config", "status.showUntrackedFiles", "no"]);
    fixture.write("conftest.py", "");
    fixture.write("src/setup.cfg", "");
    assert_eq!(fixture.git(&["status", "--porcelain"]), "", "git is fooled");
    dirty(&fixture, "untracked: conftest.py src/setup.cfg");
}

#[test]
fn an_ignore_file_that_nobody_added_hides_nothing() {
    let fixture = Fixture::repository();
    fixture.write("src/.gitignore", "*\n");
    fixture.write("src/conftest.py", "");
    assert_eq!(fixture.git(&["status", "--porcelain"]), "", "git is fooled");
    dirty(&fixture, "untracked: src/.gitignore src/conftest.py");
}

#[test]
fn a_file_system_monitor_is_neither_believed_nor_started() {
    let fixture = Fixture::repository();
    let mark = fixture.beside("started");
    let monitor = format!("touch {}; printf 'token\\0'", mark.display());
    let monitor = fixture.program("monitor", &monitor);
    fixture.git(&["config", "core.fsmonitor", &monitor]);
    fixture.git(&["config", "core.fsmonitorHookVersion", "2"]);
    fixture.git(&["update-index", "--fsmonitor"]);
    fixture.git(&["status"]);
    fs::remove_file(&mark).unwrap();
    fixture.write("a", "eno\n");
    dirty(&fixture, "unstaged: a");
    assert!(!mark.exists());
}

/// A filter that always answers with what was committed, and notes that it ran.
fn lying_filter(fixture: &Fixture) {
    let mark = fixture.beside("started");
    let script = format!("touch {}; cat >/dev/null; echo one", mark.display());
    let filter = fixture.program("filter", &script);
    fixture.git(&["config", "filter.lie.clean", &filter]);
}

#[test]
fn a_filter_of_the_repository_hides_nothing_and_is_not_started() {
    let fixture = Fixture::repository();
    lying_filter(&fixture);
    fixture.write(".git/info/attributes", "a filter=lie\n");
    fixture.write("a", "eno\n");
    assert_eq!(fixture.git(&["status", "--porcelain"]), "", "git is fooled");
    fs::remove_file(fixture.beside("started")).unwrap();
    dirty(&fixture, "unstaged: a");
    assert!(!fixture.beside("started").exists());
}

#[test]
fn nor_where_the_attribute_is_committed() {
    let fixture = Fixture::repository();
    fixture.write(".gitattributes", "a filter=lie\n");
    fixture.commit();
    lying_filter(&fixture);
    fixture.write("a", "eno\n");
    dirty(&fixture, "unstaged: a");
    assert!(!fixture.beside("started").exists());
}

#[test]
fn nor_through_a_file_that_the_settings_include() {
    let fixture = Fixture::repository();
    lying_filter(&fixture);
    let attributes = fixture.beside("attributes");
    fs::write(&attributes, "a filter=lie\n").unwrap();
    fixture.git(&["config", "core.attributesFile", attributes.to_str().unwrap()]);
    fixture.write("a", "eno\n");
    dirty(&fixture, "unstaged: a");
}

#[test]
fn an_edit_that_hides_its_time_and_size_is_seen() {
    let fixture = Fixture::repository().keeping_state();
    fixture.git(&["config", "core.checkStat", "minimal"]);
    fixture.git(&["config", "core.trustCtime", "false"]);
    std::thread::sleep(std::time::Duration::from_millis(2_100));
    fixture.git(&["update-index", "--refresh"]);
    clean(&fixture);
    clean(&fixture);
    fixture.write_in_secret("a", "eno\n");
    assert_eq!(fixture.git(&["status", "--porcelain"]), "", "git is fooled");
    dirty(&fixture, "unstaged: a");
}

#[test]
fn another_work_tree_in_the_settings_is_not_believed() {
    let fixture = Fixture::repository();
    let elsewhere = fixture.beside("elsewhere");
    fs::create_dir_all(elsewhere.join("src")).unwrap();
    fs::copy(fixture.path("a"), elsewhere.join("a")).unwrap();
    fs::copy(fixture.path("src/b"), elsewhere.join("src/b")).unwrap();
    fixture.git(&["config", "core.worktree", elsewhere.to_str().unwrap()]);
    fixture.write("a", "eno\n");
    fixture.write("new", "");
    dirty(&fixture, "unstaged: a; untracked: new");
}

#[test]
fn variables_of_git_are_not_believed() {
    let mut fixture = Fixture::repository();
    let other = Fixture::repository();
    for (name, value) in [
        ("GIT_DIR", other.path(".git")),
        ("GIT_WORK_TREE", other.path("")),
        ("GIT_INDEX_FILE", other.path(".git/index")),
    ] {
        let value = value.to_str().unwrap().to_owned();
        fixture.site.environment.push((name.to_owned(), value));
    }
    clean(&fixture);
    fixture.write("a", "eno\n");
    dirty(&fixture, "unstaged: a");
}

#[test]
fn a_replaced_commit_is_not_believed() {
    let fixture = Fixture::repository();
    let honest = fixture.git(&["rev-parse", "HEAD"]);
    fixture.write("a", "eno\n");
    fixture.commit();
    let weak = fixture.git(&["rev-parse", "HEAD"]);
    fixture.git(&["update-ref", "HEAD", honest.trim()]);
    fixture.git(&["replace", honest.trim(), weak.trim()]);
    assert_eq!(fixture.git(&["status", "--porcelain"]), "", "git is fooled");
    dirty(&fixture, "staged: a");
}

#[test]
fn a_replaced_blob_is_not_believed() {
    let fixture = Fixture::repository();
    let honest = fixture.git(&["rev-parse", "HEAD:a"]);
    fixture.write("a", "eno\n");
    let weak = fixture.git(&["hash-object", "-w", "a"]);
    fixture.git(&["replace", honest.trim(), weak.trim()]);
    dirty(&fixture, "unstaged: a");
}

#[test]
fn a_mode_that_the_settings_disregard_is_seen() {
    let fixture = Fixture::repository();
    fixture.write("hook", "#!/bin/sh\n");
    fixture.mode("hook", 0o755);
    fixture.commit();
    fixture.git(&["config", "core.fileMode", "false"]);
    fixture.mode("hook", 0o644);
    dirty(&fixture, "unstaged: hook");
    fixture.mode("hook", 0o755);
    fixture.mode("a", 0o755);
    dirty(&fixture, "unstaged: a");
}

#[test]
fn a_link_in_a_folders_place_is_seen() {
    let fixture = Fixture::repository();
    fs::rename(fixture.path("src"), fixture.beside("elsewhere")).unwrap();
    symlink("../elsewhere", fixture.path("src")).unwrap();
    dirty(&fixture, "unstaged: src/b; untracked: src");
}

#[test]
fn a_nested_repository_hides_nothing() {
    let fixture = Fixture::repository();
    fixture.git(&["init", "-q", "nest"]);
    fixture.write("nest/conftest.py", "");
    fixture.git_in(&fixture.path("nest"), &["add", "-A"]);
    fixture.git_in(&fixture.path("nest"), &["commit", "-qm", "nested"]);
    dirty(&fixture, "untracked: nest/conftest.py");
}

#[test]
fn an_edit_after_the_run_is_seen() {
    let fixture = Fixture::repository().keeping_state();
    let tree = fixture.snapshot();
    fixture.write_in_secret("a", "eno\n");
    let evidence = super::run(&fixture, tree, Cancellation::default(), &[]);
    assert_eq!(super::listed(&evidence), "unstaged: a");
}

#[test]
fn a_tracked_file_that_the_digest_leaves_out_is_judged() {
    let mut fixture = Fixture::repository();
    fixture.site.ignore = vec!["src".to_owned()];
    clean(&fixture);
    fixture.write("src/b", "owt\n");
    fixture.write("src/new", "");
    dirty(&fixture, "unstaged: src/b");
}

#[test]
fn objects_that_are_missing_are_not_fetched() {
    let fixture = Fixture::repository();
    let mark = fixture.beside("started");
    let program = fixture.program("ssh", &format!("touch {}; exit 1", mark.display()));
    for (name, value) in [
        ("core.repositoryFormatVersion", "1"),
        ("extensions.partialClone", "origin"),
        ("remote.origin.url", "ssh://nowhere/x"),
        ("remote.origin.promisor", "true"),
        ("core.sshCommand", program.as_str()),
    ] {
        fixture.git(&["config", name, value]);
    }
    let tree = fixture.git(&["rev-parse", "HEAD^{tree}"]);
    fs::remove_file(fixture.path(&format!(".git/objects/{}/{}", &tree[..2], tree[2..].trim())))
        .unwrap();
    let evidence = look(&fixture);
    assert_eq!(evidence.outcome, Outcome::Inconclusive);
    assert!(!mark.exists());
}

#[test]
fn a_repository_that_calls_itself_bare_is_read() {
    let fixture = Fixture::repository();
    fixture.git(&["config", "core.bare", "true"]);
    clean(&fixture);
    fixture.write("a", "eno\n");
    dirty(&fixture, "unstaged: a");
}
