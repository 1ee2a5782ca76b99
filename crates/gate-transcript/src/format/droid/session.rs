//! Droid's session files, `~/.factory/sessions/…/ID.jsonl`.
//!
//! Sources: public readers of such files (2026). A line is a header
//! (`session_start`) or holds one message, in blocks as Claude's; a tool's answer
//! is a user's message. The client's own texts to the agent are in
//! a `<system-reminder>`.

use crate::claude_like::{Block, Message};
use crate::json::{Json, Records, records};
use crate::loose::{Object, Str};
use crate::out::Out;
use crate::spec::{KnownBy, Spec};
use crate::talk::Talk;
use crate::{Boundary, Ending, Role};

pub(crate) const DROID_SESSION: Spec = Spec {
    name: "droid-session",
    family: super::FAMILY,
    known_by: KnownBy::Record(|shape| match shape.text("type") {
        "session_start" => shape.has("id") && shape.has("cwd"),
        "message" => {
            let message = shape.inner("message");
            shape.has("id")
                && shape.has("timestamp")
                && message.has("role")
                && message.has("content")
        }
        _ => false,
    }),
    open: |_| Box::new(Json::new(Session::default())),
};

/// The tag around texts that the client injects.
const REMINDER: &str = "<system-reminder>";

/// Follows the messages.
#[derive(Debug, Default)]
struct Session {
    talk: Talk,
}

records! {
    struct Record<'a> {
        "type" => kind: Str<'a>,
        id: Str<'a>,
        message: Object<Message<'a>>,
    }
}

impl Records for Session {
    type Record<'a> = Record<'a>;

    fn take(&mut self, record: Record<'_>, out: &mut Out<'_>) {
        if &*record.kind == "session_start" {
            out.session(&record.id);
        }
        let Some(message) = &record.message.0 else { return };
        out.model(&message.model);
        let blocks = message.content.blocks();
        match &*message.role {
            "assistant" => {
                for block in blocks {
                    self.assistant(&record.id, block, out);
                }
            }
            "user" => {
                let mut texts = blocks.iter().filter(|block| &*block.kind == "text");
                if texts.any(|block| is_persons_text(&block.text)) {
                    self.talk.turn(Boundary::Prompt, out);
                }
                for block in blocks {
                    self.user(block, out);
                }
            }
            _ => {}
        }
    }
}

impl Session {
    fn assistant(&mut self, id: &str, block: &Block<'_>, out: &mut Out<'_>) {
        match &*block.kind {
            "text" => self.talk.block(id, &block.text, out),
            "thinking" => out.say(Role::Thinking, &block.thinking),
            "tool_use" => self.talk.call(&block.id, &block.name, &block.input, out),
            _ => out.say(Role::System, &block.text),
        }
    }

    /// A text to the agent, or a tool's answer, which has no exit code of a command.
    fn user(&mut self, block: &Block<'_>, out: &mut Out<'_>) {
        self.talk.close();
        if &*block.kind != "tool_result" {
            let role = if is_persons_text(&block.text) { Role::User } else { Role::System };
            return out.say(role, &block.text);
        }
        let ending = Ending::failed_if(block.is_error.0);
        self.talk.answer(&block.tool_use_id, &block.content.text(), ending, None, out);
    }
}

fn is_persons_text(text: &str) -> bool {
    let text = text.trim_start();
    !text.is_empty() && !text.starts_with(REMINDER)
}
