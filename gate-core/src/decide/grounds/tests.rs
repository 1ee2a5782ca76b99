//! The grounds of an exit, in the order and the words of its first line.

use serde_json::{Value, json};

use super::*;
use crate::config::{Layer, Origin, resolve};
use crate::decide::decision::decide;
use crate::decide::evidence::Outcome;
use crate::decide::input::Input;
use crate::decide::policy::Mode;
use crate::decide::signal::{Signal, Status};

fn passed(check: &str, detail: Value) -> Evidence {
    Evidence::new(check, Mode::Require, Outcome::Pass).with_detail(detail)
}

fn criteria(check: &str, states: &[&str]) -> Evidence {
    let list: Vec<_> = states.iter().map(|state| json!({ "state": state })).collect();
    passed(check, json!({ "criteria": list }))
}

fn old(passed: u64, allowed: &[&str]) -> Value {
    json!({ "baseline": { "passed": passed, "allowed": allowed } })
}

fn exit(evidence: Vec<Evidence>) -> Decision {
    let text = "exit_gate.indicator_threshold = 0\n";
    let layer = Layer::parse(Origin::Project("gate.toml".into()), text).unwrap();
    let signal = Signal { status: Status::Complete, ..Signal::absent() };
    let input = Input { evidence, ..Input::new(signal, Vec::new()) };
    let decision = decide(&input, &resolve(&[layer], None).unwrap().policy);
    assert_eq!(decision.verdict, Verdict::Exit);
    decision
}

#[track_caller]
fn check(evidence: Vec<Evidence>, line: &str, kinds: &[GroundKind]) {
    let decision = exit(evidence);
    let grounds = decision.rests_on();
    let ground_kinds: Vec<_> = grounds.iter().map(|ground| ground.kind).collect();
    assert_eq!((in_words(&grounds).as_str(), ground_kinds.as_slice()), (line, kinds));
    assert!(ground_kinds.is_sorted(), "the strongest first: {ground_kinds:?}");
    assert_eq!(decision.cause(), line);
}

#[test]
fn the_strongest_ground_comes_first() {
    let sealed = json!({ "outcome": "passed", "passed": 12, "total": 12 });
    let mut tests = old(40, &[]);
    tests["sealed"] = sealed;
    tests["written_first"] = json!(3);
    let all = vec![
        passed("lint", Value::Null),
        passed("smoke", Value::Null),
        passed("tests", json!({ "tests": tests })),
        criteria(CRITERIA, &["met", "met"]),
        criteria("goal", &["met"]),
    ];
    let line = "the goal is met, criteria met 2 of 2, sealed 12 of 12, tests written first 3, \
                old tests 40 of 40, 1 more check passed";
    let kinds = [
        GroundKind::Goal,
        GroundKind::Criteria,
        GroundKind::Sealed,
        GroundKind::TestsFirst,
        GroundKind::OldTests,
        GroundKind::Checks,
    ];
    check(all, line, &kinds);
}

#[test]
fn each_ground_is_told_in_its_own_words() {
    let tests = |detail: Value| passed("tests", json!({ "tests": detail }));
    check(
        vec![criteria(CRITERIA, &["met", "claimed"])],
        "criteria met 1 of 2 (1 only claimed)",
        &[GroundKind::Criteria],
    );
    check(vec![criteria("goal", &["met", "met"])], "goals met 2 of 2", &[GroundKind::Goal]);
    // The settings have a check of this name, and a person gave a goal beside.
    let beside = vec![passed("goal", Value::Null), criteria("goal_of_person", &["met"])];
    let kinds = [GroundKind::Goal, GroundKind::Checks];
    check(beside, "the goal is met, 1 more check passed", &kinds);
    check(vec![tests(old(7, &["a"]))], "old tests 7 of 8 (1 approved)", &[GroundKind::OldTests]);
    let mut superseded = old(7, &["a"]);
    superseded["baseline"]["superseded"] = json!(["b"]);
    let line = "old tests 7 of 9 (1 approved, 1 superseded)";
    check(vec![tests(superseded)], line, &[GroundKind::OldTests]);
    let mut edited = old(7, &[]);
    edited["overlaid"] = json!(["a.py", "b.py"]);
    let line = "old tests 7 of 7 (edited: a.py and 1 more)";
    check(vec![tests(edited)], line, &[GroundKind::OldTests]);
    let new = vec![tests(old(0, &[])), passed("lint", Value::Null)];
    check(new, "2 checks passed", &[GroundKind::Checks]);
    let hidden = json!({ "sealed": { "outcome": "passed", "passed": null, "total": null } });
    check(vec![tests(hidden)], "sealed tests pass", &[GroundKind::Sealed]);
    let linted = vec![passed("lint", Value::Null), passed("clean_git", Value::Null)];
    let line = "no check of behaviour: only lint, clean_git passed";
    check(linted, line, &[GroundKind::NoBehaviour]);
    check(Vec::new(), "the agent's word alone", &[GroundKind::Word]);
}

#[test]
fn what_does_not_pass_is_no_ground() {
    let mut failed = criteria(CRITERIA, &["met", "not-met"]);
    (failed.outcome, failed.mode) = (Outcome::Fail, Mode::Warn);
    check(vec![failed, passed("smoke", Value::Null)], "1 check passed", &[GroundKind::Checks]);
    let mut noted = criteria(CRITERIA, &["met"]);
    noted.mode = Mode::Warn;
    check(vec![noted], "the agent's word alone", &[GroundKind::Word]);
}

#[test]
fn only_an_exit_has_grounds() {
    let forced = Decision { forced: true, ..exit(vec![passed("smoke", Value::Null)]) };
    assert_eq!(in_words(&forced.rests_on()), "the operator's word");
    let refused = Decision { verdict: Verdict::Continue, ..forced };
    assert_eq!(refused.rests_on(), []);
}
