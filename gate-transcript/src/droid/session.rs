//! Droid's session files, `~/.factory/sessions/…/ID.jsonl`.
//!
//! Sources: public readers of such files (2026). A line is a header
//! (`session_start`) or holds one message, in blocks as Claude's; a tool's answer
//! is a user's message. What the client itself sends to the agent is in
//! a `<system-reminder>`.

use serde::Deserialize;

use crate::calls::Calls;
use crate::json::{Borrowed, Json, Records, read};
use crate::loose::{Flag, Leaves, List, Object, Str};
use crate::out::Out;
use crate::parts::failed;
use crate::spec::{KnownBy, Spec};
use crate::utterance::Utterance;
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
    speech: Utterance,
    calls: Calls,
}

struct Any;

impl Borrowed for Any {
    type Of<'a> = Record<'a>;
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Record<'a> {
    #[serde(rename = "type", borrow)]
    kind: Str<'a>,
    #[serde(borrow)]
    id: Str<'a>,
    #[serde(borrow)]
    message: Object<Message<'a>>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Message<'a> {
    #[serde(borrow)]
    role: Str<'a>,
    #[serde(borrow)]
    model: Str<'a>,
    #[serde(borrow)]
    content: List<Object<Block<'a>>>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Block<'a> {
    #[serde(rename = "type", borrow)]
    kind: Str<'a>,
    #[serde(borrow)]
    text: Str<'a>,
    #[serde(borrow)]
    thinking: Str<'a>,
    #[serde(borrow)]
    id: Str<'a>,
    #[serde(borrow)]
    name: Str<'a>,
    #[serde(borrow)]
    input: Leaves<'a>,
    #[serde(borrow)]
    tool_use_id: Str<'a>,
    #[serde(borrow)]
    content: Leaves<'a>,
    is_error: Flag,
}

impl Records for Session {
    fn record(&mut self, json: &str, line: u64, out: &mut Out<'_>) -> bool {
        read::<Any>(json, |record| self.take(&record, line, out))
    }

    fn finish(&mut self, _: &mut Out<'_>) {}
}

impl Session {
    fn take(&mut self, record: &Record<'_>, line: u64, out: &mut Out<'_>) {
        if &*record.kind == "session_start" {
            out.session(&record.id);
        }
        let Some(message) = &record.message.0 else { return };
        out.model(&message.model);
        let blocks: Vec<_> =
            message.content.0.iter().filter_map(|block| block.0.as_ref()).collect();
        match &*message.role {
            "assistant" => {
                for block in blocks {
                    self.assistant(&record.id, block, line, out);
                }
            }
            "user" => {
                let mut texts = blocks.iter().filter(|block| &*block.kind == "text");
                if texts.any(|block| is_a_persons(&block.text)) {
                    self.speech.forget();
                    out.boundary(Boundary::Prompt, line);
                }
                for block in blocks {
                    self.user(block, line, out);
                }
            }
            _ => {}
        }
    }

    fn assistant(&mut self, id: &str, block: &Block<'_>, line: u64, out: &mut Out<'_>) {
        match &*block.kind {
            "text" => self.speech.block(id, &block.text, line, out),
            "thinking" => out.say(Role::Thinking, &block.thinking, line),
            "tool_use" => {
                self.speech.close();
                self.calls.started(&block.id, &block.name, None);
                out.called(&block.id, &block.name, &block.input, line);
                for text in &block.input.texts {
                    out.say(Role::Tool, text, line);
                }
            }
            _ => out.say(Role::System, &block.text, line),
        }
    }

    /// A text to the agent, or a tool's answer, which has no exit code of a command.
    fn user(&mut self, block: &Block<'_>, line: u64, out: &mut Out<'_>) {
        self.speech.close();
        if &*block.kind != "tool_result" {
            let role = if is_a_persons(&block.text) { Role::User } else { Role::System };
            return out.say(role, &block.text, line);
        }
        let text = block.content.texts.join("\n");
        out.answered(&block.tool_use_id, Ending::failed_if(block.is_error.0), line);
        out.say(Role::Tool, &text, line);
        if block.is_error.0 {
            let tool = self.calls.tool(&block.tool_use_id).unwrap_or_default();
            failed(tool, &block.tool_use_id, &text, line, out);
        }
        self.calls.ended(&block.tool_use_id, None, line, out);
    }
}

fn is_a_persons(text: &str) -> bool {
    let text = text.trim_start();
    !text.is_empty() && !text.starts_with(REMINDER)
}
