//! Surroundings of the changed files, and what the check says of real repositories.

mod installed;

use std::path::Path;

use gate_core::config::{self, Layer, Origin};
use gate_core::integrity::{CRITERION, Examiner, Surroundings};

use super::context::project_context;
use super::*;
use crate::cancellation::{CancelReason, Cancellation, Grace};
use crate::check::GatherOptions;
use crate::scripts::named_scripts;
use crate::worktree::tests::fixture::Fixture;

fn policy(toml: &str) -> Policy {
    let layer = Layer::parse(Origin::Project("gate.toml".into()), toml).unwrap();
    config::resolve(&[layer], None).unwrap().policy
}

fn take(fixture: &Fixture, policy: &Policy) -> Baseline {
    Baseline::take(policy, &fixture.site, "2026-01-02T03:04:05Z").unwrap().unwrap()
}

#[test]
fn dependencies_and_targets_are_those_of_the_baseline_in_the_folders_that_run() {
    let fixture = Fixture::repository();
    let makefile = "test:\n\tpytest\nrelease:\n\ttrue\ndocs:\n\ttrue\n";
    fixture.write("Makefile", makefile);
    fixture.write("requirements.txt", "pyyaml==6\n");
    fixture.write("app/Makefile", makefile);
    fixture.write("app/requirements.txt", "requests\n");
    fixture.write("other/requirements.txt", "unseen\n");
    fixture.commit();
    let settings = "[checks.docs]\ncommand = [\"make\", \"docs\"]\ncwd = \"app\"\n[checks.gone]\ncommand = [\"true\"]\ncwd = \"not-there\"\n";
    let policy = policy(settings);
    let baseline = take(&fixture, &policy);
    fixture.write("requirements.txt", "later\n");
    fixture.remove("app/Makefile");
    let tree = WorkTree::open(&fixture.site).unwrap();
    let around = project_context(&policy, &fixture.site, &tree, &baseline.reader(&tree).unwrap());
    assert_eq!(around.folders, ["", "app"]);
    assert_eq!(around.dependencies, ["pyyaml", "requests"]);
    let targets: Vec<_> =
        around.targets.iter().map(|target| format!("{}:{}", target.folder, target.name)).collect();
    assert_eq!(targets, [":docs", ":test", "app:docs", "app:test"].map(str::to_owned));
}

#[test]
fn scripts_are_named_from_the_root_of_the_tree() {
    let fixture = Fixture::repository();
    fixture.write("app/x", "");
    let tree = WorkTree::open(&fixture.site).unwrap();
    let named = |command: &str, more: &str| {
        let settings = format!("[checks.a]\ncommand = {command}\n{more}\n");
        let found = named_scripts(&policy(&settings), &fixture.site, &tree);
        found.into_iter().map(|path| path.display().to_string()).collect::<Vec<_>>()
    };
    assert_eq!(named("[\"sh\", \"ci/a.sh\"]", ""), ["ci/a.sh"]);
    assert_eq!(named("[\"./run\", \"x\"]", "cwd = \"app\""), ["app/run"]);
    assert_eq!(named("[\"bash\", \"../ci/a.sh\"]", "cwd = \"app\""), ["ci/a.sh"]);
    assert_eq!(named("[\"bash\", \"../../a.sh\"]", "cwd = \"app\""), [""; 0]);
    assert_eq!(named("[\"/bin/sh\", \"/etc/a.sh\"]", ""), [""; 0]);
    let shell = "[\"set -e; (./b.sh && python3 c.py)|./a.sh\"]";
    assert_eq!(named(shell, "shell = true"), ["a.sh", "b.sh", "c.py"]);
    assert_eq!(named("[\"cargo\", \"test\"]", ""), [""; 0]);
}

