//! Writes and reads the bodies of records.

use gate_core::decide::breaker::Change;
use gate_core::exit::AgentSessionCompleted;
use gate_core::history::State;
use gate_core::ledger::{Body, BodyError, Draft, Sealed};
use jiff::Timestamp;
use serde::Serialize;
use serde_json::{Number, Value, json};

use crate::failure::Failure;
use crate::operator::Operator;
use crate::record::{Record, damaged};
use crate::secrets;

/// Levels of objects and arrays in a decision. The record's limit is higher.
const MAX_DEPTH: usize = 80;

/// The body of a decision, with the loop's state after it.
pub(super) fn decision_body(record: &Record, state: &State, tree: &str) -> Result<Body, Failure> {
    let mut decision = serde_json::to_value(record).map_err(|error| unfit(&error))?;
    if let Some(usage) = decision.pointer_mut("/usage") {
        *usage = json!({
            "tokens": record.usage.tokens,
            "cost_micro_usd": record.transcript.cost_micro_usd,
            "partial": record.usage.partial,
        });
    }
    make_exact(&mut decision, MAX_DEPTH);
    body(&json!({ "decision": decision, "state": state, "tree": tree }))
}

/// The body of a transition of the breaker.
pub(super) fn transition_body(change: &Change, state: &State, tree: &str) -> Result<Body, Failure> {
    let mut body = serde_json::to_value(change).map_err(|error| unfit(&error))?;
    body["state"] = serde_json::to_value(state).map_err(|error| unfit(&error))?;
    body["tree"] = json!(tree);
    self::body(&body)
}

/// The body of an operator's act.
#[derive(Clone, Debug, Serialize)]
pub(super) struct ActBody<'a> {
    pub(super) act: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) reason: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) value: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) task: Option<&'a str>,
    #[serde(flatten)]
    pub(super) operator: &'a Operator,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) lost: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) tree: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) state: Option<State>,
}

impl<'a> ActBody<'a> {
    pub(super) fn new(act: &'a str, operator: &'a Operator) -> Self {
        Self {
            act,
            reason: None,
            value: None,
            task: None,
            operator,
            lost: None,
            tree: None,
            state: None,
        }
    }
}

/// A record of this moment.
pub(super) fn draft(
    kind: &str,
    run: Option<&str>,
    actor: &str,
    body: &impl Serialize,
) -> Result<Draft, Failure> {
    Ok(Draft {
        time: Timestamp::now().to_string(),
        kind: kind.to_owned(),
        run: run.map(str::to_owned),
        actor: actor.to_owned(),
        body: self::body(body)?,
    })
}

pub(super) fn body(value: &impl Serialize) -> Result<Body, Failure> {
    Body::new(value).map_err(|error: BodyError| unfit(&error))
}

/// The event with the agent's own texts masked. Ids and phases stay as they are, also if they
/// equal a secret of the environment: the rows of work items are verified by them.
pub(super) fn without_secrets(event: AgentSessionCompleted) -> AgentSessionCompleted {
    AgentSessionCompleted {
        pr_url: event.pr_url.as_deref().map(secrets::masked),
        evidence_bundle_ref: event.evidence_bundle_ref.as_deref().map(secrets::masked),
        notes: event.notes.as_deref().map(secrets::masked),
        ..event
    }
}

fn unfit(error: &dyn std::fmt::Display) -> Failure {
    Failure::internal("record-unfit", format!("the decision cannot be recorded: {error}"))
}

/// The loop's state after a record.
pub(super) fn state_of(sealed: &Sealed) -> Result<State, Failure> {
    let state = sealed.record.body.get("state").cloned().unwrap_or_default();
    serde_json::from_value(state).map_err(|error| damaged(sealed, &error))
}

// A record's hash needs one canonical text, so a body has exact integers only. Any other
// number, and what is nested too deeply, becomes text. Only the details of a plug-in or of
// a report can have such values.
fn make_exact(value: &mut Value, depth: usize) {
    match value {
        Value::Number(number) if !is_exact(number) => *value = Value::String(number.to_string()),
        Value::Array(_) | Value::Object(_) if depth == 0 => {
            *value = Value::String(value.to_string());
        }
        Value::Array(values) => values.iter_mut().for_each(|value| make_exact(value, depth - 1)),
        Value::Object(map) => map.values_mut().for_each(|value| make_exact(value, depth - 1)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn is_exact(number: &Number) -> bool {
    Body::try_from(json!({ "number": number })).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_record_may_not_hold_is_kept_as_text() {
        let mut value = json!({ "share": 0.5, "huge": u64::MAX, "fine": -7, "list": [1e300] });
        make_exact(&mut value, MAX_DEPTH);
        let text = json!({ "share": "0.5", "huge": "18446744073709551615", "fine": -7, "list": ["1e+300"] });
        assert_eq!(value, text);
        let deep = (0..100).fold(json!(1), |inner, _| json!([inner]));
        let mut value = json!({ "deep": deep });
        make_exact(&mut value, MAX_DEPTH);
        assert!(Body::new(&value).is_ok());
    }
}
