//! A message of the main agent that comes in several records.

use super::Role;
use super::out::{Out, keep_end};

/// The most of the last message that is kept to compare later texts with it, in bytes.
const MAX_SAID: usize = 1 << 20;

/// Knows whether what the agent writes next goes on with its last message.
#[derive(Debug, Default)]
pub(super) struct Utterance {
    /// The message's id; empty if messages have none.
    id: String,
    open: bool,
    /// The end of the message so far.
    said: String,
}

impl Utterance {
    /// A block of the message with this id. Blocks are on lines of their
    /// own; without an id each is a message.
    pub(super) fn block(&mut self, id: &str, text: &str, line: u64, out: &mut Out<'_>) {
        if text.trim().is_empty() {
            return;
        }
        if self.open && !id.is_empty() && self.id == id {
            self.said.push('\n');
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
        let (text, said) = (text.trim(), self.said.trim());
        text.is_empty() || (!said.is_empty() && text.ends_with(said))
    }

    pub(super) fn has_said(&self) -> bool {
        !self.said.is_empty()
    }

    /// True if `text` is the last message from beginning to end.
    pub(super) fn says_again(&self, text: &str) -> bool {
        !self.said.is_empty() && text.trim() == self.said.trim()
    }

    /// Something else came: what the agent writes next is another message.
    pub(super) fn close(&mut self) {
        self.open = false;
    }

    /// Something that may change the agent's mind came.
    pub(super) fn forget(&mut self) {
        self.open = false;
        self.said.clear();
    }

    fn begin(&mut self, id: &str) {
        id.clone_into(&mut self.id);
        self.open = true;
        self.said.clear();
    }

    fn keep(&mut self, text: &str) {
        self.said.push_str(text);
        keep_end(&mut self.said, MAX_SAID);
    }
}
