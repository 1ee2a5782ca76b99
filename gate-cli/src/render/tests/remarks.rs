//! Messages of hooks, and the place of a failure.

use gate_core::integrity::Finding;
use serde_json::{Value, json};

use super::super::findings::{finding_line, findings};
use super::super::{let_go, message, released};
use crate::failure::Failure;
use crate::tests::decision;

fn finding(file: &str, line: Option<usize>, excerpt: &str) -> Finding {
    let value = json!({
        "rule": "skip", "severity": "warn", "file": file, "line": line, "excerpt": excerpt,
        "message": "a test is skipped", "hint": "run it",
    });
    serde_json::from_value(value).unwrap()
}

fn reasons(texts: &[&str]) -> Value {
    texts.iter().map(|text| json!({ "code": "released", "message": text })).collect()
}

#[test]
fn a_stop_that_was_let_go_says_what_is_missing() {
    let decided = json!({ "verdict": "tripped", "reasons": reasons(&["a\nb", "c\u{1b}[2J"]) });
    let expected = "gate let codex stop, NOT done: a b; c; next: ";
    let rest = "`gate last` shows the decision";
    assert_eq!(let_go("codex", &decision(&decided)), format!("{expected}{rest}"));
    let mut decided = decided;
    decided["next"] = "look at the tests".into();
    assert_eq!(let_go("codex", &decision(&decided)), format!("{expected}look at the tests"));
}

#[test]
fn a_release_says_what_was_seen() {
    for (seen, expected) in [
        (json!("green"), "gate: tests pass"),
        (json!("red"), "gate let qwen stop, NOT done: tests pass; `gate last` shows the failures"),
        (json!("not-run"), "gate let qwen stop, not checked: tests pass"),
        (Value::Null, "gate let qwen stop, not checked: tests pass"),
    ] {
        let decided = json!({ "released": seen, "reasons": reasons(&["tests pass"]) });
        assert_eq!(released("qwen", &decision(&decided)), expected);
    }
}

#[test]
fn a_finding_names_its_place_and_its_text_as_far_as_there_are_any() {
    for (finding, expected) in [
        (finding("t.rs", Some(3), "#[ignore]"), "t.rs:3: #[ignore] (skip: run it)"),
        (finding("t.rs", None, ""), "t.rs: a test is skipped (skip: run it)"),
        (finding(".", None, ""), "the work tree: a test is skipped (skip: run it)"),
        (finding("", None, "x"), "x (skip: run it)"),
    ] {
        assert_eq!(finding_line(&finding), expected);
    }
}

#[test]
fn findings_are_those_of_the_check_integrity_alone() {
    let found = json!({ "findings": [finding("a", None, ""), 7], "allowed": "none" });
    let evidence = json!([
        { "check": "integrity", "mode": "warn", "outcome": "fail", "detail": found },
        { "check": "plugin", "mode": "warn", "outcome": "fail", "detail": found },
        { "check": "integrity", "mode": "warn", "outcome": "skipped", "detail": { "findings": {} } },
    ]);
    let decided = decision(&json!({ "evidence": evidence }));
    let (found, allowed) = findings(&decided.input.evidence);
    assert_eq!(found, [finding("a", None, "")]);
    assert_eq!(allowed.len(), 0);
}

#[test]
fn a_file_stands_before_a_message_that_does_not_name_it() {
    let failure = Failure::usage("x", "expected a number");
    let in_file = Failure { file: Some("gate.toml".to_owned()), ..failure.clone() };
    let keyed = Failure { key: Some("jobs".to_owned()), ..in_file.clone() };
    let keyless = Failure { file: None, ..keyed.clone() };
    assert_eq!(message(&failure), "expected a number");
    assert_eq!(message(&in_file), "expected a number");
    assert_eq!(message(&keyed), "gate.toml: expected a number");
    assert_eq!(message(&keyless), "expected a number");
}
