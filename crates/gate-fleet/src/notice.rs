//! Messages, facts and handoffs that the machines of a project share: each is a record of its
//! ledger. `disk` makes the files of them that agents read.

use serde::{Deserialize, Serialize};

use crate::bus::{self, Message, is_runner_type};

/// The types of the records.
pub mod kind {
    /// A message on the project's bus or a task's.
    pub const MESSAGE: &str = "message_posted";
    /// A fact of the project or of a task.
    pub const FACT: &str = "fact_added";
    /// The handoff of a loop.
    pub const HANDOFF: &str = "handoff_left";
    /// All of them.
    pub const ALL: [&str; 3] = [MESSAGE, FACT, HANDOFF];

    /// A word for people for one of these types.
    pub fn noun(kind: &str) -> &'static str {
        match kind {
            MESSAGE => "message",
            FACT => "fact",
            _ => "handoff",
        }
    }
}

/// The body of such a record.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Notice {
    /// The task's id; empty for the project's own.
    pub task: String,
    /// The id of a message, the file name of a fact, the run that left a handoff (empty if no run
    /// did).
    pub name: String,
    /// The entry of the bus, or the file's text.
    pub text: String,
    /// The work item of a handoff.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub work: Option<String>,
}

impl Notice {
    /// A message with its id, to the project or a task.
    pub fn from_message(task: &str, message: &Message) -> Self {
        Self {
            task: task.to_owned(),
            name: message.msg_id.clone(),
            text: message.to_entry(),
            work: None,
        }
    }

    /// The message in it; `None` if it holds another one, several, or one of the runner's.
    pub fn message(&self) -> Option<Message> {
        let mut messages = bus::read(self.text.as_bytes()).messages;
        let message = messages.pop()?;
        let is_alone = messages.is_empty();
        let is_named = message.msg_id == self.name && !is_runner_type(&message.kind);
        (is_alone && is_named).then_some(message)
    }
}
