//! Ledger records about work items.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::{Step, WorkError, WorkItem};
use gate_core::exit::{AgentSessionCompleted, WorkPhase};
use gate_core::ledger::Record;

/// The types of records of work items.
pub mod kind {
    /// An item was added.
    pub const ADDED: &str = "work_added";
    /// An item took a step without an exit signal.
    pub const MOVED: &str = "work_phase_changed";
    /// A session has ended with a valid exit signal. If it worked on an item, the item
    /// took its step.
    pub const ENDED: &str = super::AgentSessionCompleted::EVENT_TYPE;
}

/// The body of [`kind::ADDED`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Added {
    /// The item.
    pub work: AddedItem,
}

/// An item as it was added.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AddedItem {
    id: String,
    title: String,
    description: String,
    phase: WorkPhase,
}

/// The body of [`kind::MOVED`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Moved {
    /// The step.
    pub work: Step,
    /// The reason, as free text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// The body of [`kind::ENDED`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ended {
    /// The event.
    pub event: AgentSessionCompleted,
    /// The step that it made.
    pub work: Step,
}

impl Added {
    /// The record body of an item.
    pub fn new(item: &WorkItem) -> Self {
        let WorkItem { id, title, description, state } = item.clone();
        Self { work: AddedItem { id, title, description, phase: state.phase } }
    }

    /// The item.
    ///
    /// # Errors
    ///
    /// Names that an item cannot have.
    pub fn item(&self) -> Result<WorkItem, WorkError> {
        let AddedItem { id, title, description, phase } = &self.work;
        WorkItem::new(id, title, description, *phase)
    }
}

/// The event in a record, if it is about a work item.
pub(super) enum WorkEvent {
    Added(WorkItem),
    Stepped(Step),
}

impl WorkEvent {
    pub(super) fn from_record(record: &Record) -> Result<Option<Self>, WorkError> {
        let event = match record.kind.as_str() {
            kind::ADDED => Self::Added(body::<Added>(record)?.item()?),
            kind::MOVED => Self::Stepped(body::<Moved>(record)?.work),
            // A session that worked on no item.
            kind::ENDED if record.body.get("work").is_none() => return Ok(None),
            kind::ENDED => {
                let Ended { event, work } = body(record)?;
                if (event.phase_completed, event.next_phase) != (work.from, work.to) {
                    let fault = "its event is of another step".to_owned();
                    return Err(WorkError::Unreadable { seq: record.seq, fault });
                }
                Self::Stepped(work)
            }
            _ => return Ok(None),
        };
        Ok(Some(event))
    }
}

fn body<T: DeserializeOwned>(record: &Record) -> Result<T, WorkError> {
    let body = serde_json::to_value(&record.body).unwrap_or_default();
    serde_json::from_value(body)
        .map_err(|error| WorkError::Unreadable { seq: record.seq, fault: error.to_string() })
}
