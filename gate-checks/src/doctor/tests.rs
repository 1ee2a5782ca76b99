//! Examinations and self-tests of small projects that need no tool but a shell
//! and git.

mod surroundings;

use std::fs;
use std::path::Path;

use gate_core::config::{self, Layer, Origin};
use gate_core::decide::policy::Policy;
use tempfile::TempDir;

use super::{Level, Proof, SelfTestOutcome, examine, self_test};
use crate::copy::commit_all;
use crate::event::Events;
use crate::site::{CheckSite, HandoffProblem};
use crate::worktree::WorkTree;

/// The policy of these settings.
pub(super) fn policy(toml: &str) -> Policy {
    let layer = Layer::parse(Origin::Project("gate.toml".into()), toml).unwrap();
    config::resolve(&[layer], None).unwrap().policy
}

fn site(folder: &Path) -> CheckSite {
    let environment = std::env::vars().filter(|(name, _)| name == "PATH" || name == "HOME");
    CheckSite {
        environment: environment.collect(),
        handoff_reader: Some(missing_scope),
        ..CheckSite::new(folder)
    }
}

/// Stands for a reader of handoffs: it misses one field alone.
fn missing_scope(text: &str) -> Vec<HandoffProblem> {
    let problem = HandoffProblem {
        rule: None,
        field: "in_scope".to_owned(),
        message: "it is missing".to_owned(),
        text: "in_scope: it is missing".to_owned(),
    };
    if text.contains("\n- in_scope: ") { Vec::new() } else { vec![problem] }
}

/// A repository with these files, all committed.
fn project(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let file = folder.path().join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }
    commit_all(folder.path(), &site(folder.path()), Path::new("/nowhere")).unwrap();
    folder
}

/// The proof of the only check; the tree is the same afterwards.
#[track_caller]
fn proof(settings: &str, files: &[(&str, &str)]) -> Proof {
    let project = project(files);
    let site = site(project.path());
    let digest = || WorkTree::open(&site).unwrap().snapshot().unwrap();
    let before = digest();
    let mut proofs = self_test(&policy(settings), &site, None, Events::nobody()).unwrap();
    assert_eq!(proofs.len(), 1);
    assert_eq!(before, digest(), "the real tree was touched");
    proofs.remove(0)
}

#[track_caller]
fn shows(settings: &str, files: &[(&str, &str)], outcome: SelfTestOutcome, part: &str) {
    let proof = proof(settings, files);
    assert_eq!(proof.outcome, outcome, "{}", proof.account);
    assert!(proof.account.contains(part), "{}", proof.account);
}

#[test]
fn broken_sources_fail_a_check_that_reads_them() {
    let settings = "[checks.lint]\ncommand = [\"sh\", \"-n\", \"a.sh\"]\n";
    let files = [("a.sh", "echo a\n")];
    shows(settings, &files, SelfTestOutcome::CanFail, "a syntax error in the only source file");
}

#[test]
fn a_check_that_passes_with_broken_sources_cannot_fail() {
    let settings = "[checks.lint]\nshell = true\ncommand = [\"sh -n a.sh || true\"]\n";
    shows(settings, &[("a.sh", "echo a\n")], SelfTestOutcome::CannotFail, "passed all the same");
}

#[test]
fn a_check_of_something_else_is_not_accused() {
    let files = [("a.sh", "echo a\n"), ("data.json", "{}")];
    let settings = "[checks.data]\nshell = true\ncommand = ['test $(wc -l <data.json) = 0']\n";
    shows(settings, &files, SelfTestOutcome::NotShown, "it may look at others");
}

#[test]
fn nothing_is_shown_by_what_fails_or_gives_no_answer_anyway() {
    let files = [("a.sh", "echo a\n")];
    let settings = "[checks.lint]\ncommand = [\"false\"]\n";
    shows(settings, &files, SelfTestOutcome::NotShown, "it fails as it is: exit code 1");
    let settings = "[checks.lint]\ncommand = [\"no-such-program\"]\n";
    shows(settings, &files, SelfTestOutcome::NotShown, "was inconclusive");
    let settings = "[checks.lint]\ncommand = [\"true\"]\n";
    shows(settings, &[("a.txt", "")], SelfTestOutcome::NotShown, "no source file");
}

#[test]
fn what_is_asked_is_not_tested() {
    shows("[checks.audit]\n", &[("a", "")], SelfTestOutcome::NotShown, "a plug-in is asked");
    let review = "[checks.review]\ncommand = [\"true\"]\n";
    shows(review, &[("a", "")], SelfTestOutcome::NotShown, "a reviewer is asked");
}

#[test]
fn a_command_that_names_the_real_tree_runs_in_the_copy() {
    let project = project(&[("a.sh", "echo a\n")]);
    let file = project.path().canonicalize().unwrap().join("a.sh");
    let settings = format!("[checks.lint]\ncommand = [\"sh\", \"-n\", {file:?}]\n");
    let site = site(project.path());
    let proofs = self_test(&policy(&settings), &site, None, Events::nobody()).unwrap();
    assert_eq!(proofs[0].outcome, SelfTestOutcome::CanFail, "{}", proofs[0].account);
}

