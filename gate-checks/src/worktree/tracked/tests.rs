//! Names of tracked files.

use super::*;
use crate::worktree::index::GitEntries;

fn repository(prefix: &str, index: &[&str]) -> Repository {
    let text: String = index.iter().map(|line| format!("{line}\0")).collect();
    let index = GitEntries::parse_index(text.into_bytes()).unwrap();
    Repository {
        prefix: prefix.as_bytes().to_vec(),
        folder: "/tree".into(),
        git_dir: "/git".into(),
        index,
    }
}

/// A tree with a submodule at `libs/x`.
fn repositories() -> [Repository; 2] {
    let own = [
        "H 100644 aa 0\ta",
        "H 160000 cc 0\tlibs/x",
        "H 100644 aa 0\tlibs/xy",
        "H 100644 aa 1\tm",
        "H 100644 aa 2\tm",
    ];
    [repository("", &own), repository("libs/x/", &["H 100644 aa 0\tz", "H 100644 aa 0\tb/c"])]
}

#[test]
fn the_files_of_submodules_stand_among_the_trees() {
    let repositories = repositories();
    let tracked = TrackedFiles::new(&repositories);
    let names: Vec<_> = tracked.iter().map(String::from_utf8_lossy).collect();
    assert_eq!(names, ["a", "libs/x/b/c", "libs/x/z", "libs/xy", "m"]);
    assert!(tracked.contains(b"m") && tracked.contains(b"libs/x/z"));
    assert!(!tracked.contains(b"libs/x") && !tracked.contains(b"z"));
}

#[test]
fn a_folder_has_the_names_below_it_and_no_others() {
    let repositories = repositories();
    let tracked = TrackedFiles::new(&repositories);
    for (folder, expected) in
        [("libs", true), ("libs/x", true), ("lib", false), ("a", false), ("libs/xy", false)]
    {
        assert_eq!(tracked.has_files_in(folder.as_bytes()), expected, "{folder}");
    }
    let inside = tracked.below(b"libs/x/");
    assert!(inside.contains(b"libs/x/z"));
    assert!(!inside.contains(b"libs/xy") && !inside.contains(b"a"));
    assert!(tracked.below(b"").contains(b"a"));
}

#[test]
fn names_that_nobody_tracks_are_left_of_a_sorted_list() {
    let repositories = repositories();
    let tracked = TrackedFiles::new(&repositories);
    let others = |names: &[&'static str]| {
        let others = tracked.untracked(names.iter().map(|name| name.as_bytes()));
        others
            .into_iter()
            .map(|name| String::from_utf8_lossy(name).into_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(others(&["a", "libs/x/z", "m"]), [""; 0]);
    assert_eq!(others(&["0", "a", "libs/x", "libs/x/z", "n", "z"]), ["0", "libs/x", "n", "z"]);
    assert_eq!(others(&[]), [""; 0]);
}