/// The messages about items of a plan that are gone, with their lines.
#[track_caller]
fn check_gone(before: &str, now: Option<&str>, expected: &[(&str, usize)]) {
    let around = Surroundings::default();
    let rules =
        policy("[checks.acceptance_criteria]\nfiles = [\"plan.md\"]\noptional = [\"Later\"]\n");
    let rules = &rules.checks["acceptance_criteria"];
    let mut examiner = Examiner::new(&around);
    let now = now.map(str::as_bytes);
    compare::report_lost_items("plan.md", before.as_bytes(), now, rules, &mut examiner);
    let findings = examiner.finish();
    let found: Vec<_> =
        findings.iter().map(|finding| (finding.message.as_str(), finding.line)).collect();
    let messages: Vec<_> =
        expected.iter().map(|(item, _)| format!("{}: {item}", CRITERION.message)).collect();
    let expected: Vec<_> = messages
        .iter()
        .map(String::as_str)
        .zip(expected.iter().map(|(_, line)| Some(*line)))
        .collect();
    assert_eq!(found, expected);
}

#[test]
fn an_item_of_a_plan_may_be_ticked_and_moved_and_not_be_gone() {
    let plan = "# Plan\n- [ ] one\n- [x] two\n- [ ] two\n";
    check_gone(plan, Some(plan), &[]);
    check_gone(plan, Some("- [x] two\n- [x] one\n- [x] more\n- [x] two\n"), &[]);
    check_gone(plan, Some("- [x] two\n- [x] one\n"), &[("two", 4)]);
    check_gone(plan, Some("- [ ] one, later\n- [x] two\n- [x] two\n"), &[("one", 2)]);
    check_gone(plan, None, &[("one", 2), ("two", 3), ("two", 4)]);
    check_gone("nothing to do\n", None, &[]);
}

#[test]
fn an_item_may_not_be_made_optional() {
    let plan = "# Plan\n- [ ] one\n- [ ] two\n## Later\n- [ ] three\n";
    let settings = "[checks.acceptance_criteria]\nfiles = [\"plan.md\"]\noptional = [\"Later\"]\n";
    let edited = |now: &str| {
        let before = plan.to_owned();
        let fixture = Fixture::empty();
        fixture.write("plan.md", &before);
        fixture.commit();
        let policy = policy(&format!("[checks.integrity]\n{settings}"));
        let baseline = take(&fixture, &policy);
        fixture.write("plan.md", now);
        rules(&evidence(&fixture, &policy, Some(baseline), &Cancellation::default()))
    };
    let found = [format!("{}: plan.md", CRITERION.id)];
    assert_eq!(edited("# Plan\n- [x] one\n## Later\n- [ ] two\n- [ ] three\n"), found);
    assert_eq!(
        edited("# Later\n- [ ] one\n- [ ] two\n- [ ] three\n"),
        [&found[..], &found].concat()
    );
    assert_eq!(edited("# Plan\n- [x] three\n- [x] one\n- [x] two\n## Later\n"), [""; 0]);
}

#[test]
fn a_link_in_place_of_a_source_is_a_finding() {
    let evidence = examined("", |fixture| {
        fixture.write("src/c.py", "def g(a):\n    return a\n");
        gate_platform::symlink("c.py", fixture.site.project.join("src/a.py")).unwrap();
    });
    let unseen = format!("{}: src/a.py", gate_core::integrity::UNSEEN.id);
    assert!(rules(&evidence).contains(&unseen), "{}", evidence.summary);
}

/// The evidence after a change of a committed project.
fn examined(settings: &str, change: impl FnOnce(&Fixture)) -> Evidence {
    let fixture = Fixture::empty();
    fixture.write("tests/test_a.py", "def test_a():\n    assert f(2) == 4\n");
    fixture.write("plan.md", "- [ ] double\n");
    fixture.commit();
    let text = format!("[checks.integrity]\n{settings}");
    let layer = Layer::parse(Origin::Project("gate.toml".into()), &text).unwrap();
    let policy = config::resolve(&[layer], None).unwrap().policy;
    let baseline = take(&fixture, &policy);
    change(&fixture);
    evidence(&fixture, &policy, Some(baseline), &Cancellation::default())
}

fn evidence(
    fixture: &Fixture,
    policy: &Policy,
    baseline: Option<Baseline>,
    cancel: &Cancellation,
) -> Evidence {
    let options = GatherOptions { baseline, cancel: cancel.clone(), ..GatherOptions::default() };
    let tree = Arc::new(fixture.snapshot());
    let cx = CheckContext::new(policy, &fixture.site, tree, None, options);
    Integrity::new(CheckId::new("integrity"), policy).compare_tree(&cx)
}

