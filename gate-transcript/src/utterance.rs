//! A message of the main agent that comes in several records.

use super::Role;
use super::out::{Out, keep_end};

/// The most of the last message that is kept to compare later texts with it, in bytes.
const MAX_TEXT: usize = 1 << 20;

/// Knows whether what the agent writes next goes on with its last message.
#[derive(Debug, Default)]
pub(super) struct Utterance {
    /// The message's id; empty if messages have none.
    id: String,
    open: bool,
    /// The end of the message so far.
    message_text: String,
}

impl Utterance {
    /// A block of the message with this id. Blocks are on lines of their
    /// own; without an id each is a message.
    pub(super) fn block(&mut self, id: &str, text: &str, line: u64, out: &mut Out<'_>) {
        if text.trim().is_empty() {
            return;
        }
        if self.open && !id.is_empty() && self.id == id {
            self.message_text.push('\n');
            out.add(Role::Assistant, text, line);
        } else {
            self.begin(id);
            out.say(Role::Assistant, text, line);
        }
        self.keep(text);
    }

    /// The next characters of the message with this id, which may be empty.
    pub(super) fn delta(&mut self, id: &str, text: &str, line: u64, out: &mut Out<'_>) {
        if self.open && self.id == id {
            out.go_on(Role::Assistant, text, line);
        } else if text.trim().is_empty() {
            // Blanks begin no message: they must not continue the one before.
            return;
        } else {
            self.begin(id);
            out.say(Role::Assistant, text, line);
        }
        self.keep(text);
    }

    /// True if `text` repeats the last message. Clients that join several texts in one
    /// end with the last of them.
    pub(super) fn repeated_by(&self, text: &str) -> bool {
        let (text, last) = (text.trim(), self.message_text.trim());
        text.is_empty() || (!last.is_empty() && text.ends_with(last))
    }

    pub(super) fn has_text(&self) -> bool {
        !self.message_text.is_empty()
    }

    /// True if `text` is the last message from beginning to end.
    pub(super) fn equals(&self, text: &str) -> bool {
        !self.message_text.is_empty() && text.trim() == self.message_text.trim()
    }

    /// Something else came: what the agent writes next is another message.
    pub(super) fn close(&mut self) {
        self.open = false;
    }

    /// Something that may change the agent's mind came.
    pub(super) fn forget(&mut self) {
        self.open = false;
        self.message_text.clear();
    }

    fn begin(&mut self, id: &str) {
        id.clone_into(&mut self.id);
        self.open = true;
        self.message_text.clear();
    }

    fn keep(&mut self, text: &str) {
        self.message_text.push_str(text);
        keep_end(&mut self.message_text, MAX_TEXT);
    }
}
