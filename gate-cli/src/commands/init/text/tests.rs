//! The text that is written, and the policy that it means.

use std::collections::BTreeMap;
use std::time::Duration;

use gate_checks::project::{Aim, Detected, Proposal};
use gate_core::config::{Layer, Origin, resolve};
use gate_core::decide::evidence::Outcome;
use gate_core::decide::policy::{Mode, Policy, When};

use super::{Measured, settings};

fn proposal(check: &str, command: &[&str]) -> Proposal {
    Proposal {
        check: check.to_owned(),
        aim: Aim::Tests,
        tool: "pytest",
        command: command.iter().map(|&word| word.to_owned()).collect(),
        evidence: "a file".to_owned(),
        needs_tool: "python3".to_owned(),
        cwd: None,
        optional: false,
        is_missing: false,
        ci_minutes: None,
        quick: None,
    }
}

fn measured(outcome: Outcome, seconds: u64) -> Measured {
    Measured {
        outcome,
        duration: Duration::from_secs(seconds),
        summary: "3 passed".to_owned(),
        has_no_tests: false,
        has_no_start: false,
        is_over_limit: false,
        red_tests: Vec::new(),
    }
}

fn policy(text: &str) -> Policy {
    let layer = Layer::parse(Origin::Project("gate.toml".into()), text).expect(text);
    resolve(&[layer], None).expect(text).policy
}

/// The text for one proposal, and the policy that it means.
fn one(proposal: Proposal, measured: Option<Measured>) -> (String, Policy) {
    let times: BTreeMap<_, _> =
        measured.into_iter().map(|measured| (proposal.check.clone(), measured)).collect();
    let detected = Detected { proposals: vec![proposal], ..Detected::default() };
    let text = settings(&detected, &times);
    let policy = policy(&text);
    (text, policy)
}

#[test]
fn nothing_found_configures_no_check() {
    let text = settings(&Detected::default(), &BTreeMap::new());
    assert_eq!(policy(&text).checks.len(), 0, "{text}");
    assert!(text.contains("# No tests were found."), "{text}");
}

#[test]
fn a_check_is_written_as_it_was_proposed() {
    let odd = ["a b", "\"q\" \\ 'x'", "tab\tline\nend\u{7f}\u{1b}", "ü"];
    let proposal = Proposal { cwd: Some("fr ont\"".to_owned()), ..proposal("tests-a", &odd) };
    let (text, policy) = one(proposal, None);
    let check = &policy.checks["tests-a"];
    assert_eq!(check.command, odd, "{text}");
    assert_eq!(check.cwd.as_deref(), Some("fr ont\""));
    assert_eq!((check.mode, check.timeout_ms), (Mode::Require, 600_000));
    assert!(text.contains("# From a file.\n# Not timed.\n[checks.tests-a]"), "{text}");
}

#[test]
fn a_comment_cannot_become_a_setting() {
    let evidence = "x\n[checks.evil]\rcommand = [\"true\"]".to_owned();
    let (text, policy) = one(Proposal { evidence, ..proposal("tests", &["a"]) }, None);
    assert_eq!(policy.checks.keys().collect::<Vec<_>>(), ["tests"], "{text}");
}

#[test]
fn what_is_optional_is_only_mentioned() {
    let (text, policy) = one(Proposal { optional: true, ..proposal("lint", &["a"]) }, None);
    assert_eq!(policy.checks.len(), 0);
    assert!(text.contains("# [checks.lint]\n# command = [\"a\"]\n"), "{text}");
}

#[test]
fn a_slow_suite_stays_out_of_the_hook() {
    let (text, fast) = one(proposal("tests", &["pytest"]), Some(measured(Outcome::Pass, 60)));
    assert_eq!(fast.checks["tests"].when.len(), 3, "{text}");
    assert!(text.contains("# It passed in 1m0s: 3 passed.\n"), "{text}");

    let (text, slow) = one(proposal("tests", &["pytest"]), Some(measured(Outcome::Pass, 301)));
    assert_eq!(slow.checks["tests"].when, [When::Check, When::Run]);
    assert_eq!(slow.checks["tests"].timeout_ms, 16 * 60_000, "three times 301 s");
    assert!(text.contains("# [checks.tests-quick]\n"), "{text}");
    assert!(text.contains("# command = [\"pytest\", \"-m\", \"not slow\"]\n"), "{text}");
}

#[test]
fn a_suite_is_not_written_with_a_limit_that_ends_it() {
    let over = || Some(Measured { is_over_limit: true, ..measured(Outcome::Inconclusive, 600) });
    let off = Proposal { optional: true, ..proposal("tests", &["pytest"]) };
    let (text, policy) = one(off, over());
    assert_eq!(policy.checks.len(), 0, "{text}");
    let sentence = "# It did not end within 10 minutes. Name a part of it that does, or raise";
    assert!(text.contains(sentence), "{text}");

    let hour = Proposal { ci_minutes: Some(60), ..proposal("tests", &["pytest"]) };
    let (text, policy) = one(hour.clone(), over());
    assert_eq!(policy.checks["tests"].timeout_ms, 60 * 60_000, "{text}");
    assert_eq!(policy.checks["tests"].when, [When::Check, When::Run]);
    let (text, policy) = one(hour.clone(), None);
    assert_eq!(policy.checks["tests"].timeout_ms, 60 * 60_000);
    assert!(text.contains("# Not timed. CI gives it 60 minutes.\n"), "{text}");
    let (_, policy) = one(hour, Some(measured(Outcome::Pass, 6)));
    assert_eq!(policy.checks["tests"].timeout_ms, 600_000, "its own time is known");
}

#[test]
fn what_did_not_pass_is_written_all_the_same() {
    let (text, policy) = one(proposal("tests", &["a"]), Some(measured(Outcome::Fail, 2)));
    assert!(text.contains("# It failed in 2.0s: 3 passed.\n"), "{text}");
    assert_eq!(policy.checks.len(), 1);
    let (text, _) = one(proposal("tests", &["a"]), Some(measured(Outcome::Inconclusive, 0)));
    assert!(text.contains("# It could not run: 3 passed.\n"), "{text}");
}

#[test]
fn repositories_and_plans_have_checks_of_their_own() {
    let criteria = vec!["fix_plan.md".to_owned(), "specs/*/tasks.md".to_owned()];
    let detected = Detected { repository: true, criteria: criteria.clone(), ..Detected::default() };
    let policy = policy(&settings(&detected, &BTreeMap::new()));
    assert_eq!(policy.checks["clean_git"].mode, Mode::Count);
    assert_eq!(policy.checks["acceptance_criteria"].files, criteria);
}
