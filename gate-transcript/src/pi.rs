//! Pi: `pi --mode json`, and session files of Pi and of OpenClaw, which is built on it.
//!
//! Sources: badlogic/pi-mono, `packages/coding-agent/docs/json.md` and `session.md` (version 3); public
//! session files of OpenClaw, and of Pi's sub-agents, whose entries have a `recordType`. Both begin with the same header. The stream has events, of which
//! `message_end` holds a whole message; the session file has a message in each entry. A session is
//! a tree whose last entry is the current leaf, and a branch is summarised where it is left.

use serde::Deserialize;

use super::calls::Calls;
use super::json::{Borrowed, Json, Records, read};
use super::loose::{Cause, Content, Flag, Leaves, Num, Object, Str, sum};
use super::out::Out;
use super::parts::failed;
use super::shape::Shape;
use super::spec::{KnownBy, Spec};
use super::utterance::Utterance;
use super::{Boundary, Ending, Role, Usage};

pub(super) const PI_STREAM: Spec = Spec {
    name: "pi-stream",
    family: &["pi", "openclaw"],
    known_by: KnownBy::Record(|shape| match shape.text("type") {
        "session" => is_header(shape),
        "message_start" | "message_update" | "message_end" => {
            // Anthropic's API has events of the same names.
            let message = shape.inner("message");
            message.has("role") && !message.has("type")
        }
        "turn_end" => shape.has("message") && shape.has("toolResults"),
        "agent_end" => shape.has("messages"),
        kind => kind.starts_with("tool_execution_") && shape.has("toolCallId"),
    }),
    open: |_| Box::new(Json::new(Pi::default())),
};

pub(super) const PI_SESSION: Spec = Spec {
    name: "pi-session",
    known_by: KnownBy::Record(|shape| match shape.text("type") {
        "session" => is_header(shape),
        "message" => shape.has("parentId") && shape.inner("message").has("role"),
        "model_change" | "thinking_level_change" | "compaction" | "branch_summary" => {
            shape.has("parentId")
        }
        "" => shape.has("recordType") && shape.inner("message").has("role"),
        _ => false,
    }),
    ..PI_STREAM
};

fn is_header(shape: &Shape<'_>) -> bool {
    shape.has("id") && shape.has("cwd") && shape.has("timestamp")
}

/// The id of the message that is read: its blocks belong together.
const MESSAGE: &str = "message";

