//! Baselines against real repositories.

mod beside;

use std::fs;
use std::path::{Path, PathBuf};

use gate_core::decide::policy::Policy;
use gate_core::integrity::Guarded;

use super::{Baseline, Change, ChangeKind, Origin};
use crate::cancellation::{CancelReason, Cancellation, Grace};
use crate::worktree::WorkTree;
use crate::worktree::tests::fixture::Fixture;

const TIME: &str = "2026-01-02T03:04:05Z";

fn take(fixture: &Fixture) -> Baseline {
    Baseline::take(&Policy::default(), &fixture.site, TIME).unwrap().unwrap()
}

fn changes(fixture: &Fixture, baseline: &Baseline) -> Vec<(String, ChangeKind)> {
    let all = all(fixture, baseline).into_iter();
    all.map(|change| (change.path.display().to_string(), change.kind)).collect()
}

fn all(fixture: &Fixture, baseline: &Baseline) -> Vec<Change> {
    let tree = WorkTree::open(&fixture.site).unwrap();
    baseline.changes(&tree, &tree.snapshot().unwrap()).unwrap()
}

fn content(fixture: &Fixture, baseline: &Baseline, path: &str) -> Option<String> {
    let tree = WorkTree::open(&fixture.site).unwrap();
    let held = baseline.content(&tree, Path::new(path)).unwrap()?;
    Some(String::from_utf8(held.bytes).unwrap())
}

fn named(name: &str, kind: ChangeKind) -> (String, ChangeKind) {
    (name.to_owned(), kind)
}

#[test]
fn what_was_there_when_it_was_taken_is_no_change() {
    let fixture = Fixture::repository().keeping_state();
    fixture.write("src/b", "edited before\n");
    fixture.write("new", "untracked before\n");
    fs::remove_file(fixture.path("a")).unwrap();
    let baseline = take(&fixture);
    assert_eq!(baseline.origin(), Origin::Taken);
    assert_eq!(changes(&fixture, &baseline), []);
    fixture.commit();
    assert_eq!(changes(&fixture, &baseline), [], "to commit it changes nothing");
    fixture.write("src/b", "two\n");
    fixture.write("a", "back\n");
    fs::remove_file(fixture.path("new")).unwrap();
    let expected = [
        named("a", ChangeKind::Added),
        named("new", ChangeKind::Removed),
        named("src/b", ChangeKind::Edited),
    ];
    assert_eq!(changes(&fixture, &baseline), expected);
}

#[test]
fn what_a_file_was_is_known() {
    let fixture = Fixture::repository().keeping_state();
    fixture.write("src/b", "edited before\n");
    let baseline = take(&fixture);
    baseline.keep(&fixture.site, Some("run")).unwrap();
    fixture.write("a", "later\n");
    fixture.write("src/b", "later\n");
    fixture.write("new", "later\n");
    let kept = Baseline::kept(&fixture.site, Some("run")).unwrap().unwrap();
    assert_eq!(kept.digest(), baseline.digest());
    for baseline in [baseline, kept] {
        assert_eq!(content(&fixture, &baseline, "a").as_deref(), Some("one\n"));
        assert_eq!(content(&fixture, &baseline, "src/b").as_deref(), Some("edited before\n"));
        assert_eq!(content(&fixture, &baseline, "new"), None);
    }
}

#[test]
fn the_whole_tree_is_laid_out_as_it_was() {
    let fixture = Fixture::repository().keeping_state();
    fixture.write("run.sh", "#!/bin/sh\n");
    fixture.commit();
    fixture.write("new", "untracked\n");
    fs::remove_file(fixture.path("a")).unwrap();
    let baseline = take(&fixture);
    fixture.write("src/b", "later\n");
    let into = fixture.beside("out");
    fs::create_dir(&into).unwrap();
    let tree = WorkTree::open(&fixture.site).unwrap();
    baseline.lay_out(&tree, &into).unwrap();
    assert_eq!(fs::read_to_string(into.join("src/b")).unwrap(), "two\n");
    assert_eq!(fs::read_to_string(into.join("new")).unwrap(), "untracked\n");
    assert!(!into.join("a").exists() && into.join("run.sh").exists());
}

