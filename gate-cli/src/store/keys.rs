//! What records are found by.

use gate_core::protocol::ledger::Record;
use serde_json::Value;

/// What a record is found by, taken from its body and kept beside it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Keys {
    /// The task: `state.task`; empty where no task is named.
    pub task: Option<String>,
    /// The loop: `state.loop`.
    pub in_loop: Option<String>,
    /// The iteration's number: `state.iteration`.
    pub iteration: Option<u64>,
    /// The decision's id: `decision.decision_id`; only a decision has one.
    pub decision_id: Option<String>,
}

impl Keys {
    /// A record's keys. What is absent, or no text or number, is none.
    pub fn of(record: &Record) -> Self {
        let state = |key| record.body.get("state").and_then(|state| state.get(key));
        let decision = |key| record.body.get("decision").and_then(|decision| decision.get(key));
        Self {
            task: text(state("task")),
            in_loop: text(state("loop")),
            iteration: state("iteration").and_then(Value::as_u64),
            decision_id: text(decision("decision_id")),
        }
    }
}

fn text(value: Option<&Value>) -> Option<String> {
    value.and_then(Value::as_str).map(str::to_owned)
}