/// Follows the messages.
#[derive(Debug, Default)]
struct Pi {
    speech: Utterance,
    calls: Calls,
    spent: Usage,
    /// The context was compacted. That matters only if the agent goes on: Pi also does it when a
    /// turn is over.
    compacted: bool,
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
    #[serde(rename = "modelId", borrow)]
    model: Str<'a>,
    #[serde(borrow)]
    content: Content<'a, Block<'a>>,
    #[serde(borrow)]
    summary: Str<'a>,
    #[serde(rename = "finalError", borrow)]
    final_error: Cause<'a>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Message<'a> {
    #[serde(borrow)]
    role: Str<'a>,
    #[serde(borrow)]
    content: Content<'a, Block<'a>>,
    #[serde(borrow)]
    model: Str<'a>,
    #[serde(rename = "errorMessage", borrow)]
    error: Str<'a>,
    usage: Object<Tokens>,
    #[serde(rename = "toolCallId", borrow)]
    call: Str<'a>,
    #[serde(rename = "isError")]
    is_error: Flag,
    details: Object<Details>,
    // A command that the person ran, and a summary.
    #[serde(borrow)]
    command: Str<'a>,
    #[serde(borrow)]
    output: Str<'a>,
    #[serde(borrow)]
    summary: Str<'a>,
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
    arguments: Leaves<'a>,
}

/// Only OpenClaw reports how a command has ended.
#[derive(Deserialize, Default)]
#[serde(default)]
struct Details {
    #[serde(alias = "exitCode")]
    exit_code: Num,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Tokens {
    input: Num,
    output: Num,
    #[serde(rename = "cacheWrite")]
    cache_write: Num,
    cost: Object<Cost>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Cost {
    total: Num,
}

impl Records for Pi {
    fn record(&mut self, json: &str, line: u64, out: &mut Out<'_>) -> bool {
        read::<Any>(json, |record| self.take(&record, line, out))
    }

    fn finish(&mut self, out: &mut Out<'_>) {
        out.usage(self.spent);
    }
}

impl Pi {
    fn take(&mut self, record: &Record<'_>, line: u64, out: &mut Out<'_>) {
        match &*record.kind {
            "session" => out.session(&record.id),
            "model_change" => out.model(&record.model),
            // A message that was begun and not ended is cut off: it is not the agent's word.
            "message_start" => self.speech.close(),
            "message" | "message_end" | "" => {
                if let Some(message) = &record.message.0 {
                    self.message(message, line, out);
                }
            }
            "custom_message" => self.prompt(Boundary::Objective, &record.content, line, out),
            "compaction" | "compaction_end" | "auto_compaction_end" => {
                self.compacted = true;
                out.say(Role::System, &record.summary, line);
            }
            "branch_summary" => {
                self.turn(Boundary::Compaction, line, out);
                out.say(Role::System, &record.summary, line);
            }
            "auto_retry_end" => out.failure(&record.final_error, None, line),
            _ => {}
        }
    }

    fn turn(&mut self, boundary: Boundary, line: u64, out: &mut Out<'_>) {
        self.compacted = false;
        self.speech.forget();
        out.boundary(boundary, line);
    }

    /// Somebody else's message to the agent.
    fn prompt(
        &mut self,
        boundary: Boundary,
        content: &Content<'_, Block<'_>>,
        line: u64,
        out: &mut Out<'_>,
    ) {
        self.turn(boundary, line, out);
        for text in texts(content) {
            out.say(Role::User, text, line);
        }
    }

    fn message(&mut self, message: &Message<'_>, line: u64, out: &mut Out<'_>) {
        self.speech.close();
        match &*message.role {
            "user" => self.prompt(Boundary::Prompt, &message.content, line, out),
            "assistant" => self.assistant(message, line, out),
            "toolResult" => self.answer(message, line, out),
            // An extension speaks to the agent, or a hook of an older version.
            "custom" | "hookMessage" => {
                self.prompt(Boundary::Objective, &message.content, line, out);
            }
            "bashExecution" => {
                out.say(Role::Tool, &message.command, line);
                out.say(Role::Tool, &message.output, line);
            }
            _ => out.say(Role::System, &message.summary, line),
        }
    }

    fn assistant(&mut self, message: &Message<'_>, line: u64, out: &mut Out<'_>) {
        if self.compacted {
            self.turn(Boundary::Compaction, line, out);
        }
        out.model(&message.model);
        for block in blocks(&message.content) {
            match &*block.kind {
                "text" => self.speech.block(MESSAGE, &block.text, line, out),
                "thinking" => out.say(Role::Thinking, &block.thinking, line),
                "toolCall" => self.call(block, line, out),
                _ => {}
            }
        }
        self.speech.close();
        out.failure(&message.error, None, line);
        if let Some(tokens) = &message.usage.0 {
            self.spent.add(Usage {
                tokens: sum([tokens.input, tokens.output, tokens.cache_write]),
                cost_micro_usd: tokens.cost.0.as_ref().and_then(|cost| cost.total.micro()),
                ..Usage::default()
            });
        }
    }

    fn call(&mut self, block: &Block<'_>, line: u64, out: &mut Out<'_>) {
        self.speech.close();
        self.calls.started(&block.id, &block.name, block.arguments.command.as_deref());
        out.called(&block.id, &block.name, &block.arguments, line);
        for text in &block.arguments.texts {
            out.say(Role::Tool, text, line);
        }
    }

    fn answer(&mut self, message: &Message<'_>, line: u64, out: &mut Out<'_>) {
        let text = texts(&message.content).collect::<Vec<_>>().join("\n");
        out.answered(&message.call, Ending::from_mark(message.is_error.0), line);
        out.say(Role::Tool, &text, line);
        if message.is_error.0 {
            let tool = self.calls.tool(&message.call).unwrap_or_default();
            failed(tool, &message.call, &text, line, out);
        }
        let code = message.details.0.as_ref().and_then(|details| details.exit_code.signed());
        self.calls.ended(&message.call, code.and_then(|code| code.try_into().ok()), line, out);
    }
}

fn blocks<'c, 'a>(content: &'c Content<'a, Block<'a>>) -> &'c [Block<'a>] {
    match content {
        Content::Blocks(blocks) => blocks,
        Content::Text(_) => &[],
    }
}

fn texts<'c>(content: &'c Content<'_, Block<'_>>) -> impl Iterator<Item = &'c str> {
    let whole = match content {
        Content::Text(text) => Some(&**text),
        Content::Blocks(_) => None,
    };
    whole.into_iter().chain(blocks(content).iter().map(|block| &*block.text))
}