#[test]
fn each_run_has_its_own_and_one_waits_for_runs() {
    let fixture = Fixture::repository().keeping_state();
    let kept = |run| Baseline::kept(&fixture.site, run).unwrap();
    assert!(kept(None).is_none() && kept(Some("one")).is_none());
    let first = take(&fixture);
    first.keep(&fixture.site, None).unwrap();
    fixture.write("a", "changed\n");
    let second = take(&fixture);
    assert_ne!(first.digest(), second.digest());
    second.keep(&fixture.site, Some("one")).unwrap();
    assert_eq!(kept(None).unwrap().digest(), first.digest());
    assert_eq!(kept(Some("one")).unwrap().digest(), second.digest());
    assert!(Baseline::forget(&fixture.site, None).unwrap());
    assert!(kept(None).is_none() && !Baseline::forget(&fixture.site, None).unwrap());
}

#[test]
fn without_one_history_tells() {
    let fixture = Fixture::repository();
    fixture.git(&["branch", "-M", "main"]);
    let of_history = || {
        Baseline::from_history(&fixture.site, TIME)
            .unwrap()
            .map(|baseline| (baseline.origin(), baseline))
    };
    let (origin, at_main) = of_history().unwrap();
    assert_eq!(origin, Origin::LocalBranch);
    assert!(at_main.is_movable());
    fixture.git(&["checkout", "-q", "-b", "work"]);
    fixture.write("src/b", "committed on the branch\n");
    fixture.commit();
    let later = Baseline::from_history(&fixture.site, "2026-12-01T00:00:00Z").unwrap().unwrap();
    assert_eq!(later.digest(), at_main.digest());
    let (_, on_branch) = of_history().unwrap();
    assert_eq!(on_branch.commit(), at_main.commit());
    assert_eq!(changes(&fixture, &on_branch), [named("src/b", ChangeKind::Edited)]);
    // The origin's branch counts before a local one, which may have been moved.
    fixture.git(&["update-ref", "refs/remotes/origin/main", "main"]);
    fixture.git(&["branch", "-f", "main", "work"]);
    let (origin, of_origin) = of_history().unwrap();
    assert_eq!((origin, of_origin.commit()), (Origin::MergeBase, at_main.commit()));
    assert!(!of_origin.is_movable());
    fixture.git(&["update-ref", "-d", "refs/remotes/origin/main"]);
    fixture.git(&["branch", "-D", "main"]);
    assert_eq!(of_history().unwrap().0, Origin::Head);
    // A branch of a commit that is not there is none.
    fixture.write(".git/refs/heads/master", format!("{}\n", "1".repeat(40)));
    assert_eq!(of_history().unwrap().0, Origin::Head);
}

#[test]
fn there_is_none_where_nothing_was_committed() {
    for fixture in [Fixture::plain(), Fixture::empty()] {
        assert!(Baseline::take(&Policy::default(), &fixture.site, TIME).unwrap().is_none());
        assert!(Baseline::from_history(&fixture.site, TIME).unwrap().is_none());
    }
}

#[test]
fn a_file_that_was_moved_is_known_by_its_bytes() {
    let fixture = Fixture::repository();
    fixture.write("tests/test_a.py", "def test_a(): pass\n");
    fixture.commit();
    let baseline = take(&fixture);
    fs::create_dir(fixture.path("tests/unit")).unwrap();
    fs::rename(fixture.path("tests/test_a.py"), fixture.path("tests/unit/test_a.py")).unwrap();
    let all = all(&fixture, &baseline);
    let [removed, added] = all.as_slice() else { panic!("{all:?}") };
    assert_eq!((removed.kind, removed.guarded), (ChangeKind::Removed, Some(Guarded::Test)));
    assert_eq!(added.moved_from, Some(PathBuf::from("tests/test_a.py")));
}

#[test]
fn history_that_is_written_anew_changes_nothing() {
    let fixture = Fixture::repository();
    fixture.write("tests/test_a.py", "def test_a(): assert f(2) == 4\n");
    fixture.commit();
    let baseline = take(&fixture);
    fixture.write("tests/test_a.py", "def test_a(): pass\n");
    fixture.git(&["add", "-A"]);
    fixture.git(&["commit", "-q", "--amend", "--no-edit"]);
    let head = WorkTree::open(&fixture.site).unwrap().commit("HEAD").unwrap().unwrap();
    fixture.git(&["replace", baseline.commit(), &head]);
    assert_eq!(changes(&fixture, &baseline), [named("tests/test_a.py", ChangeKind::Edited)]);
    let was = content(&fixture, &baseline, "tests/test_a.py").unwrap();
    assert!(was.contains("assert"), "{was}");
}

