//! Cursor's transcripts, `~/.cursor/projects/…/agent-transcripts/ID/ID.jsonl`.
//!
//! Sources: public readers of such files (2026). A line holds one message, in blocks as Claude's; it
//! has no id and no time. Answers of tools are not in it. A sub-agent's transcript is a file of its own.

use crate::Role;
use crate::claude_like::{Block, Message};
use crate::json::{Json, Records, records};
use crate::loose::{Cause, Content, Object, Str};
use crate::out::Out;
use crate::spec::{KnownBy, Spec};
use crate::talk::Talk;

pub(crate) const CURSOR_SESSION: Spec = Spec {
    name: "cursor-session",
    family: super::FAMILY,
    known_by: KnownBy::Record(|shape| match shape.text("role") {
        "user" | "assistant" => {
            let is_bare = !shape.has("type") && !shape.has("recordType");
            is_bare && shape.inner("message").has("content")
        }
        "" => shape.text("type") == "turn_ended" && shape.has("status"),
        _ => false,
    }),
    open: |_| Box::new(Json::new(Session::default())),
};

/// Cursor's placeholder for a thought that it does not show.
const THOUGHT: &str = "[REDACTED]";

/// The id of the message that is read: its blocks belong together.
const MESSAGE: &str = "message";

/// Follows the messages.
#[derive(Debug, Default)]
struct Session {
    talk: Talk,
}

records! {
    struct Record<'a> {
        role: Str<'a>,
        message: Object<Message<'a>>,
        error: Cause<'a>,
    }
}

impl Records for Session {
    type Record<'a> = Record<'a>;

    fn take(&mut self, record: Record<'_>, out: &mut Out<'_>) {
        self.talk.close();
        out.failure(&record.error, None);
        let Some(message) = &record.message.0 else { return };
        let is_agent = &*record.role == "assistant";
        match &message.content {
            Content::Text(text) if is_agent => self.text(text, out),
            Content::Text(text) => self.talk.prompt(text, out),
            Content::Blocks(blocks) => {
                for block in blocks {
                    match &*block.kind {
                        "text" if is_agent => self.text(&block.text, out),
                        "text" => self.talk.prompt(&block.text, out),
                        _ => self.tool(block, out),
                    }
                }
            }
        }
    }
}

impl Session {
    fn text(&mut self, text: &str, out: &mut Out<'_>) {
        let text = text.trim_end();
        let message = text.strip_suffix(THOUGHT).unwrap_or(text).trim_end();
        self.talk.block(MESSAGE, message, out);
    }

    fn tool(&mut self, block: &Block<'_>, out: &mut Out<'_>) {
        self.talk.close();
        if &*block.kind == "tool_use" {
            out.called("", &block.name, &block.input);
        }
        out.say_all(Role::Tool, &block.input.texts);
        for text in block.content.texts() {
            out.say(Role::Tool, text);
        }
    }
}
