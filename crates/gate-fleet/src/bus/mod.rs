//! Message buses: messages of agents and runners to each other, in one file that
//! only grows.
//!
//! ```
//! use gate_fleet::Stamp;
//! use gate_fleet::bus::{self, Message};
//!
//! let now = "2026-02-20T15:30:45.5Z".parse().expect("a time");
//! let draft = Message { body: "half\n---\nway".to_owned(), ..Message::new("PROGRESS", "shop") };
//! let message = draft.stamped(Stamp { time: now, pid: 4121, seq: 1 }).expect("it is whole");
//!
//! let contents = bus::read(message.to_entry().as_bytes());
//! assert_eq!(contents.messages[0].body, "half\n---\nway");
//! assert_eq!(bus::since(&contents.messages, "").expect("from the start").len(), 1);
//! ```
//!
//! An entry is a header of YAML between two lines `---`, then its body. A line
//! `---` in a body would end it, and the text below could be anybody's entry; so
//! such a line is written with a backslash before it, which is taken away when
//! it is read ([`Message::to_entry`], [`read`]). Entries are never changed.

mod escape;
mod event;
mod header;
mod legacy;
mod message;
mod read;
mod shown;
#[cfg(test)]
mod tests;

pub use event::{CRASH, START, STDERR_LINES, STOP, event, is_runner_type};
pub use message::{BadMessage, Extra, LONGEST_BODY, Link, Message, Parent, is_message_id};
pub use read::{Contents, Problem, Tail, Trouble, read};
pub use shown::{Filter, message_text};

/// The messages behind one; all of them if `id` is empty.
///
/// # Errors
///
/// No message has this id.
pub fn since<'a>(messages: &'a [Message], id: &str) -> Result<&'a [Message], UnknownId> {
    if id.is_empty() {
        return Ok(messages);
    }
    match messages.iter().position(|message| message.msg_id == id) {
        Some(at) => Ok(&messages[at + 1..]),
        None => Err(UnknownId(id.to_owned())),
    }
}

/// The messages of a thread: this one, and all that answer to one of them.
///
/// # Errors
///
/// No message has this id.
pub fn thread<'a>(messages: &'a [Message], id: &str) -> Result<Vec<&'a Message>, UnknownId> {
    let start = messages.iter().position(|message| message.msg_id == id);
    let start = start.ok_or_else(|| UnknownId(id.to_owned()))?;
    let mut thread: Vec<&Message> = vec![&messages[start]];
    for message in &messages[start + 1..] {
        let is_in_thread =
            |parent: &Parent| thread.iter().any(|message| message.msg_id == parent.msg_id);
        if message.parents.iter().any(is_in_thread) {
            thread.push(message);
        }
    }
    Ok(thread)
}

/// A message that is not on the bus.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("since id {0:?} not found")]
pub struct UnknownId(pub String);
