//! Snapshots of files that stand nowhere.

use super::*;
use crate::cancellation::Cancellation;

fn file(name: &str, text: &str) -> File {
    File::new(name.as_bytes().into(), Kind::Plain, blake3::hash(text.as_bytes()).into())
}

/// A snapshot of these files, which are sorted, in `/tree`.
fn snapshot(files: &[(&str, &str)]) -> Snapshot {
    let files = files.iter().map(|(name, text)| file(name, text)).collect();
    Snapshot::new(Path::new("/tree").into(), files)
}

const FOUR: [(&str, &str); 4] = [("a", "1"), ("src-x", "2"), ("src/b", "3"), ("src/c/d", "4")];

#[track_caller]
fn check_changes(later: &[(&str, &str)], changed: &[&str], vanished: &[&str], appeared: &[&str]) {
    let owned = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>();
    let expected =
        Changes { changed: owned(changed), vanished: owned(vanished), appeared: owned(appeared) };
    assert_eq!(snapshot(&FOUR).changes_to(&snapshot(later)), expected);
}

#[test]
fn every_file_that_differs_is_told_once_and_in_order() {
    check_changes(&FOUR, &[], &[], &[]);
    check_changes(&[], &[], &["a", "src-x", "src/b", "src/c/d"], &[]);
    check_changes(
        &[("0", "0"), ("a", "1"), ("src/b", "x"), ("src/c/d", "y"), ("z", "z")],
        &["src/b", "src/c/d"],
        &["src-x"],
        &["0", "z"],
    );
}

#[test]
fn a_file_of_another_kind_has_changed() {
    let before = snapshot(&[("a", "1")]);
    let link = File::new(b"a".as_slice().into(), Kind::Link, blake3::hash(b"1").into());
    let after = Snapshot::new(Path::new("/tree").into(), vec![link]);
    assert_eq!(before.changes_to(&after).changed, ["a"]);
    assert_ne!(before.digest(), after.digest());
    assert_eq!((before.links().count(), after.links().count()), (0, 1));
}

#[test]
fn the_end_of_one_name_is_not_the_beginning_of_the_next() {
    let hash = |text: &str| blake3::hash(text.as_bytes()).into();
    let one = |name: &str, text: &str| {
        let files = vec![File::new(name.as_bytes().into(), Kind::Plain, hash(text))];
        Snapshot::new(Path::new("/tree").into(), files).digest
    };
    assert_ne!(one("af", "x"), one("a", "x"));
    assert_eq!(one("a", "x"), one("a", "x"));
    assert!(one("a", "x").starts_with("blake3:"));
}

#[test]
fn files_are_found_in_order_and_out_of_it() {
    let snapshot = snapshot(&FOUR);
    let mut known = snapshot.ordered_lookup();
    for name in ["a", "src-x", "src/b", "a", "src/c/d", "src/b"] {
        assert_eq!(known.file(name.as_bytes()).map(File::path), Some(Path::new(name)));
    }
    for name in ["", "src", "src/c", "zz", "a/"] {
        assert_eq!(known.file(name.as_bytes()), None, "{name}");
    }
    assert!(known.file(b"a").is_some());
}

#[test]
fn a_folder_is_there_if_a_file_is_in_it() {
    let snapshot = snapshot(&FOUR);
    for folder in ["src", "src/c"] {
        assert!(snapshot.has_folder(Path::new(folder)), "{folder}");
    }
    for folder in ["a", "sr", "src/b", "src-x", "src/c/d", "z"] {
        assert!(!snapshot.has_folder(Path::new(folder)), "{folder}");
    }
}

#[test]
fn a_digest_without_a_file_is_that_of_the_others() {
    let all = snapshot(&FOUR);
    assert_eq!(
        all.digest_without(Path::new("src-x")),
        snapshot(&[FOUR[0], FOUR[2], FOUR[3]]).digest
    );
    assert_eq!(all.digest_without(Path::new("src")), all.digest);
    assert_eq!(all.digest_without(Path::new("not/there")), all.digest);
}

#[test]
fn a_digest_of_globs_names_files_from_the_project() {
    let by_globs = |project: &str, globs: &[&str]| {
        let globs: Vec<_> = globs.iter().map(|&glob| glob.to_owned()).collect();
        snapshot(&FOUR).digest_of(Path::new(project), &globs).unwrap()
    };
    let inner = snapshot(&[("b", "3"), ("c/d", "4")]).digest;
    assert_eq!(by_globs("/tree/src", &["**"]), inner);
    assert_eq!(by_globs("/tree", &["src"]), snapshot(&FOUR[2..]).digest);
    assert_eq!(by_globs("/tree", &["src/*", "a"]), by_globs("/tree", &["a", "src"]));
    assert_eq!(by_globs("/tree", &[]), snapshot(&[]).digest);
    let outside = snapshot(&FOUR).digest_of(Path::new("/other"), &[]).unwrap_err();
    assert_eq!(outside.to_string(), "/other: the project lies outside of the work tree /tree");
}

#[test]
fn fitting_files_come_in_their_order_unless_nobody_waits() {
    let snapshot = snapshot(&FOUR);
    let in_source = |path: &Path| path.starts_with("src");
    let fitting = snapshot.files_that_fit(in_source, &Cancellation::default()).unwrap();
    let names: Vec<_> = fitting.iter().map(|file| file.path().display().to_string()).collect();
    assert_eq!(names, ["src/b", "src/c/d"]);
}
