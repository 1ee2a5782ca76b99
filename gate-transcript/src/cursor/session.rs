//! Cursor's transcripts, `~/.cursor/projects/…/agent-transcripts/ID/ID.jsonl`.
//!
//! Sources: public readers of such files (2026). A line holds one message, in blocks as Claude's; it
//! has no id and no time. Answers of tools are not in it. A sub-agent's transcript is a file of its own.

use serde::Deserialize;

use crate::json::{Borrowed, Json, Records, read};
use crate::loose::{Cause, Content, Leaves, Object, Str};
use crate::out::Out;
use crate::spec::{KnownBy, Spec};
use crate::utterance::Utterance;
use crate::{Boundary, Role};

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
    speech: Utterance,
}

struct Any;

impl Borrowed for Any {
    type Of<'a> = Record<'a>;
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Record<'a> {
    #[serde(borrow)]
    role: Str<'a>,
    #[serde(borrow)]
    message: Object<Message<'a>>,
    #[serde(borrow)]
    error: Cause<'a>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Message<'a> {
    #[serde(borrow)]
    content: Content<'a, Block<'a>>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Block<'a> {
    #[serde(rename = "type", borrow)]
    kind: Str<'a>,
    #[serde(borrow)]
    text: Str<'a>,
    #[serde(borrow)]
    name: Str<'a>,
    #[serde(borrow)]
    input: Leaves<'a>,
    #[serde(borrow)]
    content: Leaves<'a>,
}

impl Records for Session {
    fn record(&mut self, json: &str, line: u64, out: &mut Out<'_>) -> bool {
        read::<Any>(json, |record| self.take(&record, line, out))
    }

    fn finish(&mut self, _: &mut Out<'_>) {}
}

impl Session {
    fn take(&mut self, record: &Record<'_>, line: u64, out: &mut Out<'_>) {
        self.speech.close();
        out.failure(&record.error, None, line);
        let Some(message) = &record.message.0 else { return };
        let is_agents = &*record.role == "assistant";
        match &message.content {
            Content::Text(text) if is_agents => self.text(text, line, out),
            Content::Text(text) => self.prompt(text, line, out),
            Content::Blocks(blocks) => {
                for block in blocks {
                    match &*block.kind {
                        "text" if is_agents => self.text(&block.text, line, out),
                        "text" => self.prompt(&block.text, line, out),
                        _ => self.tool(block, line, out),
                    }
                }
            }
        }
    }

    fn prompt(&mut self, text: &str, line: u64, out: &mut Out<'_>) {
        self.speech.forget();
        out.boundary(Boundary::Prompt, line);
        out.say(Role::User, text, line);
    }

    fn text(&mut self, text: &str, line: u64, out: &mut Out<'_>) {
        let text = text.trim_end();
        let text = text.strip_suffix(THOUGHT).unwrap_or(text).trim_end();
        self.speech.block(MESSAGE, text, line, out);
    }

    fn tool(&mut self, block: &Block<'_>, line: u64, out: &mut Out<'_>) {
        self.speech.close();
        if &*block.kind == "tool_use" {
            out.called("", &block.name, &block.input, line);
        }
        for text in block.input.texts.iter().chain(&block.content.texts) {
            out.say(Role::Tool, text, line);
        }
    }
}
