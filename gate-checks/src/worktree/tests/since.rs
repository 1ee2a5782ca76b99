//! What was changed since a commit.

use std::path::Path;

use super::fixture::Fixture;
use crate::worktree::WorkTree;

fn changed(fixture: &Fixture, since: Option<&str>) -> Option<Vec<String>> {
    WorkTree::open(&fixture.site).unwrap().changed(since).unwrap()
}

#[test]
fn what_is_not_committed_has_changed_and_with_a_commit_what_was() {
    let fixture = Fixture::repository();
    let start = WorkTree::open(&fixture.site).unwrap().commit("HEAD").unwrap();
    assert_eq!(start.as_deref().map(str::len), Some(40));
    let since = start.as_deref();
    assert_eq!(changed(&fixture, since), Some(Vec::new()));
    fixture.remove("src/b");
    fixture.write("new", "3");
    fixture.commit();
    fixture.write("a", "other\n");
    fixture.write("untracked", "4");
    assert_eq!(changed(&fixture, None).unwrap(), ["a", "untracked"]);
    assert_eq!(changed(&fixture, since).unwrap(), ["a", "new", "src/b", "untracked"]);
}

#[test]
fn a_name_that_is_no_commits_means_none() {
    let fixture = Fixture::repository();
    let tree = WorkTree::open(&fixture.site).unwrap();
    for name in ["gone", "--all", "-h", "", "HEAD:a"] {
        assert_eq!(tree.commit(name).unwrap(), None, "{name}");
    }
    let empty = Fixture::empty();
    assert_eq!(WorkTree::open(&empty.site).unwrap().commit("HEAD").unwrap(), None);
    assert_eq!(changed(&Fixture::plain(), None), None);
    assert_eq!(WorkTree::open(&Fixture::plain().site).unwrap().commit("HEAD").unwrap(), None);
}

#[test]
fn a_file_that_was_removed_was_there_all_the_same() {
    let fixture = Fixture::repository();
    fixture.remove("src/b");
    fixture.commit();
    let tree = WorkTree::open(&fixture.site).unwrap();
    for (file, known) in [("src/b", true), ("a", true), ("src/*", false), ("never", false)] {
        assert_eq!(tree.was_committed(Path::new(file)).unwrap(), known, "{file}");
    }
    let empty = Fixture::empty();
    assert!(!WorkTree::open(&empty.site).unwrap().was_committed(Path::new("a")).unwrap());
}
