//! Files that git keeps in another form than the work tree holds.

use std::fs;

use super::{clean, dirty};
use crate::worktree::tests::fixture::Fixture;

/// A repository with a committed `.gitattributes`.
fn with_attributes(attributes: &str) -> Fixture {
    let fixture = Fixture::repository();
    fixture.write(".gitattributes", attributes);
    fixture.commit();
    fixture
}

#[test]
fn line_ends_that_committed_attributes_ask_for_are_clean() {
    let fixture = with_attributes("* text eol=crlf\n");
    fixture.write("a", "one\r\n");
    clean(&fixture);
    fixture.write("a", "eno\r\n");
    dirty(&fixture, "unstaged: a");
}

#[test]
fn line_ends_that_settings_ask_for_are_clean() {
    for scope in ["--global", "--local"] {
        let fixture = Fixture::repository();
        fixture.write("a", "one\r\n");
        dirty(&fixture, "unstaged: a");
        fixture.git(&["config", scope, "core.autocrlf", "true"]);
        clean(&fixture);
        fixture.write("a", "eno\r\n");
        dirty(&fixture, "unstaged: a");
    }
}

#[test]
fn attributes_that_are_not_committed_hide_nothing() {
    let fixture = Fixture::repository();
    fixture.write(".gitignore", ".gitattributes\n");
    fixture.commit();
    fixture.write(".gitattributes", "* text eol=crlf\n");
    fixture.write("a", "one\r\n");
    dirty(&fixture, "unstaged: a");
}

#[test]
fn the_bytes_of_the_blob_are_clean_whatever_the_attributes_say() {
    let fixture = Fixture::repository();
    fixture.write("crlf", "one\r\n");
    fixture.commit();
    fixture.write(".gitattributes", "* text\n");
    fixture.git(&["add", ".gitattributes"]);
    fixture.git(&["commit", "-qm", "attributes"]);
    clean(&fixture);
}

/// Commits the pointer of a file with these bytes.
fn commit_pointer(fixture: &Fixture, bytes: &str) {
    fixture.write("pointed", bytes);
    let sum = std::process::Command::new("sha256sum").arg(fixture.path("pointed")).output();
    let sum = String::from_utf8(sum.unwrap().stdout).unwrap();
    let size = bytes.len();
    let pointer = format!(
        "version https://git-lfs.github.com/spec/v1\noid sha256:{}\nsize {size}\n",
        &sum[..64]
    );
    fs::write(fixture.path("pointed"), pointer).unwrap();
    fixture.commit();
    fs::write(fixture.path("pointed"), bytes).unwrap();
}

#[test]
fn the_bytes_that_an_lfs_pointer_names_are_clean() {
    let fixture = with_attributes("pointed filter=lfs -text\n");
    fixture.git(&["config", "filter.lfs.required", "true"]);
    fixture.git(&["config", "filter.lfs.clean", "cat"]);
    commit_pointer(&fixture, "large\n");
    clean(&fixture);
    fixture.write("pointed", "lerge\n");
    dirty(&fixture, "unstaged: pointed");
}

#[test]
fn a_pointer_that_the_commit_does_not_ask_for_is_another_text() {
    let fixture = with_attributes("other filter=lfs -text\n");
    commit_pointer(&fixture, "large\n");
    dirty(&fixture, "unstaged: pointed");
    fixture.write(".git/info/attributes", "pointed filter=lfs\n");
    dirty(&fixture, "unstaged: pointed");
}

#[test]
fn a_filter_of_the_users_own_is_believed() {
    let fixture = Fixture::repository();
    let filter = fixture.program("upper", "tr a-z A-Z");
    fixture.git(&["config", "--global", "filter.upper.clean", &filter]);
    fixture.write(".gitattributes", "up filter=upper\n");
    fixture.write("up", "text\n");
    fixture.commit();
    assert_eq!(fixture.git(&["show", "HEAD:up"]), "TEXT\n");
    clean(&fixture);
    fixture.write("up", "test\n");
    dirty(&fixture, "unstaged: up");
}

#[test]
fn a_filter_of_the_repository_alone_is_not_run() {
    let fixture = Fixture::repository();
    let filter = fixture.program("upper", "tr a-z A-Z");
    fixture.git(&["config", "filter.upper.clean", &filter]);
    fixture.write(".gitattributes", "up filter=upper\n");
    fixture.write("up", "text\n");
    fixture.commit();
    dirty(&fixture, "unstaged: up");
}

#[test]
fn a_filter_that_fails_accuses_its_own_files_only() {
    let fixture = with_attributes("bad filter=bad\n* text eol=crlf\n");
    fixture.write("bad", "text\n");
    fixture.commit();
    fixture.git(&["config", "--global", "filter.bad.clean", "false"]);
    fixture.git(&["config", "--global", "filter.bad.required", "true"]);
    for name in ["a", "src/b", "bad"] {
        let text = fs::read_to_string(fixture.path(name)).unwrap().replace('\n', "\r\n");
        fixture.write(name, text);
    }
    dirty(&fixture, "unstaged: bad");
}

#[test]
fn a_file_system_without_executable_bits_is_clean() {
    let fixture = Fixture::repository();
    for name in ["a", "src/b"] {
        fixture.mode(name, 0o755);
    }
    dirty(&fixture, "unstaged: a src/b");
    fixture.git(&["config", "core.fileMode", "false"]);
    clean(&fixture);
}

#[test]
fn a_file_system_without_links_is_clean() {
    let fixture = Fixture::repository();
    gate_platform::symlink("a", fixture.path("link")).unwrap();
    fixture.commit();
    fixture.remove("link");
    fixture.write("link", "a");
    dirty(&fixture, "unstaged: link");
    fixture.git(&["config", "core.symlinks", "false"]);
    clean(&fixture);
    fixture.write("link", "b");
    dirty(&fixture, "unstaged: link");
}
