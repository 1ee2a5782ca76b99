//! What a digest is over, and what changes are.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::net::UnixListener;
use std::process::Command;

use gate_platform::{OsStrExt, symlink};

use super::fixture::Fixture;
use crate::worktree::{Changes, Kind, Snapshot, WorktreeError};

fn kind(snapshot: &Snapshot, name: &str) -> Option<Kind> {
    snapshot.file(name.as_ref()).map(crate::worktree::File::kind)
}

#[track_caller]
fn differs(change: impl FnOnce(&Fixture)) -> Changes {
    let fixture = Fixture::repository();
    let before = fixture.snapshot();
    change(&fixture);
    let after = fixture.snapshot();
    assert_ne!(before.digest, after.digest);
    let changes = before.changes_to(&after);
    assert!(!changes.is_empty());
    changes
}

#[test]
fn a_change_of_bytes_kind_or_name_changes_the_digest() {
    let changed = Changes { changed: vec!["a".to_owned()], ..Changes::default() };
    assert_eq!(differs(|it| it.write("a", "eno\n")), changed);
    assert_eq!(differs(|it| it.write_in_secret("a", "eno\n")), changed);
    assert_eq!(differs(|it| it.mode("a", 0o755)), changed);
    let link = |it: &Fixture| {
        it.remove("a");
        symlink("one\n", it.path("a")).unwrap();
    };
    assert_eq!(differs(link), changed);
    let rename = |it: &Fixture| fs::rename(it.path("a"), it.path("z")).unwrap();
    let (vanished, appeared) = (vec!["a".to_owned()], vec!["z".to_owned()]);
    assert_eq!(differs(rename), Changes { vanished, appeared, changed: Vec::new() });
}

#[test]
fn times_and_git_change_nothing() {
    let fixture = Fixture::repository();
    fixture.write("new", "");
    let before = fixture.snapshot();
    fixture.commit();
    fixture.write("a", "one\n");
    fixture.mode("a", 0o600);
    let after = fixture.snapshot();
    assert_eq!(before.digest, after.digest);
    assert_eq!(before.changes_to(&after), Changes::default());
    assert_ne!((before.head, before.index), (after.head, after.index));
}

#[test]
fn what_appeared_touches_nothing_that_was() {
    assert!(!differs(|it| it.write("new", "")).touches_existing_files());
    assert!(differs(|it| it.remove("a")).touches_existing_files());
}

#[test]
fn a_link_is_the_text_that_it_holds() {
    let fixture = Fixture::plain();
    symlink("nowhere", fixture.path("link")).unwrap();
    let snapshot = fixture.snapshot();
    assert_eq!(kind(&snapshot, "link"), Some(Kind::Link));
    let file = snapshot.files().next().unwrap();
    assert_eq!(file.hash(), blake3::hash(b"nowhere").as_bytes());
}

#[test]
fn pipes_and_sockets_are_never_opened() {
    let fixture = Fixture::plain();
    let made = Command::new("mkfifo").arg(fixture.path("pipe")).status().unwrap();
    assert!(made.success());
    let _socket = UnixListener::bind(fixture.path("socket")).unwrap();
    let snapshot = fixture.snapshot();
    let [pipe, socket] = ["pipe", "socket"].map(|name| snapshot.file(name.as_ref()).unwrap());
    assert_eq!((pipe.kind(), socket.kind()), (Kind::Special, Kind::Special));
    assert_ne!(pipe.hash(), socket.hash());
}

#[test]
fn what_cannot_be_read_is_no_error_and_equals_nothing() {
    let fixture = Fixture::plain();
    fixture.write("closed/inner", "text");
    fixture.write("file", "text");
    let open = fixture.snapshot();
    fixture.mode("file", 0o000);
    fixture.mode("closed", 0o000);
    let closed = fixture.snapshot();
    let is_privileged = fs::read(fixture.path("file")).is_ok();
    fixture.mode("closed", 0o755);
    if is_privileged {
        // Nothing is closed to the user that the tests run as.
        assert_eq!(open.digest, closed.digest);
        return;
    }
    assert_eq!(kind(&closed, "file"), Some(Kind::Unreadable));
    assert_eq!(kind(&closed, "closed"), Some(Kind::Unreadable));
    assert_ne!(open.digest, closed.digest);
}

#[test]
fn names_are_bytes() {
    let fixture = Fixture::repository();
    let name = OsStr::from_bytes(b"\xff\xfe\nx\x1b[2J");
    fs::write(fixture.path("").join(name), "").unwrap();
    fixture.commit();
    let before = fixture.snapshot();
    assert!(before.file(name.as_ref()).is_some());
    fs::remove_file(fixture.path("").join(name)).unwrap();
    let changes = before.changes_to(&fixture.snapshot());
    assert_eq!(changes.vanished, ["\\xff\\xfe\\nx\\u{1b}[2J"]);
}

#[test]
fn a_digest_of_globs_is_over_what_matches() {
    let fixture = Fixture::repository();
    fixture.write("app/src/x.rs", "1");
    fixture.write("app/src/deep/y.rs", "1");
    let of = |snapshot: &Snapshot, glob: &str| {
        snapshot.digest_of(&fixture.path("app"), &[glob.to_owned()]).unwrap()
    };
    let before = fixture.snapshot();
    fixture.write("app/src/deep/y.rs", "2");
    let after = fixture.snapshot();
    assert_eq!(of(&before, "src/*.rs"), of(&after, "src/*.rs"));
    assert_ne!(of(&before, "src/**/*.rs"), of(&after, "src/**/*.rs"));
    assert_ne!(of(&before, "src"), of(&after, "src"));
    assert_ne!(of(&before, "src"), of(&before, "none"));
}

#[test]
fn a_digest_of_globs_stays_in_the_tree() {
    let fixture = Fixture::repository();
    let outside = fixture.snapshot().digest_of(&fixture.beside("home"), &[]);
    assert!(matches!(outside, Err(WorktreeError::Outside { .. })));
    let glob = fixture.snapshot().digest_of(&fixture.path(""), &["../x".to_owned()]);
    assert!(matches!(glob, Err(WorktreeError::Glob { .. })));
}

#[test]
fn names_are_shown_without_marks_that_hide_or_reorder() {
    let name = "a\u{202e}b\u{200b}c\u{2028}d\u{7}é\u{3042}";
    let shown = crate::worktree::shown(name.as_bytes());
    assert_eq!(shown, "a\\u{202e}b\\u{200b}c\\u{2028}d\\u{7}é\u{3042}");
}
