//! The JSON of `gate check`: the fields that callers were promised.

use serde_json::Value;

use crate::support::{DONE, STUCK, UNDONE, judge, keys};

/// `gate.decision.v1` as the design shows it; arrays hold one specimen.
const PROMISED: &str = r#"{
  "schema": "", "decision_id": "", "time": "", "gate_version": "", "run": "", "iteration": 7,
  "repeated": false, "task": "", "verdict": "", "exit_code": 1, "stop": false, "success": false,
  "forced": false, "feedback": "", "retry_at": null,
  "signal": {
    "status": "", "source": "", "reason": "", "remaining_work": "", "confidence": "",
    "override_requested": false, "line": 812, "problems": [],
    "near_misses": [{"text": "", "line": 812, "why": ""}]
  },
  "indicators": {
    "score": 3, "threshold": 2, "patterns": 1, "checks": 2,
    "hits": [{"pattern": "", "pack": "", "weight": 1, "line": 810, "excerpt": ""}]
  },
  "evidence": [{
    "check": "", "mode": "", "outcome": "", "cached": false, "duration_ms": 41200, "argv": [],
    "exit_code": 101, "summary": "", "log": "", "detail": {}
  }],
  "reasons": [{"code": "", "check": "", "message": ""}], "warnings": [{"code": "", "message": ""}],
  "breaker": {
    "state": "", "trip": null,
    "counters": {"no_exit": 2, "refused": 1, "no_progress": 0, "same_error": 1}
  },
  "policy_digest": "", "baseline": null, "trust": "", "tree": {}, "masked": [],
  "usage": {"tokens": 1, "cost_usd": 0.1, "partial": false}, "ledger": {}, "duration_ms": 41300
}"#;

/// A decision in which every list holds something.
fn rich() -> Value {
    let output = "<promise>COMPLETE</promise> is what I may write later.\n".to_owned() + DONE;
    let words = "check --json --run nightly --iteration 7 --task 42 --agent-exit-code 3 out.log";
    judge(words, &output).settings("[checks.tests]\ncommand = [\"true-enough\"]\n").run().json()
}

/// The promised fields that a value does not have.
fn missing(promised: &Value, value: &Value, at: &str) -> Vec<String> {
    match (promised, value) {
        (Value::Object(members), Value::Object(_)) => members
            .iter()
            .flat_map(|(name, promised)| {
                let path = format!("{at}.{name}");
                match value.get(name) {
                    Some(value) => missing(promised, value, &path),
                    None => vec![path],
                }
            })
            .collect(),
        (Value::Array(specimen), Value::Array(items)) => {
            let Some(specimen) = specimen.first() else { return Vec::new() };
            let Some(item) = items.first() else { return vec![format!("{at}[0]")] };
            missing(specimen, item, at)
        }
        _ => Vec::new(),
    }
}

#[test]
fn a_decision_has_every_promised_field() {
    let promised = serde_json::from_str(PROMISED).unwrap();
    assert_eq!(missing(&promised, &rich(), "decision"), Vec::<String>::new());
}

#[test]
fn every_verdict_has_the_same_fields() {
    let all = rich();
    for output in [DONE, UNDONE, STUCK, ""] {
        let decision = judge("check --json out.log", output).run().json();
        assert_eq!(keys(&decision), keys(&all));
        for part in ["signal", "indicators", "breaker", "usage"] {
            assert_eq!(keys(&decision[part]), keys(&all[part]), "{part}");
        }
    }
}

#[test]
fn a_decision_names_what_the_caller_named() {
    let decision = rich();
    assert_eq!(decision["schema"], "gate.decision.v1");
    assert_eq!(decision["run"], "nightly");
    assert_eq!(decision["iteration"], 7);
    assert_eq!(decision["task"], "42");
    assert_eq!(decision["gate_version"], gate_cli::VERSION);
    let time: &str = decision["time"].as_str().unwrap();
    assert!(time.ends_with('Z') && time.contains('T'), "{time}");
}

#[test]
fn two_decisions_have_two_ids_and_one_policy() {
    let (one, other) = (rich(), rich());
    assert_ne!(one["decision_id"], other["decision_id"]);
    assert_eq!(one["policy_digest"], other["policy_digest"]);
    let strict = judge("check --json --exit-threshold 9 out.log", DONE).code(1).json();
    assert_ne!(strict["policy_digest"], one["policy_digest"]);
}

#[test]
fn a_decision_tells_where_the_signal_and_the_hits_stand() {
    let decision = judge("check --json out.log", DONE).code(0).json();
    assert_eq!(decision["signal"]["line"], 3);
    assert_eq!(decision["signal"]["source"], "exit_status");
    assert_eq!(decision["indicators"]["hits"][0]["pattern"], "ready-for-review");
    assert_eq!(decision["indicators"]["hits"][0]["line"], 1);
}

#[test]
fn every_verdict_but_exit_names_what_to_do_next() {
    for output in [UNDONE, STUCK, "", "I looked at it.\n\nEXIT_STATUS: COMPLETE"] {
        let decision = judge("check --json out.log", output).run().json();
        assert!(decision["next"].is_string(), "{output}");
    }
    assert!(judge("check --json out.log", DONE).code(0).json()["next"].is_null());
}

#[test]
fn feedback_is_bounded_and_only_for_a_loop_that_goes_on() {
    let words = "check --json --force-complete --reason r out.log";
    for (words, output, code) in
        [("check --json out.log", DONE, 0), ("check --json out.log", STUCK, 4), (words, UNDONE, 0)]
    {
        assert_eq!(judge(words, output).code(code).json()["feedback"], "");
    }
    let long = format!("EXIT_STATUS: CONTINUE\nREMAINING_WORK: {}\n", "more and ".repeat(2_000));
    let decision = judge("check --json out.log", &long).code(1).json();
    let feedback = decision["feedback"].as_str().unwrap();
    assert!((1..=1_500).contains(&feedback.chars().count()), "{}", feedback.len());
}

#[test]
fn an_error_has_every_promised_field() {
    let known = ["code", "exit_code", "file", "hint", "key", "line", "message", "schema"];
    for (words, code, name) in [
        ("check --json missing.log", 2, "input-unreadable"),
        ("check --json . ", 2, "input-unreadable"),
        ("check --json", 2, "usage"),
        ("check --json --only tests out.log", 2, "unknown-check"),
        ("check --json --feedback no/where out.log", 5, "feedback-unwritable"),
        ("check --json --config wrong.toml out.log", 2, "config-unknown-key"),
        ("check --json --config missing.toml out.log", 2, "config-unreadable"),
        ("scan --json missing.log", 2, "input-unreadable"),
    ] {
        let run = judge(words, DONE).file("wrong.toml", "[exit_gat]\n");
        let error = run.code(code).json();
        assert_eq!(keys(&error).into_iter().collect::<Vec<_>>(), known, "{words}");
        assert_eq!(error["schema"], "gate.error.v1", "{words}");
        assert_eq!(error["exit_code"], code, "{words}");
        assert_eq!(error["code"], name, "{words}");
    }
}

#[test]
fn an_error_in_settings_names_file_line_and_key() {
    let settings = "[exit_gate]\nenabled = true\nconsecutiv = 2\n";
    let error = judge("check --json out.log", DONE).settings(settings).code(2).json();
    assert!(error["file"].as_str().unwrap().ends_with("gate.toml"), "{error}");
    assert_eq!(error["line"], 3);
    assert_eq!(error["key"], "exit_gate.consecutiv");
    assert!(error["hint"].as_str().unwrap().contains("consecutive"), "{error}");
}
