//! Decisions and records for tests: a plain one, with some of its fields changed.

use gate_core::Decision;
use gate_core::decide::signal::Signal;
use serde_json::{Value, json};

use crate::record::Record;

/// A decision to go on, with these fields instead of its own.
pub(crate) fn decision(changes: &Value) -> Decision {
    serde_json::from_value(with(decided(), changes)).unwrap()
}

/// The record of a decision to go on, with these fields instead of its own.
pub(crate) fn record(changes: &Value) -> Record {
    let about = json!({
        "schema": "gate.decision.v1",
        "decision_id": "0195-a",
        "time": "2026-11-02T10:00:00Z",
        "gate_version": "0.2.0",
        "run": null,
        "iteration": null,
        "repeated": false,
        "task": null,
        "retry_at": null,
        "policy_digest": "blake3:aa",
        "baseline": null,
        "trust": "T1",
        "tree": null,
        "masked": [],
        "usage": { "tokens": null, "cost_usd": null, "partial": false },
        "ledger": null,
        "transcript": {
            "format": "text", "turns": 1, "errors": [], "limits": [], "denials": [],
            "commands": [], "problems": [],
        },
        "duration_ms": 3,
    });
    serde_json::from_value(with(with(decided(), &about), changes)).unwrap()
}

fn decided() -> Value {
    json!({
        "verdict": "continue",
        "exit_code": 1,
        "stop": false,
        "success": false,
        "forced": false,
        "verified": true,
        "feedback": "",
        "signal": Signal::absent(),
        "indicators": {
            "score": 0, "threshold": 2, "patterns": 0, "checks": 0, "hits": [],
        },
        "evidence": [],
        "reasons": [],
        "warnings": [],
        "breaker": { "state": "closed", "trip": null, "counters": {} },
        "stateful": true,
    })
}

/// A value with the members of another one; objects are merged.
fn with(mut value: Value, changes: &Value) -> Value {
    match (&mut value, changes) {
        (Value::Object(members), Value::Object(changes)) => {
            for (name, change) in changes {
                let old = members.remove(name).unwrap_or_default();
                members.insert(name.clone(), with(old, change));
            }
        }
        (value, change) => *value = change.clone(),
    }
    value
}