#[test]
fn open_items_fail_in_every_format() {
    for (file, text) in [
        ("TASKS.md", "- [x] one\n"),
        ("prd.json", r#"{"userStories":[{"id":"a","passes":true}]}"#),
        ("issues.jsonl", "{\"id\":\"a\",\"status\":\"closed\"}\n"),
        ("TASKS.md", "- [ ] open already\n"),
    ] {
        let settings = format!("[checks.acceptance_criteria]\nfiles = [{file:?}]\n");
        shows(&settings, &[(file, text)], SelfTestOutcome::CanFail, "an open item more");
    }
}

#[test]
fn criteria_that_are_not_there_show_nothing() {
    let settings = "[checks.acceptance_criteria]\nfiles = [\"TASKS.md\"]\n";
    shows(settings, &[("a", "")], SelfTestOutcome::NotShown, "none of its files");
}

#[test]
fn a_handoff_that_says_nothing_fails() {
    let settings = "[checks.handoff]\nfiles = [\"HANDOFF.md\"]\n";
    let whole = "## Handoff\n- objective: a\n- in_scope: a\n- out_of_scope: b\n- changed_files: src/c\n\
                 - verification: `make` -> PASS\n- open_risks: d, e, f\n- next_actions:\n  1. g\n\
                 - assumptions: h\n";
    for (files, how) in [
        (vec![("HANDOFF.md", whole)], "it failed with HANDOFF.md emptied"),
        (vec![("HANDOFF.md", "- objective: a\n")], "it fails as it is: HANDOFF.md, in_scope"),
        (vec![("a", "")], "it fails as it is: HANDOFF.md: no such file"),
    ] {
        shows(settings, &files, SelfTestOutcome::CanFail, how);
    }
}

#[test]
fn a_handoff_that_nobody_reads_is_not_judged() {
    let project = project(&[("HANDOFF.md", "## Handoff\n")]);
    let policy = policy("[checks.handoff]\nfiles = [\"HANDOFF.md\"]\n");
    let site = CheckSite { handoff_reader: None, ..site(project.path()) };
    let proofs = self_test(&policy, &site, None, Events::nobody()).unwrap();
    assert_eq!(proofs[0].outcome, SelfTestOutcome::NotShown, "{}", proofs[0].account);
}

#[test]
fn one_check_can_be_asked_for() {
    let project = project(&[("a", "")]);
    let policy = policy("[checks.a]\n[checks.b]\n");
    let proofs = self_test(&policy, &site(project.path()), Some("b"), Events::nobody()).unwrap();
    assert_eq!(proofs.iter().map(|proof| proof.check.as_str()).collect::<Vec<_>>(), ["b"]);
}

#[test]
fn a_log_is_kept_where_there_is_state() {
    let (project, state) = (project(&[("a.sh", "echo a\n")]), tempfile::tempdir().unwrap());
    let site = CheckSite { state: Some(state.path().to_owned()), ..site(project.path()) };
    let policy = policy("[checks.lint]\nshell = true\ncommand = [\"echo whatever\"]\n");
    let proofs = self_test(&policy, &site, None, Events::nobody()).unwrap();
    assert_eq!(proofs[0].outcome, SelfTestOutcome::CannotFail, "{}", proofs[0].account);
    let log = fs::read_to_string(proofs[0].log.as_ref().unwrap()).unwrap();
    assert!(log.contains("whatever"), "{log}");
}

/// The codes of the findings that are no praise.
fn codes(settings: &str, files: &[(&str, &str)]) -> Vec<String> {
    let project = project(files);
    let found = examine(&policy(settings), &site(project.path()));
    let bad = found.into_iter().filter(|finding| finding.level != Level::Ok);
    bad.map(|finding| finding.code).collect()
}

#[test]
fn findings_say_what_is_wrong() {
    let files = [("run.sh", "exit 0\n"), ("src/a.py", "")];
    #[track_caller]
    fn check(settings: &str, files: &[(&str, &str)], expected: &[&str]) {
        assert_eq!(codes(settings, files), expected, "{settings}");
    }
    check("", &files, &["no-checks"]);
    check("[checks.a]\ncommand = [\"true\"]\n", &files, &[]);
    check("[checks.a]\ncommand = [\"no-such-program\"]\n", &files, &["program-missing"]);
    check("[checks.a]\ncommand = [\"./run.sh\"]\n", &files, &["program-missing"]);
    check("[checks.a]\ncommand = [\"true\"]\ncwd = \"gone\"\n", &files, &["folder-missing"]);
    check("[checks.tests]\n", &[("a", "")], &["command-missing"]);
    check("[checks.audit]\n", &files, &["program-missing"]);
    let unchecked = "tests-unchecked";
    check("[checks.integrity]\n", &files, &[unchecked]);
    let review = "[checks.review]\nmode = \"require\"\ncommand = [\"true\"]\n";
    check(review, &files, &[unchecked]);
    check("[checks.handoff]\n", &files, &[unchecked, "handoff-unknown"]);
    check("[checks.handoff]\nfiles = [\"HANDOFF.md\"]\n", &files, &[unchecked]);
    let no_match = [unchecked, "glob-matches-nothing"];
    check("[checks.clean_git]\nignore = [\"*.log\"]\n", &files, &no_match);
    check("[checks.clean_git]\nignore = [\"src\"]\n", &files, &[unchecked]);
    check("[checks.clean_git]\nignore = [\"../x\"]\n", &files, &[unchecked, "glob-invalid"]);
    let criteria = "[checks.acceptance_criteria]\nfiles = [\"T.md\"]\n";
    check(criteria, &files, &[unchecked, "criteria-unknown"]);
    let unreachable = "[exit_gate]\nindicator_threshold = 9000\n[checks.a]\ncommand = [\"true\"]\n";
    check(unreachable, &files, &["threshold-unreachable"]);
}

#[test]
fn a_program_of_the_work_is_told() {
    use gate_platform::PermissionsExt;
    let project = project(&[("run.sh", "exit 0\n")]);
    let run = project.path().join("run.sh");
    fs::set_permissions(run, fs::Permissions::from_mode(0o755)).unwrap();
    let found = examine(&policy("[checks.a]\ncommand = [\"./run.sh\"]\n"), &site(project.path()));
    assert!(found.iter().any(|finding| finding.code == "program-in-tree"), "{found:?}");
}
