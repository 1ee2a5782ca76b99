//! The decisions that a task leaves open: what its agent listed, and what a person confirmed of it.

use gate_core::decide::open_decisions::{ConfirmedDecision, OpenDecision};
use gate_core::history::kind;
use gate_core::ledger::Sealed;
use serde::{Deserialize, Serialize};

use super::decision_transaction::GATE;
use super::{Memory, body};
use crate::failure::Failure;
use crate::operator::Operator;
use crate::secrets;

/// The task that decisions are about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct DecisionsKey {
    /// The task's id.
    pub(crate) task: String,
    /// Somebody gave it that id. Else the same prompt in the same tree is the same task.
    pub(crate) named: bool,
    /// The digest of its prompt, if one was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) prompt: Option<String>,
}

/// The decisions of a task, as far as they have come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TaskDecisions {
    /// The id of the task under which they were listed.
    pub(crate) task: String,
    /// The agent that listed them.
    pub(crate) by: String,
    pub(crate) open: Vec<OpenDecision>,
    /// `None` while a person is waited for.
    pub(crate) confirmed: Option<Vec<ConfirmedDecision>>,
    /// The prompt of the task had another text then.
    pub(crate) of_other_prompt: bool,
}

/// The way in which decisions were confirmed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ConfirmedAt {
    /// A person answered at a terminal.
    Terminal,
    /// A person edited the file.
    File,
    /// There was nothing to confirm.
    NothingOpen,
}

/// A person's answer to a list.
pub(crate) struct Confirmation<'c> {
    pub(crate) at: ConfirmedAt,
    /// `None` if there was nothing to confirm.
    pub(crate) operator: Option<&'c Operator>,
    pub(crate) decisions: &'c [ConfirmedDecision],
}

/// The body of both records.
#[derive(Serialize, Deserialize)]
struct Body {
    #[serde(flatten)]
    key: DecisionsKey,
    tree: String,
    by: String,
    open: Vec<OpenDecision>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    confirmed: Option<Vec<ConfirmedDecision>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    at: Option<ConfirmedAt>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    operator: Option<serde_json::Value>,
}

impl Memory {
    /// Records the list of an agent.
    pub(crate) fn decisions_listed(
        &mut self,
        key: &DecisionsKey,
        by: &str,
        open: &[OpenDecision],
    ) -> Result<(), Failure> {
        let body = Body { open: masked(open), ..self.body(key, by) };
        self.append(&body::draft(kind::DECISIONS_LISTED, None, GATE, &body)?).map(drop)
    }

    /// Records what a person decided; with an empty list, that there was nothing to decide.
    pub(crate) fn decisions_confirmed(
        &mut self,
        key: &DecisionsKey,
        listed: &TaskDecisions,
        confirmation: &Confirmation<'_>,
    ) -> Result<(), Failure> {
        let Confirmation { at, operator, decisions } = *confirmation;
        let body = Body {
            open: listed.open.clone(),
            confirmed: Some(decisions.to_vec()),
            at: Some(at),
            operator: operator.and_then(|operator| serde_json::to_value(operator).ok()),
            ..self.body(key, &listed.by)
        };
        let actor = operator.map_or(GATE.to_owned(), Operator::actor);
        self.append(&body::draft(kind::DECISIONS_CONFIRMED, None, &actor, &body)?).map(drop)
    }

    fn body(&self, key: &DecisionsKey, by: &str) -> Body {
        Body {
            key: key.clone(),
            tree: self.tree.clone(),
            by: by.to_owned(),
            open: Vec::new(),
            confirmed: None,
            at: None,
            operator: None,
        }
    }

    /// The latest decisions of a task whose work is not done since.
    pub(crate) fn task_decisions(
        &mut self,
        key: &DecisionsKey,
    ) -> Result<Option<TaskDecisions>, Failure> {
        let tree = self.tree.clone();
        self.retry(|memory| {
            let mut view = memory.view()?;
            let kinds = [kind::DECISIONS_LISTED, kind::DECISIONS_CONFIRMED];
            let mut latest: Option<(Sealed, Body)> = None;
            for kind in kinds {
                let records = view.entries_of_type(kind, usize::MAX)?;
                let bodies = records.into_iter().filter_map(|sealed| {
                    let body = serde_json::to_value(&sealed.record.body).ok()?;
                    Some((sealed, Body::deserialize(body).ok()?))
                });
                // The newest comes first.
                let of_task = bodies.into_iter().find(|(_, body)| body.is_about(key, &tree));
                let is_newer = |(sealed, _): &(Sealed, Body)| {
                    latest.as_ref().is_none_or(|(last, _)| last.record.seq < sealed.record.seq)
                };
                if let Some(newer) = of_task.filter(is_newer) {
                    latest = Some(newer);
                }
            }
            let Some((sealed, body)) = latest.filter(|(_, body)| !body.is_outdated(key)) else {
                return Ok(None);
            };
            let ends = view.entries_of_type(kind::RUN_ENDED, usize::MAX)?;
            let is_over = ends.iter().any(|end| {
                let text = |key: &str| end.record.body.get(key).and_then(|text| text.as_str());
                end.record.seq > sealed.record.seq
                    && text("task") == Some(&body.key.task)
                    && text("stopped_by") == Some("completed")
            });
            Ok((!is_over).then_some(TaskDecisions {
                task: body.key.task,
                by: body.by,
                open: body.open,
                of_other_prompt: body.key.prompt != key.prompt,
                confirmed: body.confirmed,
            }))
        })
    }
}

impl Body {
    fn is_about(&self, key: &DecisionsKey, tree: &str) -> bool {
        let is_unnamed = !key.named && !self.key.named && self.tree == tree;
        let is_same_prompt = key.prompt.is_some() && self.key.prompt == key.prompt;
        self.key.task == key.task || (is_unnamed && is_same_prompt)
    }

    /// The task has another text since, and nobody has confirmed the list of the old one.
    fn is_outdated(&self, key: &DecisionsKey) -> bool {
        self.confirmed.is_none() && key.prompt.is_some() && self.key.prompt != key.prompt
    }
}

/// The decisions without secrets.
fn masked(open: &[OpenDecision]) -> Vec<OpenDecision> {
    let masked = open.iter().map(|open| OpenDecision {
        question: secrets::masked(&open.question),
        choice: secrets::masked(&open.choice),
    });
    masked.collect()
}