#[test]
fn a_baseline_that_is_damaged_is_none_that_holds() {
    let fixture = Fixture::repository().keeping_state();
    fixture.write("a", "not committed\n");
    take(&fixture).keep(&fixture.site, None).unwrap();
    let folder = super::folder(&fixture.site, &WorkTree::open(&fixture.site).unwrap()).unwrap();
    let kept = Baseline::kept(&fixture.site, None).unwrap().unwrap();
    for entry in fs::read_dir(folder.join("bytes")).unwrap().flatten() {
        for file in fs::read_dir(entry.path()).unwrap().flatten() {
            fs::write(file.path(), "other bytes").unwrap();
        }
    }
    let tree = WorkTree::open(&fixture.site).unwrap();
    let lost = kept.content(&tree, Path::new("a")).unwrap_err();
    assert!(lost.to_string().starts_with("a: its bytes"), "{lost}");
    fs::write(folder.join("waiting.json"), "{").unwrap();
    let damaged = Baseline::kept(&fixture.site, None).unwrap_err();
    assert!(damaged.to_string().contains("the baseline is damaged"), "{damaged}");
}

#[test]
fn a_baseline_with_old_texts_of_an_earlier_version_is_none() {
    let fixture = Fixture::repository().keeping_state();
    let baseline = take(&fixture);
    baseline.keep(&fixture.site, None).unwrap();
    let folder = super::folder(&fixture.site, &WorkTree::open(&fixture.site).unwrap()).unwrap();
    let waiting = folder.join("waiting.json");
    let text = fs::read_to_string(&waiting).unwrap();
    fs::write(&waiting, text.replacen('{', "{\"old_texts\":[\"tests/a.py\"],", 1)).unwrap();
    assert!(Baseline::kept(&fixture.site, None).unwrap().is_none());
    fs::create_dir_all(folder.join("old-texts")).unwrap();
    baseline.keep(&fixture.site, None).unwrap();
    assert!(Baseline::kept(&fixture.site, None).unwrap().is_some());
    assert!(!folder.join("old-texts").exists());
}

#[test]
fn a_tool_is_known_by_its_place_and_its_bytes() {
    let fixture = Fixture::repository();
    let bin = fixture.beside("home/bin");
    fs::create_dir(&bin).unwrap();
    let program = bin.join("judge");
    fs::write(&program, "#!/bin/sh\nexit 1\n").unwrap();
    let mode = gate_platform::PermissionsExt::from_mode(0o755);
    fs::set_permissions(&program, mode).unwrap();
    let mut site = fixture.site.clone();
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    site.environment.retain(|(name, _)| name != "PATH");
    site.environment.push(("PATH".to_owned(), path));
    let look = || super::Tool::find("judge", &site).unwrap();
    let before = look();
    assert_eq!(before.path, program);
    fs::write(&program, "#!/bin/sh\nexit 0\n").unwrap();
    assert_ne!(look().digest, before.digest);
    assert!(super::Tool::find("no-such-program", &site).is_none());
}

#[test]
fn what_nobody_waits_for_is_not_taken() {
    let fixture = Fixture::repository().keeping_state();
    let take = |cancel: Cancellation| {
        Baseline::take_in_session(&Policy::default(), &fixture.site, TIME, &cancel)
    };
    let cancelled = Cancellation::default();
    cancelled.cancel(CancelReason::Unwanted, Grace::Usual);
    assert!(take(cancelled).unwrap_err().is_late());
    let taken = take(Cancellation::default()).unwrap().unwrap();
    assert_eq!(taken.digest(), self::take(&fixture).digest());
}

#[test]
fn a_session_begins_once() {
    let fixture = Fixture::repository().keeping_state();
    let begins = |name: &str| Baseline::begins(&fixture.site, name).unwrap();
    assert!(begins("one") && begins("two/../x"));
    assert!(!begins("one") && !begins("two/../x"));
    let stateless = Fixture::repository();
    assert!(!Baseline::begins(&stateless.site, "one").unwrap());
}
