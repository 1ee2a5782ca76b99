//! The protocol's four validation rules, and the rules of its extension for A2A.
//!
//! 1. No empty required field. A placeholder is empty, also as an entry of a list.
//! 2. Verification has to include commands that were really run, with the result of each.
//! 3. A risk has to include its impact and its owner. A handoff without a risk has `none` alone.
//! 4. A failed verification has to include its severity and the way back.

use super::form::key_path;
use super::model::{Handoff, Outcome, PROTOCOL_VERSION};
use super::placeholder::{answers_nothing, is_empty, is_none};
use super::problem::{Problem, limited};
use crate::tree::{Entry, Node, members};

/// The most next actions that a handoff may have.
const MAX_ACTIONS: usize = 3;

/// A field that has to have content.
struct Required {
    /// Its path without the numbers of entries.
    field: &'static str,
    /// The rule of the protocol's four, from 1; 0 for a rule of the extension.
    rule: u8,
    advice: &'static str,
}

const fn required(field: &'static str, rule: u8, advice: &'static str) -> Required {
    Required { field, rule, advice }
}

const REQUIRED: &[Required] = &[
    required("objective", 1, "say the target in one sentence"),
    required("in_scope", 1, "name what the next agent is responsible for"),
    required("out_of_scope", 1, "name what it is not to do"),
    required("changed_files", 1, "name the files by their full paths"),
    required("verification", 1, "name the commands that were run, and what came of each"),
    required("verification.command", 2, "name the command that was run"),
    required("verification.result", 2, "PASS or FAIL is expected"),
    required("verification.blocker.severity", 4, "it failed, so say how bad that is"),
    required("verification.blocker.rollback", 4, "it failed, so say how to get back"),
    required(
        "open_risks",
        1,
        "name what may go wrong, with its impact and its owner, or write `none`",
    ),
    required("open_risks.risk", 1, "say what may go wrong"),
    required("open_risks.impact", 3, "say what would come of it"),
    required("open_risks.owner", 3, "say who looks after it"),
    required("next_actions", 1, "name up to three actions, in order"),
    required("assumptions", 1, "name what decisions rested on"),
    required("a2a.protocol_version", 0, "the string 0.3 is expected"),
    required("a2a.sender", 0, "agent_id, provider and model are expected"),
    required("a2a.sender.agent_id", 0, "name the agent"),
    required("a2a.sender.provider", 0, "name who runs its model"),
    required("a2a.sender.model", 0, "name its model"),
    required("a2a.receiver", 0, "agent_id, provider and model are expected"),
    required("a2a.receiver.agent_id", 0, "name the agent"),
    required("a2a.receiver.provider", 0, "name who runs its model"),
    required("a2a.receiver.model", 0, "name its model"),
    required("a2a.capabilities_declared", 0, "name the capability"),
    required("a2a.capabilities_required", 0, "name the capability"),
    required("a2a.interaction_id", 0, "name the interaction"),
    required("a2a.checkpoint_id", 0, "say it, or leave it out"),
    required("a2a.agent_card_ref", 0, "say it, or leave it out"),
    required("a2a.handoff_reason", 0, "say it, or leave it out"),
];

/// The words of the canonical template in place of a text, by the field's name.
const TEMPLATE: &[(&str, &str)] = &[
    ("command", "command"),
    ("risk", "risk"),
    ("impact", "impact"),
    ("owner", "owner"),
    ("changed_files", "/abs/or/repo/path"),
];

impl Handoff {
    /// The broken rules, in the order of the fields.
    pub fn problems(&self) -> Vec<Problem> {
        let mut handoff = self.clone();
        for verification in &mut handoff.verification {
            let blocker = verification.blocker.take().unwrap_or_default();
            verification.blocker = (verification.result == Outcome::Fail).then_some(blocker);
        }
        let mut entries = members(&handoff);
        if self.has_no_risk() {
            entries.retain(|entry| entry.key != "open_risks");
        }
        let mut problems = Vec::new();
        examine(&Node::Map(entries), "", "", &mut problems);
        limited(problems)
    }

    fn has_no_risk(&self) -> bool {
        matches!(&self.open_risks[..], [risk] if answers_nothing(&risk.risk)
            && is_none(&risk.impact) && is_none(&risk.owner))
    }
}

/// Checks a value and the values in it. `place` is its path, and `field` the path without the
/// numbers of entries.
fn examine(node: &Node, place: &str, field: &str, problems: &mut Vec<Problem>) {
    let required = REQUIRED.iter().find(|required| required.field == field);
    if let Some(Required { rule, advice, .. }) = required
        && let Some(fault) = fault(node, field, *rule)
    {
        let rule = (*rule > 0).then_some(*rule);
        problems.push(Problem { rule, ..Problem::new(place, format!("{fault}: {advice}")) });
        return;
    }
    match node {
        Node::Scalar(_) => {}
        Node::List(nodes) => {
            for (at, node) in nodes.iter().enumerate() {
                examine(node, &format!("{place}[{at}]"), field, problems);
            }
            if field == "next_actions" && nodes.len() > MAX_ACTIONS {
                let message = format!("{} actions, and at most {MAX_ACTIONS} may be", nodes.len());
                problems.push(Problem::new(place, message));
            }
        }
        Node::Map(entries) => {
            for Entry { key, value, .. } in entries {
                examine(value, &key_path(place, key), &key_path(field, key), problems);
            }
        }
    }
}

/// The fault of a value that has to have content.
fn fault(node: &Node, field: &str, rule: u8) -> Option<String> {
    match node {
        Node::Scalar(scalar) if has_content(field, &scalar.text) => None,
        Node::Scalar(scalar) => Some(match scalar.text.trim() {
            "" => "is empty".to_owned(),
            text => format!("`{}` does not say it", gate_core::text::brief(text, 60)),
        }),
        // A list of the extension may be left out, and so may be empty.
        Node::List(nodes) if nodes.is_empty() && rule > 0 => Some("is empty".to_owned()),
        Node::Map(entries) if field.starts_with("a2a.") => {
            let is_missing = entries.iter().all(|entry| entry.value.is_empty());
            is_missing.then(|| "is missing".to_owned())
        }
        _ => None,
    }
}

fn has_content(field: &str, text: &str) -> bool {
    let name = field.rsplit('.').next().unwrap_or(field);
    match name {
        "result" => matches!(text, "PASS" | "FAIL"),
        "protocol_version" => text == PROTOCOL_VERSION,
        // For these, "none" is no answer.
        "command" | "severity" | "rollback" | "owner" if is_none(text) => false,
        _ => !is_empty(text) && !TEMPLATE.contains(&(name, text.trim())),
    }
}
