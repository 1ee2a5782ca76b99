//! Records that are doubted, replaced and left out.

use std::time::Duration;

use gate_core::config::{self, Layer, Origin};
use gate_core::decide::policy::Mode;

use super::*;
use crate::worktree::tests::fixture::Fixture;

const THREE: &str = "[checks.a]\ncommand = [\"true\"]\n[checks.b]\ncommand = [\"true\"]\nmode = \"warn\"\n[checks.c]\ncommand = [\"true\"]\n";

fn policy(toml: &str) -> Policy {
    let layer = Layer::parse(Origin::Project("gate.toml".into()), toml).unwrap();
    config::resolve(&[layer], None).unwrap().policy
}

fn plan(names: &[&str]) -> Vec<Planned> {
    let cache = Arc::new(EvidenceCache::new(None, false, false));
    let all = checks::plan(
        &policy(THREE),
        &CheckSite::new("/project"),
        &cache,
        &GatherOptions::default(),
    );
    all.into_iter().filter(|planned| names.contains(&planned.check.id().as_str())).collect()
}

fn record(check: &str, outcome: Outcome) -> Evidence {
    let record = Evidence::new(check, Mode::Require, outcome).with_summary("exit code 0");
    record.with_duration(Duration::from_millis(5))
}

fn files(names: &[&str]) -> Vec<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}

#[test]
fn only_passes_of_the_named_checks_are_doubted() {
    let mut evidence =
        [record("a", Outcome::Pass), record("b", Outcome::Pass), record("c", Outcome::Fail)];
    let changes = Changes { changed: files(&["src/x"]), ..Changes::default() };
    doubt(&mut evidence, &plan(&["a", "c"]), &changes);
    let summary = "it passed, and files changed meanwhile: src/x; what a check writes belongs \
                   into .gitignore or `[tree] ignore`";
    let doubted = record("a", Outcome::Inconclusive).with_summary(summary);
    assert_eq!(evidence, [doubted, record("b", Outcome::Pass), record("c", Outcome::Fail)]);
}

#[test]
fn a_failure_on_what_a_check_left_is_doubted() {
    let mut fresh = [record("a", Outcome::Fail), record("b", Outcome::Pass)];
    let changes = Changes { changed: files(&["data"]), ..Changes::default() };
    doubt_failures(&mut fresh, &changes);
    let summary = "it passed, then files changed meanwhile: data, and it fails: exit code 0; what \
                   a check writes belongs into .gitignore or `[tree] ignore`";
    let doubted = record("a", Outcome::Inconclusive).with_summary(summary);
    assert_eq!(fresh, [doubted, record("b", Outcome::Pass)]);
    let appeared = Changes { appeared: files(&["new"]), ..Changes::default() };
    let mut fresh = [record("a", Outcome::Fail)];
    doubt_failures(&mut fresh, &appeared);
    assert_eq!(fresh, [record("a", Outcome::Fail)]);
}

#[test]
fn files_that_only_appeared_are_no_reason_for_doubt() {
    let mut evidence = [record("a", Outcome::Pass)];
    let changes = Changes { appeared: files(&["target/x"]), ..Changes::default() };
    doubt(&mut evidence, &plan(&["a"]), &changes);
    assert_eq!(evidence, [record("a", Outcome::Pass)]);
}

#[test]
fn the_first_of_several_files_is_named() {
    let changes =
        Changes { changed: files(&["b", "c"]), vanished: files(&["a"]), appeared: files(&["new"]) };
    assert_eq!(disturbed_files(&changes), ["b", "c", "a"]);
    assert_eq!(disturbance(&changes).as_deref(), Some("b and 2 more"));
    let one_change = Changes { changed: files(&["b"]), ..Changes::default() };
    assert_eq!(disturbance(&one_change).as_deref(), Some("b"));
    assert_eq!(disturbance(&Changes::default()), None);
}

#[test]
fn a_newer_record_takes_the_place_of_the_older_and_both_times_count() {
    let mut evidence = [record("a", Outcome::Pass), record("b", Outcome::Pass)];
    let mut fresh = record("b", Outcome::Fail).with_duration(Duration::from_millis(7));
    fresh.exit_code = Some(1);
    replace(&mut evidence, vec![fresh.clone(), record("other", Outcome::Fail)]);
    assert_eq!(
        evidence,
        [record("a", Outcome::Pass), fresh.with_duration(Duration::from_millis(12))]
    );
}

#[test]
fn checks_that_were_not_asked_for_leave_a_skipped_record_in_their_own_mode() {
    let policy = policy(THREE);
    assert_eq!(left_out_records(&policy, None), []);
    let skipped = |check: &str, mode| {
        let record = Evidence::new(check, mode, Outcome::Skipped);
        record.with_summary("left out: only c was asked for")
    };
    assert_eq!(
        left_out_records(&policy, Some("c")),
        [skipped("a", Mode::Require), skipped("b", Mode::Warn)]
    );
}

#[test]
fn a_tree_that_cannot_be_read_makes_every_check_inconclusive() {
    let site = CheckSite::new("/no/such/project");
    let gathered = gather(&policy(THREE), site, &GatherOptions::default()).unwrap();
    let records: Vec<_> =
        gathered.evidence.iter().map(|record| (record.mode, record.outcome)).collect();
    let (required, warns) =
        ((Mode::Require, Outcome::Inconclusive), (Mode::Warn, Outcome::Inconclusive));
    assert_eq!(records, [required, warns, required]);
    let summary = &gathered.evidence[0].summary;
    assert!(summary.starts_with("the work tree cannot be read: /no/such/project: "), "{summary}");
    assert_eq!((gathered.tree, gathered.baseline.is_none()), (None, true));
}

#[test]
fn without_a_check_nothing_is_looked_at() {
    let site = CheckSite::new("/no/such/project");
    let gathered = gather(&policy(""), site, &GatherOptions::default()).unwrap();
    assert_eq!((gathered.evidence, gathered.tree), (Vec::new(), None));
}

#[test]
fn records_come_by_name_with_the_tree_that_they_are_about() {
    let fixture = Fixture::plain();
    fixture.write("plan.md", "- [x] done\n");
    let settings = "[checks.handoff]\nfiles = [\"none.md\"]\nmode = \"warn\"\n[checks.acceptance_criteria]\nfiles = [\"plan.md\"]\n[checks.clean_git]\n";
    let checks = Checks::Only("acceptance_criteria".to_owned());
    let options = GatherOptions { checks, ..GatherOptions::default() };
    let gathered = gather(&policy(settings), fixture.site.clone(), &options).unwrap();
    let records: Vec<_> =
        gathered.evidence.iter().map(|record| (record.check.as_str(), record.outcome)).collect();
    assert_eq!(
        records,
        [
            ("acceptance_criteria", Outcome::Pass),
            ("clean_git", Outcome::Skipped),
            ("handoff", Outcome::Skipped),
        ]
    );
    assert_eq!(gathered.tree, Some(look(&fixture.site).unwrap()));
}

#[test]
fn outside_of_git_nothing_is_committed_or_uncommitted() {
    assert_eq!(is_uncommitted(&Fixture::plain().site).unwrap(), None);
    let fixture = Fixture::repository();
    assert_eq!(is_uncommitted(&fixture.site).unwrap(), Some(false));
    fixture.write("new", "");
    assert_eq!(is_uncommitted(&fixture.site).unwrap(), Some(true));
}
