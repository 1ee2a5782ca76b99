//! The index beside the commit.

use super::*;

/// The names that are staged, of `ls-tree` and `ls-files` in lines.
#[track_caller]
fn check(tree: &[&str], index: &[&str], expected: &[&str]) {
    let text = |lines: &[&str]| lines.iter().map(|line| format!("{line}\0")).collect::<String>();
    let tree = GitEntries::parse_tree(text(tree).into_bytes()).unwrap();
    let index = GitEntries::parse_index(text(index).into_bytes()).unwrap();
    let found = differing_files(&tree, &index);
    let found: Vec<_> = found.iter().map(|name| String::from_utf8_lossy(name)).collect();
    assert_eq!(found, expected);
}

#[test]
fn the_same_files_are_not_staged_whatever_their_flags() {
    check(&[], &[], &[]);
    check(&["100644 blob aa\ta"], &["H 100644 aa 0\ta"], &[]);
    check(&["100644 blob aa\ta"], &["S 100644 aa 0\ta"], &[]);
    check(&["160000 commit cc\tlibs/x"], &["H 160000 cc 0\tlibs/x"], &[]);
}

#[test]
fn another_blob_another_mode_and_another_name_are_staged() {
    let one = ["100644 blob aa\ta"];
    check(&one, &["H 100644 bb 0\ta"], &["a"]);
    check(&one, &["H 100755 aa 0\ta"], &["a"]);
    check(&one, &["H 120000 aa 0\ta"], &["a"]);
    check(&one, &["H 100644 aa 0\tb"], &["a", "b"]);
    check(&one, &[], &["a"]);
    check(&[], &["H 100644 aa 0\ta"], &["a"]);
}

#[test]
fn each_difference_among_equal_files_is_found() {
    check(
        &["100644 blob aa\ta", "100644 blob bb\tb", "100644 blob dd\td", "100644 blob ee\te"],
        &["H 100644 aa 0\ta", "H 100644 cc 0\tc", "H 100644 dd 0\td", "H 100644 ff 0\te"],
        &["b", "c", "e"],
    );
    check(
        &["100644 blob aa\ta-b", "100644 blob bb\ta/b"],
        &["H 100644 bb 0\ta/b", "H 100644 aa 0\ta-b"],
        &[],
    );
}

#[test]
fn a_merge_that_was_not_ended_is_staged_once_whatever_its_sides_say() {
    check(
        &["100644 blob aa\ta"],
        &["M 100644 aa 1\ta", "M 100644 aa 2\ta", "M 100644 aa 3\ta"],
        &["a"],
    );
    check(&[], &["M 100644 aa 2\ta", "M 100644 bb 3\ta"], &["a"]);
}

#[test]
fn names_are_compared_as_bytes() {
    let tree = GitEntries::parse_tree(b"100644 blob aa\t\xff\0".to_vec()).unwrap();
    let index = GitEntries::parse_index(b"H 100644 aa 0\t\xfe\0".to_vec()).unwrap();
    assert_eq!(
        differing_files(&tree, &index),
        BTreeSet::from([b"\xff".to_vec(), b"\xfe".to_vec()])
    );
}
