//! The states that a repository can be in.

use std::ffi::OsStr;
use std::fs;

use gate_core::decide::evidence::Outcome;
use gate_platform::{OsStrExt, symlink};

use super::{clean, dirty, listed, look, run};
use crate::cancellation::{CancelReason, Cancellation, Grace};
use crate::worktree::tests::fixture::Fixture;

#[test]
fn what_is_committed_is_clean() {
    let fixture = Fixture::repository();
    symlink("src/b", fixture.path("link")).unwrap();
    fixture.write("tool", "");
    fixture.mode("tool", 0o755);
    fixture.commit();
    clean(&fixture);
    assert_eq!(look(&fixture).summary, "everything is committed");
}

#[test]
fn each_kind_of_change_is_named() {
    let fixture = Fixture::repository();
    fixture.write("a", "staged\n");
    fixture.git(&["add", "a"]);
    fixture.write("src/b", "owt\n");
    fixture.write("new", "");
    dirty(&fixture, "staged: a; unstaged: src/b; untracked: new");
    fixture.write("a", "both\n");
    dirty(&fixture, "staged: a; unstaged: a src/b; untracked: new");
    let summary = look(&fixture).summary;
    let expected = "a (staged, unstaged), new (untracked), src/b (unstaged)";
    assert_eq!(summary, format!("3 files are not committed: {expected}"));
}

#[test]
fn the_first_five_are_named_and_two_hundred_listed() {
    let fixture = Fixture::repository();
    for number in 0..207 {
        fixture.write(&format!("new/{number:03}"), "");
    }
    let evidence = look(&fixture);
    let end = "new/004 (untracked) and 202 more (202 in new/)";
    assert!(evidence.summary.ends_with(end), "{}", evidence.summary);
    let detail = evidence.detail.unwrap();
    assert_eq!(detail["untracked"].as_array().unwrap().len(), 200);
    assert_eq!(detail["totals"]["untracked"], 207);
    assert_eq!(detail["totals"]["staged"], 0);
}

#[test]
fn a_changed_file_is_named_before_a_folder_full_of_new_ones() {
    let fixture = Fixture::repository();
    for number in 0..9 {
        fixture.write(&format!("logs/{number}"), "");
    }
    fixture.write("src/b", "owt\n");
    let summary = look(&fixture).summary;
    assert!(
        summary.starts_with("10 files are not committed: src/b (unstaged), logs/0"),
        "{summary}"
    );
    assert!(summary.ends_with("and 5 more (5 in logs/)"), "{summary}");
}

#[test]
fn a_staged_edit_that_was_undone_in_the_file_is_named() {
    let fixture = Fixture::repository();
    fixture.write("a", "staged\n");
    fixture.git(&["add", "a"]);
    fixture.write("a", "one\n");
    dirty(&fixture, "staged: a; unstaged: a");
}

#[test]
fn removed_files_are_named() {
    let fixture = Fixture::repository();
    fixture.remove("a");
    dirty(&fixture, "unstaged: a");
    fixture.git(&["rm", "-q", "--cached", "a", "src/b"]);
    dirty(&fixture, "staged: a src/b");
}

#[test]
fn an_intent_to_add_is_named() {
    let fixture = Fixture::repository();
    fixture.write("new", "text");
    fixture.git(&["add", "-N", "new"]);
    dirty(&fixture, "staged: new; unstaged: new");
}

#[test]
fn modes_and_links_are_content() {
    let fixture = Fixture::repository();
    symlink("a", fixture.path("link")).unwrap();
    fixture.commit();
    fixture.mode("a", 0o755);
    fixture.remove("link");
    symlink("b", fixture.path("link")).unwrap();
    dirty(&fixture, "unstaged: a link");
    fixture.remove("link");
    fixture.write("link", "a");
    dirty(&fixture, "unstaged: a link");
}

#[test]
fn before_the_first_commit_everything_is_uncommitted() {
    let fixture = Fixture::empty();
    clean(&fixture);
    fixture.write("a", "");
    fixture.write("b", "");
    fixture.git(&["add", "a"]);
    dirty(&fixture, "staged: a; untracked: b");
}

#[test]
fn a_detached_head_is_a_commit() {
    let fixture = Fixture::repository();
    fixture.git(&["checkout", "-q", "--detach"]);
    clean(&fixture);
    fixture.write("a", "eno\n");
    dirty(&fixture, "unstaged: a");
}

#[test]
fn a_linked_work_tree_is_judged_by_itself() {
    let mut fixture = Fixture::repository();
    fixture.git(&["worktree", "add", "-q", "../linked"]);
    fixture.write("a", "eno\n");
    fixture.site.project = fixture.beside("linked");
    clean(&fixture);
    fs::write(fixture.beside("linked/src/b"), "owt\n").unwrap();
    dirty(&fixture, "unstaged: src/b");
}

