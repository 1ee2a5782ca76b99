//! Messages of the main agent, each of which may come in several records, and calls of tools until
//! their answers come: the common part of the readers of JSON formats.

use super::calls::Calls;
use super::loose::Leaves;
use super::out::{Out, keep_end};
use super::{Boundary, Ending, Role};

/// The most of the last message that is kept to compare later texts with it, in bytes.
const MAX_TEXT: usize = 1 << 20;

/// Follows who speaks, and knows whether what the agent writes next goes on with its last message.
#[derive(Debug, Default)]
pub(super) struct Talk {
    /// The transcript is a sub-agent's: no text in it is the main agent's.
    pub(super) sub_agent: bool,
    /// The message's id; empty if messages have none.
    id: String,
    /// The message may go on: nothing else came since.
    open: bool,
    /// The end of the message so far.
    message_text: String,
    pub(super) calls: Calls,
}

impl Talk {
    /// Something came that may change the main agent's mind.
    pub(super) fn turn(&mut self, boundary: Boundary, out: &mut Out<'_>) {
        if !self.sub_agent {
            self.forget();
            out.boundary(boundary);
        }
    }

    /// A person's message to the agent.
    pub(super) fn prompt(&mut self, text: &str, out: &mut Out<'_>) {
        self.turn(Boundary::Prompt, out);
        out.say(if self.sub_agent { Role::Tool } else { Role::User }, text);
    }

    pub(super) fn thought(&self, text: &str, out: &mut Out<'_>) {
        out.say(if self.sub_agent { Role::Tool } else { Role::Thinking }, text);
    }

    /// The agent calls a tool.
    pub(super) fn call(&mut self, id: &str, tool: &str, input: &Leaves<'_>, out: &mut Out<'_>) {
        self.close();
        self.calls.started(id, tool, input.command.as_deref());
        out.called(id, tool, input);
        out.say_all(Role::Tool, &input.texts);
    }

    /// A tool answers; of a command with its exit code, if the format has it. A call whose end is
    /// not marked has failed if its command has.
    pub(super) fn answer(
        &mut self,
        id: &str,
        text: &str,
        ending: Ending,
        exit_code: Option<i32>,
        out: &mut Out<'_>,
    ) {
        self.close();
        out.answered(id, ending);
        out.say(Role::Tool, text);
        let has_failed = match ending {
            Ending::Succeeded => false,
            Ending::Failed => true,
            Ending::Unmarked => exit_code.is_some_and(|code| code != 0),
        };
        if has_failed {
            out.denied_or_failed(self.calls.tool(id).unwrap_or_default(), id, text);
        }
        self.calls.ended(id, exit_code, out);
    }

    /// A block of the message with this id. Blocks are on lines of their
    /// own; without an id each is a message.
    pub(super) fn block(&mut self, id: &str, text: &str, out: &mut Out<'_>) {
        if self.sub_agent {
            return out.say(Role::Tool, text);
        }
        if text.trim().is_empty() {
            return;
        }
        if self.open && !id.is_empty() && self.id == id {
            self.message_text.push('\n');
            out.add_line(Role::Assistant, text);
        } else {
            self.begin(id);
            out.say(Role::Assistant, text);
        }
        self.keep(text);
    }

    /// The next characters of the message with this id, which may be empty.
    pub(super) fn delta(&mut self, id: &str, text: &str, out: &mut Out<'_>) {
        if self.open && self.id == id {
            out.continue_text(Role::Assistant, text);
        } else if text.trim().is_empty() {
            // Blanks begin no message: they must not continue the one before.
            return;
        } else {
            self.begin(id);
            out.say(Role::Assistant, text);
        }
        self.keep(text);
    }

    /// A text that repeats the last message. Clients that join several texts in one
    /// end with the last of them.
    pub(super) fn is_repeated_by(&self, text: &str) -> bool {
        let (text, message_text) = (text.trim(), self.message_text.trim());
        text.is_empty() || (!message_text.is_empty() && text.ends_with(message_text))
    }

    /// The end of the last message; empty after a turn.
    pub(super) fn last_text(&self) -> &str {
        &self.message_text
    }

    pub(super) fn has_text(&self) -> bool {
        !self.message_text.is_empty()
    }

    /// A text that is the last message from beginning to end.
    pub(super) fn is_last_message(&self, text: &str) -> bool {
        !self.message_text.is_empty() && text.trim() == self.message_text.trim()
    }

    /// Something else came: what the agent writes next is another message.
    pub(super) fn close(&mut self) {
        self.open = false;
    }

    /// Something came that may change the agent's mind: no later text repeats the last message.
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