/// The rules of the findings, with their files.
fn rules(evidence: &Evidence) -> Vec<String> {
    let findings = evidence.detail.as_ref().unwrap()["findings"].as_array().unwrap();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    findings.iter().map(|one| format!("{}: {}", text(&one["rule"]), text(&one["file"]))).collect()
}

#[test]
fn without_a_baseline_there_is_nothing_to_compare_with() {
    let fixture = Fixture::plain();
    let evidence = evidence(&fixture, &policy(""), None, &Cancellation::default());
    assert_eq!((evidence.outcome, evidence.detail), (Outcome::Inconclusive, None));
    assert!(
        evidence.summary.contains("not in a git repository (`git init`)"),
        "{}",
        evidence.summary
    );
}

#[test]
fn a_comparison_that_nobody_waits_for_is_inconclusive() {
    let fixture = Fixture::repository();
    let policy = policy("");
    let baseline = take(&fixture, &policy);
    fixture.write("a", "later\n");
    let cancelled = Cancellation::default();
    cancelled.cancel(CancelReason::Unwanted, Grace::Usual);
    let evidence = evidence(&fixture, &policy, Some(baseline), &cancelled);
    assert_eq!(evidence.outcome, Outcome::Inconclusive);
}

#[test]
fn work_on_sources_passes_and_its_files_are_counted() {
    let evidence = examined("", |fixture| {
        fixture.write("src/b", "later\n");
        fixture.write("src/new.py", "def f(a):\n    return a * 2\n");
    });
    assert_eq!((evidence.outcome, rules(&evidence)), (Outcome::Pass, Vec::new()));
    assert_eq!(evidence.detail.unwrap()["files"], 2);
}

#[test]
fn a_source_that_is_too_large_to_be_read_is_a_finding() {
    let large = "#".repeat((4 << 20) + 1);
    let evidence = examined("", |fixture| {
        fixture.write("src/large.py", &large);
    });
    let unseen = format!("{}: src/large.py", gate_core::integrity::UNSEEN.id);
    assert_eq!(rules(&evidence), [unseen]);
}

#[test]
fn a_plan_that_a_check_reads_may_lose_no_item() {
    let settings = "[checks.acceptance_criteria]\nfiles = [\"*.md\"]\n";
    let lose = |fixture: &Fixture| fixture.write("plan.md", "- [x] another\n");
    let found = [format!("{}: plan.md", CRITERION.id)];
    assert_eq!(rules(&examined(settings, lose)), found);
    assert_eq!(rules(&examined("", lose)), [""; 0]);
    assert_eq!(rules(&examined(settings, |fixture| fixture.remove("plan.md"))), found);
}

#[test]
fn what_the_operator_allows_is_told_with_its_reason_and_decides_nothing() {
    let settings = "[checks.acceptance_criteria]\nfiles = [\"*.md\"]\n[[integrity.allow]]\npath = \"plan.md\"\nreason = \"a new plan\"\n";
    let evidence = examined(settings, |fixture| fixture.remove("plan.md"));
    assert_eq!((evidence.outcome, rules(&evidence)), (Outcome::Pass, Vec::new()));
    let detail = evidence.detail.unwrap();
    assert_eq!(detail["totals"]["allowed"], 1);
    assert_eq!(detail["allowed"][0]["reason"], "a new plan");
}

#[test]
fn an_unchanged_tree_is_no_finding() {
    let unchanged = examined("", |_| ());
    assert_eq!((unchanged.outcome, rules(&unchanged)), (Outcome::Pass, Vec::new()));
    let fixture = Fixture::repository();
    let from_history =
        Baseline::from_history(&fixture.site, "2026-01-02T03:04:05Z").unwrap().unwrap();
    let evidence = evidence(&fixture, &policy(""), Some(from_history), &Cancellation::default());
    assert_eq!((evidence.outcome, rules(&evidence)), (Outcome::Pass, Vec::new()));
    assert!(evidence.summary.starts_with("nothing was compared: "), "{}", evidence.summary);
}
