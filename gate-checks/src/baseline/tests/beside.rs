//! Files beside the tree, results that are kept, and files that moved.

use std::fs;

use gate_core::integrity::Severity;
use gate_platform::PermissionsExt;

use super::*;
use crate::report::{Status, Test};
use crate::site::CheckSite;

/// The files beside the tree that are others now: name, severity and how.
fn beside(fixture: &Fixture, baseline: &Baseline) -> Vec<(String, Severity, String)> {
    let tree = WorkTree::open(&fixture.site).unwrap();
    let findings = baseline.changed_watched_files(&tree, &tree.snapshot().unwrap());
    let line = |finding: gate_core::integrity::Finding| {
        let how = finding.message.rsplit(": ").next().unwrap_or_default().to_owned();
        (finding.file, finding.severity, how)
    };
    findings.into_iter().map(line).collect()
}

fn found(name: &str, severity: Severity, how: &str) -> (String, Severity, String) {
    (name.to_owned(), severity, how.to_owned())
}

const HOOK: &str = ".git/hooks/pre-commit";

fn hook(fixture: &Fixture) {
    fixture.write(HOOK, "#!/bin/sh\nexit 1\n");
    fixture.mode(HOOK, 0o755);
}

#[test]
fn a_new_hook_of_git_is_told_and_a_sample_is_none() {
    let fixture = Fixture::repository();
    let baseline = take(&fixture);
    fixture.write(".git/hooks/a.sample", "x");
    assert_eq!(beside(&fixture, &baseline), []);
    hook(&fixture);
    assert_eq!(beside(&fixture, &baseline), [found(HOOK, Severity::Warn, "it is new")]);
}

#[test]
fn a_change_of_a_hook_of_git_is_named() {
    let fixture = Fixture::repository();
    hook(&fixture);
    let baseline = take(&fixture);
    assert_eq!(beside(&fixture, &baseline), []);
    fixture.mode(HOOK, 0o644);
    let changed = [found(HOOK, Severity::Warn, "it was changed")];
    assert_eq!(beside(&fixture, &baseline), changed);
    fixture.mode(HOOK, 0o755);
    fixture.write(HOOK, "#!/bin/sh\n");
    assert_eq!(beside(&fixture, &baseline), changed);
    fixture.remove(HOOK);
    assert_eq!(beside(&fixture, &baseline), [found(HOOK, Severity::Warn, "it is gone")]);
}

#[test]
fn settings_of_the_repository_count_as_far_as_they_decide() {
    let fixture = Fixture::repository();
    let baseline = take(&fixture);
    fixture.git(&["config", "user.name", "other"]);
    assert_eq!(beside(&fixture, &baseline), []);
    fixture.git(&["config", "core.hooksPath", "/elsewhere"]);
    let changed = [found(".git/config", Severity::Warn, "it was changed")];
    assert_eq!(beside(&fixture, &baseline), changed);
}

const LOCAL: &str = ".claude/settings.local.json";

#[test]
fn an_agents_settings_count_as_far_as_they_concern_hooks() {
    let fixture = Fixture::repository();
    fixture.write(".gitignore", ".claude\n");
    fixture.commit();
    let without = take(&fixture);
    fixture.write(LOCAL, r#"{"permissions": {"allow": ["Bash"]}}"#);
    assert_eq!(beside(&fixture, &without), []);
    fixture.write(LOCAL, r#"{"hooks": {}}"#);
    assert_eq!(beside(&fixture, &without), [found(LOCAL, Severity::Warn, "it is new")]);
    let with = take(&fixture);
    fixture.write(LOCAL, r#"{"permissions": {}, "hooks":{}}"#);
    assert_eq!(beside(&fixture, &with), []);
    fixture.remove(LOCAL);
    assert_eq!(beside(&fixture, &with), [found(LOCAL, Severity::Warn, "it is gone")]);
}

#[test]
fn settings_that_are_part_of_the_tree_are_told_as_a_change_of_it() {
    let fixture = Fixture::repository();
    let baseline = take(&fixture);
    fixture.write(LOCAL, r#"{"hooks": {}}"#);
    assert_eq!(beside(&fixture, &baseline), []);
}

#[test]
fn a_baseline_of_history_knows_nothing_beside_the_tree() {
    let fixture = Fixture::repository();
    let baseline = Baseline::from_history(&fixture.site, TIME).unwrap().unwrap();
    hook(&fixture);
    assert_eq!(beside(&fixture, &baseline), []);
}

fn tests() -> Vec<Test> {
    vec![Test { id: "t.py::a".to_owned(), status: Status::Passed }]
}

#[test]
fn a_result_is_kept_for_its_baseline_and_key_alone() {
    let fixture = Fixture::repository().keeping_state();
    let (baseline, tree) = (take(&fixture), WorkTree::open(&fixture.site).unwrap());
    let kept = |baseline: &Baseline, key| -> Option<Vec<Test>> {
        baseline.result(&fixture.site, &tree, key)
    };
    assert_eq!(kept(&baseline, "key"), None);
    baseline.keep_result(&fixture.site, &tree, "key", &tests()).unwrap();
    assert_eq!(kept(&baseline, "key"), Some(tests()));
    assert_eq!(kept(&baseline, "other"), None);
    fixture.write("a", "later\n");
    assert_eq!(kept(&take(&fixture), "key"), None);
}

#[test]
fn without_state_nothing_is_kept_and_a_damaged_record_is_none() {
    let fixture = Fixture::repository().keeping_state();
    let (baseline, tree) = (take(&fixture), WorkTree::open(&fixture.site).unwrap());
    let stateless = CheckSite { state: None, ..fixture.site.clone() };
    let kept = |site: &CheckSite| -> Option<Vec<Test>> { baseline.result(site, &tree, "key") };
    baseline.keep_result(&stateless, &tree, "key", &tests()).unwrap();
    assert_eq!(kept(&stateless), None);
    baseline.keep_result(&fixture.site, &tree, "key", &tests()).unwrap();
    let folder = super::super::folder(&fixture.site, &tree).unwrap().join("tests");
    for file in fs::read_dir(folder).unwrap().flatten() {
        fs::write(file.path(), "[{").unwrap();
        fs::set_permissions(file.path(), fs::Permissions::from_mode(0o600)).unwrap();
    }
    assert_eq!(kept(&fixture.site), None);
}

#[test]
fn each_file_that_is_gone_was_moved_to_one_place_at_most() {
    let fixture = Fixture::repository();
    for (name, text) in [("tests/a.py", "same\n"), ("tests/b.py", "same\n"), ("tests/c.py", "")] {
        fixture.write(name, text);
    }
    fixture.commit();
    let baseline = take(&fixture);
    fixture.remove("tests");
    for (name, text) in
        [("new/x.py", "same\n"), ("new/y.py", "same\n"), ("new/z.py", "same\n"), ("new/e.py", "")]
    {
        fixture.write(name, text);
    }
    let moved = |change: &Change| change.moved_from.as_ref().map(|from| from.display().to_string());
    let all = all(&fixture, &baseline);
    let moved: Vec<_> = all.iter().filter_map(moved).collect();
    assert_eq!(moved, ["tests/a.py", "tests/b.py"]);
    let empty = all.iter().find(|change| change.path.ends_with("e.py")).unwrap();
    assert_eq!((empty.kind, &empty.moved_from), (ChangeKind::Added, &None));
}
