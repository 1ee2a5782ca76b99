//! A reader's view of a bus: the messages that a filter takes, each as a text for a person.

use std::fmt::Write as _;

use gate_core::text::clean;

use super::{Message, UnknownId, since, thread};

/// The messages that a reader wants; all of them if nothing is set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// Those behind this one.
    pub since_id: Option<String>,
    /// Those of these types, in any case.
    pub kinds: Vec<String>,
    /// This one and all that answer to it.
    pub thread: Option<String>,
}

impl Filter {
    /// The messages of a bus that pass, in their order.
    ///
    /// # Errors
    ///
    /// A message that the filter names is not on the bus.
    pub fn select<'m>(&self, messages: &'m [Message]) -> Result<Vec<&'m Message>, UnknownId> {
        let later = since(messages, self.since_id.as_deref().unwrap_or_default())?;
        let mut selected: Vec<_> =
            later.iter().filter(|message| self.takes_kind(message)).collect();
        if let Some(id) = &self.thread {
            let thread = thread(messages, id)?;
            // Ids may repeat on a bus that others wrote: a message is itself by its place alone.
            selected.retain(|message| thread.iter().any(|other| std::ptr::eq(*other, *message)));
        }
        Ok(selected)
    }

    /// The message has one of the types.
    pub fn takes_kind(&self, message: &Message) -> bool {
        self.kinds.is_empty()
            || self.kinds.iter().any(|kind| kind.eq_ignore_ascii_case(&message.kind))
    }
}

/// A message for a person: its head, and below it its text.
pub fn message_text(message: &Message) -> String {
    let from = if message.run_id.is_empty() { "" } else { "  run " };
    let mut text = clean(&format!(
        "{}  {}  {}{from}{}",
        message.ts, message.kind, message.msg_id, message.run_id
    ));
    for parent in &message.parents {
        let kind = if parent.kind.is_empty() { "reply" } else { parent.kind.as_str() };
        let _ = write!(text, "\n    {} to {}", clean(kind), clean(&parent.msg_id));
    }
    for link in &message.links {
        let _ = write!(text, "\n    see {}", clean(&link.url));
    }
    for line in message.body.lines() {
        let _ = write!(text, "\n    {}", clean(line));
    }
    text
}
