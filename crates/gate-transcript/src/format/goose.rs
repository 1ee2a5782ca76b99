//! Goose: `goose run --output-format json` or `stream-json`, and the session
//! file of older versions.
//!
//! Sources: block/goose, `crates/goose-cli/src/session/mod.rs` (`JsonOutput`,
//! `StreamEvent`) and `crates/goose/src/conversation/message.rs`, 1.6 to 1.48;
//! public logs of 1.48. Text may come in pieces, which have the message's id.
//! A tool's answer is a user's message. `metadata` marks which messages only
//! the agent or only the person sees: neither is anybody's word.

mod message;

use crate::json::{Json, Records};
use crate::out::Out;
use crate::shape::Shape;
use crate::spec::{KnownBy, Spec};
use crate::talk::Talk;
use crate::{Boundary, Ending, Role, Usage};
use message::{Block, Message, Record};

const FAMILY: &[&str] = &["goose"];

pub(super) const GOOSE_JSON: Spec = Spec {
    name: "goose-json",
    family: FAMILY,
    known_by: KnownBy::Record(|shape| {
        is_message(&shape.inner("messages")) && shape.has("metadata")
    }),
    open: |_| Box::new(Json::new(Goose::default())),
};

pub(super) const GOOSE_STREAM: Spec = Spec {
    name: "goose-stream",
    known_by: KnownBy::Record(|shape| match shape.text("type") {
        "message" => is_message(&shape.inner("message")),
        "notification" => shape.has("extension_id"),
        "complete" => shape.has("total_tokens"),
        _ => false,
    }),
    ..GOOSE_JSON
};

pub(super) const GOOSE_SESSION: Spec = Spec {
    name: "goose-session",
    known_by: KnownBy::Record(|shape| {
        let is_header = shape.has("working_dir") && shape.has("message_count");
        is_header || (!shape.in_array && !shape.has("type") && is_message(shape))
    }),
    ..GOOSE_JSON
};

fn is_message(shape: &Shape<'_>) -> bool {
    shape.has("role") && shape.has("created") && shape.has("content")
}

/// The client's own message in the agent's place after the provider failed.
const FAILURE: &str = "Ran into this error: ";

/// A part of the hidden message with which a stop hook sends the agent back.
const REFUSAL: &str = "blocked ending this turn";

/// Follows the messages.
#[derive(Debug, Default)]
struct Goose {
    talk: Talk,
    /// The run has ended: the next message is another run's.
    run_ended: bool,
    tokens: Option<u64>,
}

impl Records for Goose {
    type Record<'a> = Record<'a>;

    fn take(&mut self, record: Record<'_>, out: &mut Out<'_>) {
        let metadata = record.metadata.0.as_ref();
        let run_total = metadata.and_then(|metadata| metadata.total_tokens.whole());
        self.tokens = record.total_tokens.whole().or(run_total).or(self.tokens);
        let is_run = record.is_run();
        if (is_run || matches!(&*record.kind, "complete" | "error")) && self.run_ended {
            self.turn(Boundary::Prompt, out);
        }
        match &*record.kind {
            "complete" => self.run_ended = true,
            "error" => {
                self.talk.close();
                out.fail(&record.error.texts.join("\n"), None);
            }
            "notification" => {}
            _ => {
                for message in record.into_messages() {
                    self.message(&message, out);
                }
                self.run_ended |= is_run;
            }
        }
    }

    fn finish(&mut self, out: &mut Out<'_>) {
        out.usage(Usage { tokens: self.tokens, ..Usage::default() });
    }
}

impl Goose {
    fn message(&mut self, message: &Message<'_>, out: &mut Out<'_>) {
        out.model(message.model());
        let is_seen = message.is_visible();
        match &*message.role {
            "user" => self.user(message, is_seen, out),
            "assistant" => self.assistant(message, is_seen, out),
            _ => {}
        }
    }

    fn turn(&mut self, boundary: Boundary, out: &mut Out<'_>) {
        self.run_ended = false;
        self.talk.turn(boundary, out);
    }

    fn user(&mut self, message: &Message<'_>, is_seen: bool, out: &mut Out<'_>) {
        self.talk.close();
        for block in message.blocks().filter(|block| &*block.kind == "toolResponse") {
            self.answer(block, out);
        }
        let texts: Vec<_> = message.blocks().filter(|block| &*block.kind == "text").collect();
        let is_feedback = !is_seen && texts.iter().any(|block| block.text.contains(REFUSAL));
        if is_feedback {
            self.turn(Boundary::HookFeedback, out);
        } else if is_seen && texts.iter().any(|block| !block.text.trim().is_empty()) {
            self.turn(Boundary::Prompt, out);
        }
        for block in texts {
            out.say(if is_seen || is_feedback { Role::User } else { Role::System }, &block.text);
        }
    }

    fn assistant(&mut self, message: &Message<'_>, is_seen: bool, out: &mut Out<'_>) {
        if std::mem::take(&mut self.run_ended) {
            self.turn(Boundary::Prompt, out);
        }
        for block in message.blocks() {
            match &*block.kind {
                "text" if !is_seen => out.say(Role::System, &block.text),
                "text" => self.text(&message.id, &block.text, out),
                "thinking" | "reasoning" => out.say(Role::Thinking, &block.thinking),
                "toolRequest" | "frontendToolRequest" => self.call(block, out),
                "conversationCompacted" | "summarizationRequested" => {
                    self.turn(Boundary::Compaction, out);
                }
                _ => out.say(Role::System, &block.notice),
            }
        }
    }

    fn text(&mut self, id: &str, text: &str, out: &mut Out<'_>) {
        if let Some(cause) = text.trim_start().strip_prefix(FAILURE) {
            self.talk.close();
            out.fail(cause, None);
        } else if id.is_empty() {
            self.talk.close();
            self.talk.block(id, text, out);
        } else {
            self.talk.delta(id, text, out);
        }
    }

    fn call(&mut self, block: &Block<'_>, out: &mut Out<'_>) {
        self.talk.close();
        if let Some(call) = block.call() {
            self.talk.call(&block.id, &call.name, &call.arguments, out);
        }
    }

    fn answer(&mut self, block: &Block<'_>, out: &mut Out<'_>) {
        let Some(result) = &block.tool_result.0 else {
            return;
        };
        let ending = Ending::failed_if(result.is_error());
        self.talk.answer(&block.id, &result.text(), ending, result.exit_code(), out);
    }
}
