//! Kimi's session log, `wire.jsonl`, and the outputs of `kimi --wire` and of
//! `kimi --print --output-format stream-json`.
//!
//! Sources: MoonshotAI/kimi-cli, `src/kimi_cli/wire/types.py` and `file.py` (1.3); MoonshotAI/kimi-code,
//! `packages/agent-core-v2/docs/wire-manifest.d.ts` (protocol 1.5). kimi-cli wraps each message in an
//! envelope with its type; kimi-code writes flat records. A file has the events of one agent;
//! sub-agents are in files of their own, or in envelopes of their own.

mod message;
mod record;

use super::calls::Calls;
use super::json::{Json, Records, read};
use super::loose::{Content, Leaves};
use super::out::Out;
use super::parts::failed;
use super::spec::{KnownBy, Spec};
use super::tally::Tally;
use super::utterance::Utterance;
use super::{Boundary, Ending, Role, Usage};
use record::{Any, Part, Record};

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
    speech: Utterance,
    calls: Calls,
    tokens: Tally,
}

impl Records for Kimi {
    fn record(&mut self, json: &str, line: u64, out: &mut Out<'_>) -> bool {
        read::<Any>(json, |record| self.take(&record, line, out))
    }

    fn finish(&mut self, out: &mut Out<'_>) {
        out.usage(Usage { tokens: self.tokens.total(), ..Usage::default() });
    }
}

impl Kimi {
    fn take(&mut self, record: &Record<'_>, line: u64, out: &mut Out<'_>) {
        if let Some(envelope) = record.envelope() {
            return self.message(envelope, line, out);
        }
        out.model(&record.model);
        match &*record.kind {
            "" => self.printed(record, line, out),
            "context.append_message" => self.appended(record, line, out),
            "context.append_loop_event" => self.loop_event(record, line, out),
            // Of what was said before, the agent has at most a summary.
            "context.apply_compaction" | "context.clear" | "context.undo" => {
                self.turn(Boundary::Compaction, line, out);
                for text in &record.summary.texts {
                    out.say(Role::System, text, line);
                }
            }
            "usage.record" => {
                if let Some(used) = record.usage.0.as_ref().and_then(|usage| usage.total()) {
                    self.tokens.count("", used);
                }
            }
            _ => {}
        }
    }

    fn turn(&mut self, boundary: Boundary, line: u64, out: &mut Out<'_>) {
        self.speech.forget();
        out.boundary(boundary, line);
    }

    /// Somebody else's message to the agent, with the boundary that it is.
    fn prompt(
        &mut self,
        boundary: Boundary,
        content: &Content<'_, Part<'_>>,
        line: u64,
        out: &mut Out<'_>,
    ) {
        self.turn(boundary, line, out);
        for text in texts(content) {
            out.say(Role::User, text, line);
        }
    }

    fn appended(&mut self, record: &Record<'_>, line: u64, out: &mut Out<'_>) {
        let Some(message) = &record.message.0 else { return };
        let origin = message.origin.0.as_ref().map_or("", |origin| &*origin.kind);
        match (&*message.role, origin) {
            ("user", "injection" | "retry" | "compaction_summary") | ("system", _) => {
                for text in texts(&message.content) {
                    out.say(Role::System, text, line);
                }
            }
            ("user", "task") => {
                self.speech.close();
                out.boundary(Boundary::Notification, line);
                for text in texts(&message.content) {
                    out.say(Role::System, text, line);
                }
            }
            ("user", "hook_result") => {
                self.prompt(Boundary::HookFeedback, &message.content, line, out);
            }
            ("user", _) => self.prompt(Boundary::Prompt, &message.content, line, out),
            ("assistant", _) => {
                self.speech.close();
                self.spoken(&message.content, line, out);
            }
            _ => {
                self.speech.close();
                for text in texts(&message.content) {
                    out.say(Role::Tool, text, line);
                }
            }
        }
    }

    /// A message of `stream-json`.
    fn printed(&mut self, record: &Record<'_>, line: u64, out: &mut Out<'_>) {
        self.speech.close();
        match &*record.role {
            "user" => self.prompt(Boundary::Prompt, &record.content, line, out),
            "assistant" => {
                self.spoken(&record.content, line, out);
                for call in record.tool_calls.0.iter().filter_map(|call| call.0.as_ref()) {
                    self.tool_call(&call.id, &call.function, line, out);
                }
            }
            "tool" => {
                let text = texts(&record.content).collect::<Vec<_>>().join("\n");
                self.answer(&record.call, &text, false, line, out);
            }
            _ => {}
        }
    }

    /// A whole message of the agent.
    fn spoken(&mut self, content: &Content<'_, Part<'_>>, line: u64, out: &mut Out<'_>) {
        for part in parts(content) {
            self.part(MESSAGE, part, line, out);
        }
        if let Content::Text(text) = content {
            self.speech.block(MESSAGE, text, line, out);
        }
    }

    fn loop_event(&mut self, record: &Record<'_>, line: u64, out: &mut Out<'_>) {
        let Some(event) = &record.event.0 else { return };
        match &*event.kind {
            "content.part" => {
                if let Some(part) = &event.part.0 {
                    self.part(&event.step, part, line, out);
                }
            }
            "tool.call" => self.call(&event.call, &event.name, &event.args, line, out),
            "tool.result" => {
                let result = event.result.0.as_ref();
                let is_error = result.is_some_and(|result| result.failed());
                let texts = result.map(|result| result.output.texts.as_slice());
                self.answer(
                    &event.call,
                    &texts.unwrap_or_default().join("\n"),
                    is_error,
                    line,
                    out,
                );
            }
            _ => {}
        }
    }

    /// A part of what the agent says in the step with this id.
    fn part(&mut self, step: &str, part: &Part<'_>, line: u64, out: &mut Out<'_>) {
        match &*part.kind {
            "text" => self.speech.block(step, &part.text, line, out),
            "think" => out.say(Role::Thinking, &part.think, line),
            _ => {}
        }
    }

    fn call(&mut self, id: &str, tool: &str, input: &Leaves<'_>, line: u64, out: &mut Out<'_>) {
        self.speech.close();
        self.calls.started(id, tool, input.command.as_deref());
        out.called(id, tool, input, line);
        for text in &input.texts {
            out.say(Role::Tool, text, line);
        }
    }

    /// A tool's answer. It has no exit code of a command.
    fn answer(&mut self, id: &str, text: &str, is_error: bool, line: u64, out: &mut Out<'_>) {
        self.speech.close();
        out.answered(id, Ending::failed_if(is_error), line);
        out.say(Role::Tool, text, line);
        if is_error {
            let tool = self.calls.tool(id).unwrap_or_default();
            failed(tool, id, text, line, out);
        }
        self.calls.ended(id, None, line, out);
    }
}

fn parts<'c, 'a>(content: &'c Content<'a, Part<'a>>) -> impl Iterator<Item = &'c Part<'a>> {
    let blocks = match content {
        Content::Blocks(blocks) => blocks.as_slice(),
        Content::Text(_) => &[],
    };
    blocks.iter()
}

fn texts<'c>(content: &'c Content<'_, Part<'_>>) -> impl Iterator<Item = &'c str> {
    let whole = match content {
        Content::Text(text) => Some(&**text),
        Content::Blocks(_) => None,
    };
    whole.into_iter().chain(parts(content).map(|part| &*part.text))
}