#[test]
fn a_merge_that_was_not_ended_is_named() {
    let fixture = Fixture::repository();
    fixture.git(&["checkout", "-qb", "other"]);
    fixture.write("a", "other\n");
    fixture.commit();
    fixture.git(&["checkout", "-q", "-"]);
    fixture.write("a", "mine\n");
    fixture.commit();
    fixture.git(&["read-tree", "-m", "HEAD~1", "HEAD", "other"]);
    dirty(&fixture, "staged: a");
}

#[test]
fn what_a_sparse_checkout_leaves_out_is_unknown() {
    for index in ["--no-sparse-index", "--sparse-index"] {
        let fixture = Fixture::repository();
        fixture.write("docs/c", "");
        fixture.commit();
        fixture.git(&["sparse-checkout", "set", "--cone", index, "src"]);
        assert!(!fixture.path("docs").exists());
        let evidence = look(&fixture);
        assert_eq!(evidence.outcome, Outcome::Inconclusive);
        let named = "1 file is not there, as a sparse checkout leaves out: docs/c;";
        assert!(evidence.summary.starts_with(named), "{}", evidence.summary);
        assert_eq!(evidence.detail.unwrap()["sparse"], 1);

        let tree = fixture.snapshot();
        let may_miss = run(&fixture, tree, Cancellation::default(), &["docs"]);
        assert_eq!(may_miss.outcome, Outcome::Pass, "{}", may_miss.summary);
        fixture.write("docs/c", "edited");
        dirty(&fixture, "unstaged: docs/c");
    }
}

#[test]
fn other_shapes_of_a_repository_are_read() {
    let fixture = Fixture::repository();
    fixture.git(&["update-index", "--split-index"]);
    fixture.git(&["pack-refs", "--all"]);
    fixture.git(&["gc", "-q"]);
    clean(&fixture);
    fixture.write("a", "eno\n");
    dirty(&fixture, "unstaged: a");
}

#[test]
fn a_sha256_repository_is_read() {
    let fixture = Fixture::plain();
    fixture.git(&["init", "-q", "--object-format=sha256"]);
    fixture.write(".gitattributes", "crlf text eol=crlf\n");
    fixture.write("a", "one\n");
    fixture.write("crlf", "one\n");
    fixture.commit();
    fixture.write("crlf", "one\r\n");
    clean(&fixture);
    fixture.write("a", "eno\n");
    dirty(&fixture, "unstaged: a");
}

#[test]
fn names_are_bytes_and_options_are_names() {
    let fixture = Fixture::repository();
    for name in [&b"-rf"[..], b"two\nlines", b"\xff", b"$(touch x)", b":(top)a"] {
        fs::write(fixture.path("").join(OsStr::from_bytes(name)), "one\n").unwrap();
    }
    fixture.commit();
    clean(&fixture);
    for name in [&b"-rf"[..], b"two\nlines", b"\xff", b"$(touch x)", b":(top)a"] {
        fs::write(fixture.path("").join(OsStr::from_bytes(name)), "eno\n").unwrap();
    }
    dirty(&fixture, "unstaged: $(touch x) -rf :(top)a two\\nlines \\xff");
}

#[test]
fn what_may_be_uncommitted_is_not_named() {
    let mut fixture = Fixture::repository();
    fixture.write("app/notes.md", "");
    fixture.write("app/x", "");
    fixture.write("notes.md", "");
    fixture.site.project = fixture.path("app");
    let tree = fixture.snapshot();
    let evidence = run(&fixture, tree, Cancellation::default(), &["*.md"]);
    assert_eq!(listed(&evidence), "untracked: app/x notes.md");
}

#[test]
fn a_folder_outside_of_git_fails() {
    let evidence = look(&Fixture::plain());
    assert_eq!(evidence.outcome, Outcome::Fail);
    assert_eq!(evidence.summary, "not in a git repository");
}

#[test]
fn what_could_not_be_found_out_is_inconclusive() {
    let mut fixture = Fixture::repository();
    fixture.write(".git/index", "no index");
    assert_eq!(look(&fixture).outcome, Outcome::Inconclusive);

    fixture = Fixture::repository();
    fixture.write(".git/HEAD", "nonsense");
    assert_eq!(look(&fixture).outcome, Outcome::Inconclusive);

    fixture = Fixture::repository();
    fixture.site.environment[0].1 = "/nowhere".to_owned();
    let evidence = look(&fixture);
    assert_eq!(evidence.outcome, Outcome::Inconclusive);
    assert!(evidence.summary.contains("no git program on PATH"), "{}", evidence.summary);
}

#[test]
fn a_check_that_nobody_waits_for_is_inconclusive() {
    let fixture = Fixture::repository();
    let tree = fixture.snapshot();
    let cancel = Cancellation::default();
    cancel.cancel(CancelReason::Unwanted, Grace::Usual);
    let evidence = run(&fixture, tree, cancel, &[]);
    assert_eq!(evidence.outcome, Outcome::Inconclusive);
    assert!(evidence.summary.contains("cancelled"), "{}", evidence.summary);
}
