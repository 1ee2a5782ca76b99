//! The look-up columns of records.

use gate_core::ledger::Record;
use serde_json::Value;

/// The look-up columns of a record, which repeat parts of its body.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Keys {
    /// The task: `state.task`; empty if no task is named.
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
    pub fn new(record: &Record) -> Self {
        let (state, decision) = (record.body.get("state"), record.body.get("decision"));
        Self {
            task: text(state, "task"),
            in_loop: text(state, "loop"),
            iteration: state.and_then(|state| state.get("iteration")?.as_u64()),
            decision_id: text(decision, "decision_id"),
        }
    }
}

fn text(object: Option<&Value>, key: &str) -> Option<String> {
    Some(object?.get(key)?.as_str()?.to_owned())
}
