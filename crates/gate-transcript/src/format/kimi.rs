//! Kimi's session log, `wire.jsonl`, and the outputs of `kimi --wire` and of
//! `kimi --print --output-format stream-json`.
//!
//! Sources: MoonshotAI/kimi-cli, `src/kimi_cli/wire/types.py` and `file.py` (1.3); MoonshotAI/kimi-code,
//! `packages/agent-core-v2/docs/wire-manifest.d.ts` (protocol 1.5). kimi-cli wraps each message in an
//! envelope with its type; kimi-code writes flat records. A file has the events of one agent;
//! sub-agents are in files of their own, or in envelopes of their own.

mod message;
mod record;

use crate::claude_like::Block;
use crate::json::{Json, Records};
use crate::loose::Content;
use crate::out::Out;
use crate::spec::{KnownBy, Spec};
use crate::talk::Talk;
use crate::tally::Tally;
use crate::{Boundary, Ending, Role, Usage};
use record::Record;

pub(super) const KIMI_WIRE: Spec = Spec {
    name: "kimi-wire",
    family: &["kimi", "kimi-cli", "kimi-code"],
    known_by: KnownBy::Record(|shape| match shape.text("type") {
        "metadata" => shape.has("protocol_version"),
        "context.append_message" => shape.has("message"),
        "context.append_loop_event" => shape.has("event"),
        "turn.prompt" | "turn.steer" => shape.has("input") && shape.has("origin"),
        "" => ["message", "params"].iter().any(|key| {
            let envelope = shape.inner(key);
            envelope.has("type") && envelope.has("payload")
        }),
        _ => false,
    }),
    open: |_| Box::new(Json::new(Kimi::default())),
};

/// Messages as OpenAI's API has them, a line each.
pub(super) const KIMI_STREAM: Spec = Spec {
    name: "kimi-stream",
    known_by: KnownBy::Record(|shape| match shape.text("role") {
        "assistant" => shape.has("tool_calls") && !shape.in_array,
        "tool" => shape.has("tool_call_id") && shape.has("content") && !shape.in_array,
        "meta" => shape.text("type").starts_with("turn.step."),
        _ => false,
    }),
    ..KIMI_WIRE
};

/// The id of a message that is read whole: its parts belong together.
const MESSAGE: &str = "message";

/// Follows the log of one agent.
#[derive(Debug, Default)]
struct Kimi {
    talk: Talk,
    tokens: Tally,
}

impl Records for Kimi {
    type Record<'a> = Record<'a>;

    fn take(&mut self, record: Record<'_>, out: &mut Out<'_>) {
        if let Some(envelope) = record.envelope() {
            return self.message(envelope, out);
        }
        out.model(&record.model);
        match &*record.kind {
            "" => self.printed_message(&record, out),
            "context.append_message" => self.appended_message(&record, out),
            "context.append_loop_event" => self.loop_event(&record, out),
            // Of the texts before it, the agent has at most a summary.
            "context.apply_compaction" | "context.clear" | "context.undo" => {
                self.talk.turn(Boundary::Compaction, out);
                out.say_all(Role::System, &record.summary.texts);
            }
            "usage.record" => {
                if let Some(tokens) = record.usage.0.as_ref().and_then(|usage| usage.total()) {
                    self.tokens.count("", tokens);
                }
            }
            _ => {}
        }
    }

    fn finish(&mut self, out: &mut Out<'_>) {
        out.usage(Usage { tokens: self.tokens.total(), ..Usage::default() });
    }
}

impl Kimi {
    /// Somebody else's message to the agent, with the boundary that it is.
    fn prompt(&mut self, boundary: Boundary, content: &Content<'_, Block<'_>>, out: &mut Out<'_>) {
        self.talk.turn(boundary, out);
        for text in content.texts() {
            out.say(Role::User, text);
        }
    }

    fn appended_message(&mut self, record: &Record<'_>, out: &mut Out<'_>) {
        let Some(message) = &record.message.0 else { return };
        let origin = message.origin.0.as_ref().map_or("", |origin| &*origin.kind);
        match (&*message.role, origin) {
            ("user", "injection" | "retry" | "compaction_summary") | ("system", _) => {
                for text in message.content.texts() {
                    out.say(Role::System, text);
                }
            }
            ("user", "task") => {
                self.talk.close();
                out.boundary(Boundary::Notification);
                for text in message.content.texts() {
                    out.say(Role::System, text);
                }
            }
            ("user", "hook_result") => {
                self.prompt(Boundary::HookFeedback, &message.content, out);
            }
            ("user", _) => self.prompt(Boundary::Prompt, &message.content, out),
            ("assistant", _) => {
                self.talk.close();
                self.agent_message(&message.content, out);
            }
            _ => {
                self.talk.close();
                for text in message.content.texts() {
                    out.say(Role::Tool, text);
                }
            }
        }
    }

    /// A message of `stream-json`.
    fn printed_message(&mut self, record: &Record<'_>, out: &mut Out<'_>) {
        self.talk.close();
        match &*record.role {
            "user" => self.prompt(Boundary::Prompt, &record.content, out),
            "assistant" => {
                self.agent_message(&record.content, out);
                for call in record.tool_calls.0.iter().filter_map(|call| call.0.as_ref()) {
                    self.tool_call(&call.id, &call.function, out);
                }
            }
            "tool" => {
                let text = record.content.text();
                self.talk.answer(&record.call, &text, Ending::Unmarked, None, out);
            }
            _ => {}
        }
    }

    /// A whole message of the agent.
    fn agent_message(&mut self, content: &Content<'_, Block<'_>>, out: &mut Out<'_>) {
        for part in content.blocks() {
            self.part(MESSAGE, part, out);
        }
        if let Content::Text(text) = content {
            self.talk.block(MESSAGE, text, out);
        }
    }

    fn loop_event(&mut self, record: &Record<'_>, out: &mut Out<'_>) {
        let Some(event) = &record.event.0 else { return };
        match &*event.kind {
            "content.part" => {
                if let Some(part) = &event.part.0 {
                    self.part(&event.step, part, out);
                }
            }
            "tool.call" => self.talk.call(&event.call, &event.name, &event.args, out),
            "tool.result" => {
                let result = event.result.0.as_ref();
                let ending = Ending::failed_if(result.is_some_and(|result| result.has_failed()));
                let texts = result.map(|result| result.output.texts.as_slice());
                let text = texts.unwrap_or_default().join("\n");
                self.talk.answer(&event.call, &text, ending, None, out);
            }
            _ => {}
        }
    }

    /// A part of the agent's message in the step with this id.
    fn part(&mut self, step: &str, part: &Block<'_>, out: &mut Out<'_>) {
        match &*part.kind {
            "text" => self.talk.block(step, &part.text, out),
            "think" => out.say(Role::Thinking, &part.think),
            _ => {}
        }
    }
}
