//! The protocol's four validation rules, and the rules of its extension for A2A.
//!
//! 1. No empty required field. A placeholder is empty, and so is an entry of a
//!    list that is one.
//! 2. Verification has to include commands that were really run, with the result of each.
//! 3. A risk has to include its impact and its owner. That there is none is said by `none` alone.
//! 4. A failed verification has to include its severity and the way back.

use super::form::path;
use super::model::{Handoff, Outcome, PROTOCOL_VERSION};
use super::placeholder::{answers_nothing, is_empty, is_none};
use super::problem::{Problem, few};
use crate::tree::{Entry, Node, members};

/// Most next actions that a handoff may have.
const ACTIONS: usize = 3;

/// A field that has to say something: its path without the numbers of entries, the rule of the
/// protocol's four (0 for none of them), and what to do.
type Required = (&'static str, u8, &'static str);

const REQUIRED: &[Required] = &[
    ("objective", 1, "say the target in one sentence"),
    ("in_scope", 1, "name what the next agent is responsible for"),
    ("out_of_scope", 1, "name what it is not to do"),
    ("changed_files", 1, "name the files by their full paths"),
    ("verification", 1, "name the commands that were run, and what came of each"),
    ("verification.command", 2, "name the command that was run"),
    ("verification.result", 2, "PASS or FAIL is expected"),
    ("verification.blocker.severity", 4, "it failed, so say how bad that is"),
    ("verification.blocker.rollback", 4, "it failed, so say how to get back"),
    ("open_risks", 1, "name what may go wrong, with its impact and its owner, or write `none`"),
    ("open_risks.risk", 1, "say what may go wrong"),
    ("open_risks.impact", 3, "say what would come of it"),
    ("open_risks.owner", 3, "say who looks after it"),
    ("next_actions", 1, "name up to three actions, in order"),
    ("assumptions", 1, "name what decisions rested on"),
    ("a2a.protocol_version", 0, "the string 0.3 is expected"),
    ("a2a.sender", 0, "agent_id, provider and model are expected"),
    ("a2a.sender.agent_id", 0, "name the agent"),
    ("a2a.sender.provider", 0, "name who runs its model"),
    ("a2a.sender.model", 0, "name its model"),
    ("a2a.receiver", 0, "agent_id, provider and model are expected"),
    ("a2a.receiver.agent_id", 0, "name the agent"),
    ("a2a.receiver.provider", 0, "name who runs its model"),
    ("a2a.receiver.model", 0, "name its model"),
    ("a2a.capabilities_declared", 0, "name the capability"),
    ("a2a.capabilities_required", 0, "name the capability"),
    ("a2a.interaction_id", 0, "name the interaction"),
    ("a2a.checkpoint_id", 0, "say it, or leave it out"),
    ("a2a.agent_card_ref", 0, "say it, or leave it out"),
    ("a2a.handoff_reason", 0, "say it, or leave it out"),
];

/// The words that the canonical template has where a text is to come.
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
        few(problems)
    }

    fn has_no_risk(&self) -> bool {
        matches!(&self.open_risks[..], [only] if answers_nothing(&only.risk)
            && is_none(&only.impact) && is_none(&only.owner))
    }
}

/// Checks a value and what is in it. `place` is its path, and `field` that without the numbers of
/// entries.
fn examine(node: &Node, place: &str, field: &str, problems: &mut Vec<Problem>) {
    let required = REQUIRED.iter().find(|(name, ..)| *name == field);
    if let Some((_, rule, advice)) = required
        && let Some(fault) = fault(node, field, *rule)
    {
        let rule = if *rule > 0 { Some(*rule) } else { None };
        problems.push(Problem { rule, ..Problem::new(place, format!("{fault}: {advice}")) });
        return;
    }
    match node {
        Node::Scalar(_) => {}
        Node::List(nodes) => {
            for (at, node) in nodes.iter().enumerate() {
                examine(node, &format!("{place}[{at}]"), field, problems);
            }
            if field == "next_actions" && nodes.len() > ACTIONS {
                let message = format!("{} actions, and at most {ACTIONS} may be", nodes.len());
                problems.push(Problem::new(place, message));
            }
        }
        Node::Map(entries) => {
            for Entry { key, value, .. } in entries {
                examine(value, &path(place, key), &path(field, key), problems);
            }
        }
    }
}

/// The fault of a value that has to say something.
fn fault(node: &Node, field: &str, rule: u8) -> Option<String> {
    match node {
        Node::Scalar(scalar) if says(field, &scalar.text) => None,
        Node::Scalar(scalar) => Some(match scalar.text.trim() {
            "" => "is empty".to_owned(),
            text => format!("`{}` does not say it", gate_core::text::brief(text, 60)),
        }),
        // What the extension may leave out may be empty.
        Node::List(nodes) if nodes.is_empty() && rule > 0 => Some("is empty".to_owned()),
        Node::Map(entries) if field.starts_with("a2a.") => {
            let is_missing = entries.iter().all(|entry| entry.value.is_empty());
            is_missing.then(|| "is missing".to_owned())
        }
        _ => None,
    }
}

fn says(field: &str, text: &str) -> bool {
    let name = field.rsplit('.').next().unwrap_or(field);
    match name {
        "result" => matches!(text, "PASS" | "FAIL"),
        "protocol_version" => text == PROTOCOL_VERSION,
        // "none" is no answer.
        "command" | "severity" | "rollback" | "owner" if is_none(text) => false,
        _ => !is_empty(text) && !TEMPLATE.contains(&(name, text.trim())),
    }
}
