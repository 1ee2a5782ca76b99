//! Pi: `pi --mode json`, and session files of Pi and of OpenClaw, which is built on it.
//!
//! Sources: badlogic/pi-mono, `packages/coding-agent/docs/json.md` and `session.md` (version 3); public
//! session files of OpenClaw, and of Pi's sub-agents, whose entries have a `recordType`. Both begin with the same header. The stream has events, of which
//! `message_end` holds a whole message; the session file has a message in each entry. A session is
//! a tree whose last entry is the current leaf, and a branch is summarised where it is left.

use crate::claude_like::Block;
use crate::json::{Json, Records, records};
use crate::loose::{Cause, Content, Flag, Num, Object, Str, sum};
use crate::out::Out;
use crate::shape::Shape;
use crate::spec::{KnownBy, Spec};
use crate::talk::Talk;
use crate::{Boundary, Ending, Role, Usage};

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
    talk: Talk,
    usage: Usage,
    /// The context was compacted. That matters only if the agent goes on: Pi also does it when a
    /// turn is over.
    compacted: bool,
}

records! {
    struct Record<'a> {
        "type" => kind: Str<'a>,
        id: Str<'a>,
        message: Object<Message<'a>>,
        "modelId" => model: Str<'a>,
        content: Content<'a, Block<'a>>,
        summary: Str<'a>,
        "finalError" => final_error: Cause<'a>,
    }

    struct Message<'a> {
        role: Str<'a>,
        content: Content<'a, Block<'a>>,
        model: Str<'a>,
        "errorMessage" => error: Str<'a>,
        usage: Object<Tokens>,
        "toolCallId" => call: Str<'a>,
        "isError" => is_error: Flag,
        details: Object<Details>,
        // A command that the person ran, and a summary.
        command: Str<'a>,
        output: Str<'a>,
        summary: Str<'a>,
    }

    /// Only OpenClaw reports the exit code of a command.
    struct Details {
        #[serde(alias = "exitCode")]
        exit_code: Num,
    }

    struct Tokens {
        input: Num,
        output: Num,
        "cacheWrite" => cache_write: Num,
        cost: Object<Cost>,
    }

    struct Cost {
        total: Num,
    }
}

impl Records for Pi {
    type Record<'a> = Record<'a>;

    fn take(&mut self, record: Record<'_>, out: &mut Out<'_>) {
        match &*record.kind {
            "session" => out.session(&record.id),
            "model_change" => out.model(&record.model),
            // A message without its end was cut off: it is not the agent's word.
            "message_start" => self.talk.close(),
            "message" | "message_end" | "" => {
                if let Some(message) = &record.message.0 {
                    self.message(message, out);
                }
            }
            "custom_message" => self.prompt(Boundary::Objective, &record.content, out),
            "compaction" | "compaction_end" | "auto_compaction_end" => {
                self.compacted = true;
                out.say(Role::System, &record.summary);
            }
            "branch_summary" => {
                self.turn(Boundary::Compaction, out);
                out.say(Role::System, &record.summary);
            }
            "auto_retry_end" => out.failure(&record.final_error, None),
            _ => {}
        }
    }

    fn finish(&mut self, out: &mut Out<'_>) {
        out.usage(self.usage);
    }
}

impl Pi {
    fn turn(&mut self, boundary: Boundary, out: &mut Out<'_>) {
        self.compacted = false;
        self.talk.turn(boundary, out);
    }

    /// Somebody else's message to the agent.
    fn prompt(&mut self, boundary: Boundary, content: &Content<'_, Block<'_>>, out: &mut Out<'_>) {
        self.turn(boundary, out);
        for text in content.texts() {
            out.say(Role::User, text);
        }
    }

    fn message(&mut self, message: &Message<'_>, out: &mut Out<'_>) {
        self.talk.close();
        match &*message.role {
            "user" => self.prompt(Boundary::Prompt, &message.content, out),
            "assistant" => self.assistant(message, out),
            "toolResult" => self.answer(message, out),
            // An extension speaks to the agent, or a hook of an older version.
            "custom" | "hookMessage" => {
                self.prompt(Boundary::Objective, &message.content, out);
            }
            "bashExecution" => {
                out.say(Role::Tool, &message.command);
                out.say(Role::Tool, &message.output);
            }
            _ => out.say(Role::System, &message.summary),
        }
    }

    fn assistant(&mut self, message: &Message<'_>, out: &mut Out<'_>) {
        if self.compacted {
            self.turn(Boundary::Compaction, out);
        }
        out.model(&message.model);
        for block in message.content.blocks() {
            match &*block.kind {
                "text" => self.talk.block(MESSAGE, &block.text, out),
                "thinking" => out.say(Role::Thinking, &block.thinking),
                "toolCall" => self.talk.call(&block.id, &block.name, &block.arguments, out),
                _ => {}
            }
        }
        self.talk.close();
        out.failure(&message.error, None);
        if let Some(tokens) = &message.usage.0 {
            self.usage.add(Usage {
                tokens: sum([tokens.input, tokens.output, tokens.cache_write]),
                cost_micro_usd: tokens.cost.0.as_ref().and_then(|cost| cost.total.micro()),
                ..Usage::default()
            });
        }
    }

    fn answer(&mut self, message: &Message<'_>, out: &mut Out<'_>) {
        let ending = Ending::from_mark(message.is_error.0);
        let code = message.details.0.as_ref().and_then(|details| details.exit_code.exit_code());
        self.talk.answer(&message.call, &message.content.text(), ending, code, out);
    }
}
