//! Chat messages as models' APIs take them: an array of objects with `role`
//! and `content`, which many harnesses keep as their transcript.
//!
//! Sources: the chat APIs of OpenAI and Anthropic, public trajectories of
//! mini-SWE-agent. Reasoning in the content, in `<think>`, is not
//! the agent's word.

use crate::claude_like::Block;
use crate::json::{Json, Records, records};
use crate::loose::{Content, Leaves, Str};
use crate::out::Out;
use crate::spec::{KnownBy, Spec};
use crate::talk::Talk;
use crate::{Boundary, Role};

pub(super) const CHAT_JSON: Spec = Spec {
    name: "chat-json",
    family: &["chat"],
    known_by: KnownBy::Record(|shape| {
        // An agent may print such an array too. A transcript begins with the array, and the
        // array with a message to the agent.
        let is_to_agent = ["system", "developer", "user"].contains(&shape.text("role"));
        shape.in_array
            && shape.is_first
            && is_to_agent
            && shape.has("content")
            && !shape.has("type")
    }),
    open: |_| Box::new(Json::new(Chat::default())),
};

/// Follows the messages.
#[derive(Debug, Default)]
struct Chat {
    talk: Talk,
}

records! {
    struct Message<'a> {
        role: Str<'a>,
        content: Content<'a, Block<'a>>,
        reasoning_content: Str<'a>,
        tool_calls: Leaves<'a>,
        model: Str<'a>,
    }
}

impl Records for Chat {
    type Record<'a> = Message<'a>;

    fn take(&mut self, message: Message<'_>, out: &mut Out<'_>) {
        let role = match &*message.role {
            "assistant" => Role::Assistant,
            "user" => Role::User,
            "tool" | "function" => Role::Tool,
            _ => Role::System,
        };
        self.talk.close();
        out.model(&message.model);
        out.say(Role::Thinking, &message.reasoning_content);
        match &message.content {
            Content::Text(text) => self.text(role, text, out),
            Content::Blocks(blocks) => self.blocks(role, blocks, out),
        }
        out.say_all(Role::Tool, &message.tool_calls.texts);
    }
}

impl Chat {
    fn blocks(&mut self, role: Role, blocks: &[Block<'_>], out: &mut Out<'_>) {
        let has_answer = blocks.iter().any(|block| &*block.kind == "tool_result");
        for block in blocks {
            match &*block.kind {
                "tool_result" => tool_answer(block, out),
                "tool_use" => {
                    self.talk.close();
                    out.say_all(Role::Tool, &block.input.texts);
                }
                "thinking" => out.say(Role::Thinking, &block.thinking),
                _ if has_answer => out.say(Role::System, &block.text),
                _ => self.text(role, &block.text, out),
            }
        }
    }

    fn text(&mut self, role: Role, text: &str, out: &mut Out<'_>) {
        match role {
            _ if text.trim().is_empty() => {}
            Role::Assistant => {
                let (thought, message) = split_thought(text);
                out.say(Role::Thinking, thought);
                self.talk.block("message", message, out);
            }
            Role::User => self.talk.prompt(text, out),
            // After the agent has spoken, another conversation begins with it, or
            // the client tells the agent something new.
            Role::System if self.talk.has_text() => {
                self.talk.turn(Boundary::Prompt, out);
                out.say(role, text);
            }
            _ => out.say(role, text),
        }
    }
}

/// A tool's answer. Nothing names the tool.
fn tool_answer(block: &Block<'_>, out: &mut Out<'_>) {
    let text = block.content.text();
    out.say(Role::Tool, &text);
    if block.is_error.0 {
        out.tool_failed(&text);
    }
}

/// Splits off the thought: the text before the last `</think>`, or after a `<think>` that
/// nothing ends. Returns the thought and the text behind it.
fn split_thought(text: &str) -> (&str, &str) {
    if let Some(end) = text.rfind("</think>") {
        return text.split_at(end + "</think>".len());
    }
    match text.find("<think>") {
        Some(start) if text[..start].trim().is_empty() => (text, ""),
        _ => ("", text),
    }
}
