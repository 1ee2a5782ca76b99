//! The seed's JSON, rewritten.

use super::resolved;
use crate::config::{Imported, import};
use crate::decide::pattern::Matcher;
use crate::decide::policy::{Mode, Policy, Spelling, Threshold};

const SEED: &str = r#"{
  "exit_gate": {
    "enabled": true,
    "indicator_threshold": 2,
    "require_explicit_signal": true,
    "evidence_checks": {
      "tests": true,
      "build": false,
      "acceptance_criteria": true,
      "clean_git": false
    },
    "patterns": [
      "<promise>COMPLETE</promise>",
      "all tasks completed",
      "ready for review"
    ]
  }
}"#;

fn imported(json: &str) -> (Imported, Policy) {
    let imported = import("gate.json", json).unwrap();
    let policy = resolved(&imported.toml).policy;
    (imported, policy)
}

/// The error of a JSON text, as one line without the file's name.
fn check(json: &str, expected: &str) {
    let error = import("gate.json", json).expect_err(json);
    assert_eq!(error.to_string(), format!("gate.json:{expected}"), "{json}");
}

#[test]
fn the_seeds_example_keeps_its_formula() {
    let (imported, policy) = imported(SEED);
    assert_eq!(policy.exit_gate.threshold, Threshold::Fixed(2));
    assert!(policy.exit_gate.enabled && policy.exit_gate.require_explicit_signal);
    assert_eq!(policy.signal.accept, [Spelling::ExitStatus]);
    let names: Vec<_> = policy.checks.keys().map(String::as_str).collect();
    assert_eq!(names, ["acceptance_criteria", "tests"]);
    assert!(
        policy.checks.values().all(|check| check.mode == Mode::Count && check.command.is_empty())
    );
    let patterns: Vec<_> =
        policy.patterns.iter().map(|pattern| (pattern.id.as_str(), &pattern.matcher)).collect();
    let regex = |text: &str| Matcher::Regex(text.to_owned());
    assert_eq!(
        patterns,
        [
            ("promise-complete-promise", &regex("<promise>COMPLETE</promise>")),
            ("all-tasks-completed", &regex("all tasks completed")),
            ("ready-for-review", &regex("ready for review")),
        ]
    );
    assert!(policy.patterns.iter().all(|pattern| pattern.weight == 1 && pattern.unless.is_empty()));
    assert!(imported.toml.contains("#command = [\"cargo\", \"test\"]\n"));
    assert!(imported.notes[0].starts_with("checks.tests has no command yet"));
}

#[test]
fn silence_means_the_seeds_defaults() {
    let (imported, policy) = imported(r#"{"exit_gate":{}}"#);
    assert_eq!(policy.exit_gate.threshold, Threshold::Fixed(2));
    assert_eq!((policy.patterns.len(), policy.checks.len()), (6, 0));
    assert!(policy.patterns.iter().all(|pattern| pattern.pack == "seed"));
    assert!(imported.toml.contains("indicator_threshold = 2\n"));
    assert!(imported.notes.iter().any(|note| note.contains("no evidence")));
}

#[test]
fn patterns_keep_their_text_and_get_names() {
    let (_, policy) = imported(
        r#"{"exit_gate":{"patterns":["a\\.b \"c\"","a.b c","  done\t'x'","…","\u00e9t\u00e9 fini"]}}"#,
    );
    let found: Vec<_> =
        policy.patterns.iter().map(|pattern| (pattern.id.as_str(), &pattern.matcher)).collect();
    let regex = |text: &str| Matcher::Regex(text.to_owned());
    assert_eq!(
        found,
        [
            ("a-b-c", &regex("a\\.b \"c\"")),
            ("a-b-c-2", &regex("a.b c")),
            ("done-x", &regex("  done\t'x'")),
            ("pattern", &regex("…")),
            ("t-fini", &regex("été fini")),
        ]
    );
}

#[test]
fn an_empty_list_of_patterns_stays_empty() {
    assert_eq!(imported(r#"{"exit_gate":{"patterns":[]}}"#).1.patterns, []);
}

#[test]
fn errors_have_places() {
    check("{\n  \"exit_gate\": {,}\n}", "2:17: key must be a string");
    check("", "1:1: EOF while parsing a value");
    check("[]", "1:1: expected a table, found an array");
    check("{}", "1:1: `exit_gate` is missing");
    check("{\"exit_gat\": {}}", "1:2: unknown key `exit_gat`, did you mean `exit_gate`?");
    check("{\"exit_gate\": {}, \"other\": 1}", "1:19: unknown key `other`, known are `exit_gate`");
    check(
        "{\"exit_gate\": {\n  \"indicator_treshold\": 2}}",
        "2:3: unknown key `indicator_treshold` in `exit_gate`, did you mean `indicator_threshold`?",
    );
    check(
        "{\"exit_gate\": {\"evidence_checks\": {\"test\": true}}}",
        "1:36: unknown key `test` in `exit_gate.evidence_checks`, did you mean `tests`?",
    );
    check(
        "{\"exit_gate\": {\"enabled\": true,\n\"enabled\": false}}",
        "2:9: duplicate key: `enabled`",
    );
}

#[test]
fn wrong_values_have_places() {
    let number = "expected a whole number from 0 to 4294967295";
    let threshold = |value: &str, found: &str| {
        check(
            &format!("{{\"exit_gate\": {{\n  \"indicator_threshold\": {value}}}}}"),
            &format!("2:26: `exit_gate.indicator_threshold`: {number}, found {found}"),
        );
    };
    threshold("-1", "integer `-1`");
    threshold("1.5", "floating point `1.5`");
    threshold("\"2\"", "string \"2\"");
    check("{\"exit_gate\": {\n\"enabled\": null}}", "2:15: expected a value, found null");
    check("{\"exit_gate\": []}", "1:15: `exit_gate`: expected a table, found an array");
    check(
        "{\"exit_gate\": {\"evidence_checks\": {\"tests\": \"yes\"}}}",
        "1:45: `exit_gate.evidence_checks.tests`: expected true or false, found string \"yes\"",
    );
    check(
        "{\"exit_gate\": {\"patterns\": [\"ok\", 1]}}",
        "1:35: `exit_gate.patterns[1]`: expected a string, found integer `1`",
    );
    check(
        "{\"exit_gate\": {\"patterns\": [\"ok\", \"(bad\"]}}",
        "1:35: `exit_gate.patterns[1]`: pattern `(bad`: unclosed group",
    );
    check(
        "{\"exit_gate\": {\"enabled\": false, \"require_explicit_signal\": false}}",
        "1:15: `exit_gate`: neither threshold nor signal is left to decide, \
         set `enabled` or `require_explicit_signal` to true",
    );
}
