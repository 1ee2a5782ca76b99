//! Goose: `goose run --output-format json` or `stream-json`, and the session
//! file of older versions.
//!
//! Sources: block/goose, `crates/goose-cli/src/session/mod.rs` (`JsonOutput`,
//! `StreamEvent`) and `crates/goose/src/conversation/message.rs`, 1.6 to 1.48;
//! public logs of 1.48. Text may come in pieces, which have the message's id.
//! A tool's answer is a user's message. `metadata` marks which messages only
//! the agent or only the person sees: neither is anybody's word.

mod message;

use super::calls::Calls;
use super::json::{Json, Records, read};
use super::out::Out;
use super::parts::failed;
use super::shape::Shape;
use super::spec::{KnownBy, Spec};
use super::utterance::Utterance;
use super::{Boundary, Ending, Role, Usage};
use message::{Any, Block, Message, Record};

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
        let header = shape.has("working_dir") && shape.has("message_count");
        header || (!shape.in_array && !shape.has("type") && is_message(shape))
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
    speech: Utterance,
    calls: Calls,
    ended: bool,
    tokens: Option<u64>,
}

impl Records for Goose {
    fn record(&mut self, json: &str, line: u64, out: &mut Out<'_>) -> bool {
        read::<Any>(json, |record| self.take(record, line, out))
    }

    fn finish(&mut self, out: &mut Out<'_>) {
        out.usage(Usage { tokens: self.tokens, ..Usage::default() });
    }
}

impl Goose {
    fn take(&mut self, record: Record<'_>, line: u64, out: &mut Out<'_>) {
        let counted = record.metadata.0.as_ref().and_then(|metadata| metadata.total_tokens.whole());
        self.tokens = record.total_tokens.whole().or(counted).or(self.tokens);
        let is_run = record.is_run();
        if (is_run || matches!(&*record.kind, "complete" | "error")) && self.ended {
            self.turn(Boundary::Prompt, line, out);
        }
        match &*record.kind {
            "complete" => self.ended = true,
            "error" => {
                self.speech.close();
                fail(&record.error.texts.join("\n"), line, out);
            }
            "notification" => {}
            _ => {
                for message in record.into_messages() {
                    self.message(&message, line, out);
                }
                self.ended |= is_run;
            }
        }
    }

    fn message(&mut self, message: &Message<'_>, line: u64, out: &mut Out<'_>) {
        out.model(message.model());
        let seen = message.is_seen();
        match &*message.role {
            "user" => self.user(message, seen, line, out),
            "assistant" => self.assistant(message, seen, line, out),
            _ => {}
        }
    }

    fn turn(&mut self, boundary: Boundary, line: u64, out: &mut Out<'_>) {
        self.ended = false;
        self.speech.forget();
        out.boundary(boundary, line);
    }

    fn user(&mut self, message: &Message<'_>, seen: bool, line: u64, out: &mut Out<'_>) {
        self.speech.close();
        for block in message.blocks().filter(|block| &*block.kind == "toolResponse") {
            self.answer(block, line, out);
        }
        let texts: Vec<_> = message.blocks().filter(|block| &*block.kind == "text").collect();
        let feedback = !seen && texts.iter().any(|block| block.text.contains(REFUSAL));
        if feedback {
            self.turn(Boundary::HookFeedback, line, out);
        } else if seen && texts.iter().any(|block| !block.text.trim().is_empty()) {
            self.turn(Boundary::Prompt, line, out);
        }
        for block in texts {
            out.say(if seen || feedback { Role::User } else { Role::System }, &block.text, line);
        }
    }

    fn assistant(&mut self, message: &Message<'_>, seen: bool, line: u64, out: &mut Out<'_>) {
        if std::mem::take(&mut self.ended) {
            self.turn(Boundary::Prompt, line, out);
        }
        for block in message.blocks() {
            match &*block.kind {
                "text" if !seen => out.say(Role::System, &block.text, line),
                "text" => self.text(&message.id, &block.text, line, out),
                "thinking" | "reasoning" => out.say(Role::Thinking, &block.thinking, line),
                "toolRequest" | "frontendToolRequest" => self.call(block, line, out),
                "conversationCompacted" | "summarizationRequested" => {
                    self.turn(Boundary::Compaction, line, out);
                }
                _ => out.say(Role::System, &block.notice, line),
            }
        }
    }

    fn text(&mut self, id: &str, text: &str, line: u64, out: &mut Out<'_>) {
        if let Some(cause) = text.trim_start().strip_prefix(FAILURE) {
            self.speech.close();
            fail(cause, line, out);
        } else if id.is_empty() {
            self.speech.close();
            self.speech.block(id, text, line, out);
        } else {
            self.speech.delta(id, text, line, out);
        }
    }

    fn call(&mut self, block: &Block<'_>, line: u64, out: &mut Out<'_>) {
        self.speech.close();
        if let Some(call) = block.call() {
            self.calls.started(&block.id, &call.name, call.arguments.command.as_deref());
            out.called(&block.id, &call.name, &call.arguments, line);
            for text in &call.arguments.texts {
                out.say(Role::Tool, text, line);
            }
        }
    }

    fn answer(&mut self, block: &Block<'_>, line: u64, out: &mut Out<'_>) {
        let Some(result) = &block.tool_result.0 else {
            return;
        };
        let text = result.text();
        out.answered(&block.id, Ending::failed_if(result.is_error()), line);
        out.say(Role::Tool, &text, line);
        let code = result.exit_code();
        if result.is_error() || code.is_some_and(|code| code != 0) {
            let tool = self.calls.tool(&block.id).unwrap_or_default();
            failed(tool, &block.id, &text, line, out);
        }
        self.calls.ended(&block.id, code, line, out);
    }
}

fn fail(message: &str, line: u64, out: &mut Out<'_>) {
    out.say(Role::System, message, line);
    out.failure(message, None, line);
}
