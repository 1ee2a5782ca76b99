//! Chat messages as models' APIs take them: an array of objects with `role`
//! and `content`, which many harnesses keep as their transcript.
//!
//! Sources: the chat APIs of OpenAI and Anthropic, public trajectories of
//! mini-SWE-agent. Reasoning in the content, in `<think>`, is not
//! the agent's word.

use serde::Deserialize;

use super::json::{Borrowed, Json, Records, read};
use super::loose::{Content, Flag, Leaves, Object, Str};
use super::out::Out;
use super::spec::{KnownBy, Spec};
use super::utterance::Utterance;
use super::{Boundary, Role};

pub(super) const CHAT_JSON: Spec = Spec {
    name: "chat-json",
    family: &["chat"],
    known_by: KnownBy::Record(|shape| {
        // An agent may print such an array too. A transcript begins with one, whose first message
        // is to the agent.
        let is_to_agent = ["system", "developer", "user"].contains(&shape.text("role"));
        shape.in_array && shape.first && is_to_agent && shape.has("content") && !shape.has("type")
    }),
    open: |_| Box::new(Json::new(Chat::default())),
};

/// Follows the messages.
#[derive(Debug, Default)]
struct Chat {
    speech: Utterance,
}

struct Any;

impl Borrowed for Any {
    type Of<'a> = Message<'a>;
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Message<'a> {
    #[serde(borrow)]
    role: Str<'a>,
    #[serde(borrow)]
    content: Content<'a, Block<'a>>,
    #[serde(borrow)]
    reasoning_content: Str<'a>,
    #[serde(borrow)]
    tool_calls: Leaves<'a>,
    #[serde(borrow)]
    model: Str<'a>,
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
    input: Leaves<'a>,
    #[serde(borrow)]
    content: Content<'a, Object<Block<'a>>>,
    is_error: Flag,
}

impl Records for Chat {
    fn record(&mut self, json: &str, line: u64, out: &mut Out<'_>) -> bool {
        read::<Any>(json, |message| self.take(&message, line, out))
    }

    fn finish(&mut self, _: &mut Out<'_>) {}
}

impl Chat {
    fn take(&mut self, message: &Message<'_>, line: u64, out: &mut Out<'_>) {
        let role = match &*message.role {
            "assistant" => Role::Assistant,
            "user" => Role::User,
            "tool" | "function" => Role::Tool,
            _ => Role::System,
        };
        self.speech.close();
        out.model(&message.model);
        out.say(Role::Thinking, &message.reasoning_content, line);
        match &message.content {
            Content::Text(text) => self.text(role, text, line, out),
            Content::Blocks(blocks) => self.blocks(role, blocks, line, out),
        }
        for text in &message.tool_calls.texts {
            out.say(Role::Tool, text, line);
        }
    }

    fn blocks(&mut self, role: Role, blocks: &[Block<'_>], line: u64, out: &mut Out<'_>) {
        let answers = blocks.iter().any(|block| &*block.kind == "tool_result");
        for block in blocks {
            match &*block.kind {
                "tool_result" => block.answer(line, out),
                "tool_use" => {
                    self.speech.close();
                    block.input.texts.iter().for_each(|text| out.say(Role::Tool, text, line));
                }
                "thinking" => out.say(Role::Thinking, &block.thinking, line),
                _ if answers => out.say(Role::System, &block.text, line),
                _ => self.text(role, &block.text, line, out),
            }
        }
    }

    fn text(&mut self, role: Role, text: &str, line: u64, out: &mut Out<'_>) {
        match role {
            _ if text.trim().is_empty() => {}
            Role::Assistant => {
                let (thought, answer) = split_thought(text);
                out.say(Role::Thinking, thought, line);
                self.speech.block("message", answer, line, out);
            }
            Role::User => {
                self.speech.forget();
                out.boundary(Boundary::Prompt, line);
                out.say(role, text, line);
            }
            // After the agent has spoken, another conversation begins with it, or
            // the client tells the agent something new.
            Role::System if self.speech.has_text() => {
                self.speech.forget();
                out.boundary(Boundary::Prompt, line);
                out.say(role, text, line);
            }
            _ => out.say(role, text, line),
        }
    }
}

impl Block<'_> {
    fn answer(&self, line: u64, out: &mut Out<'_>) {
        let text = match &self.content {
            Content::Text(text) => text.to_string(),
            Content::Blocks(blocks) => {
                let blocks = blocks.iter().filter_map(|block| block.0.as_ref());
                blocks.map(|block| &*block.text).collect::<Vec<_>>().join("\n")
            }
        };
        out.say(Role::Tool, &text, line);
        if self.is_error.0 {
            out.tool_failed(&text, line);
        }
    }
}

/// Splits off the thought: the text before the last `</think>`, or after a `<think>` that
/// nothing ends. Returns the thought and the rest.
fn split_thought(text: &str) -> (&str, &str) {
    if let Some(end) = text.rfind("</think>") {
        return text.split_at(end + "</think>".len());
    }
    match text.find("<think>") {
        Some(begin) if text[..begin].trim().is_empty() => (text, ""),
        _ => ("", text),
    }
}
