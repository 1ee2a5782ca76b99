//! Gemini CLI's session file: records of which later ones change earlier
//! ones; in older versions one object with all messages; and the checkpoints
//! of `/chat save`, which are the bare conversation.
//!
//! A message is written again, with the same id, when its tools have answered:
//! the last one counts. `$set` with messages replaces the conversation: at the
//! beginning, after a compression, when a failed turn is taken back. Hook
//! feedback is a user's message like any other.

use std::collections::VecDeque;

use serde::Deserialize;

use super::FAMILY;
use crate::json::{Borrowed, Json, Records, read};
use crate::loose::{Content, Leaves, List, Maybe, Num, Object, Str};
use crate::out::Out;
use crate::parts::{Part, Talk};
use crate::shape::Shape;
use crate::spec::{KnownBy, Spec};
use crate::tally::Tally;
use crate::{Boundary, Role, Usage};

pub(crate) const GEMINI_SESSION: Spec = Spec {
    name: "gemini-session",
    family: FAMILY,
    known_by: KnownBy::Record(is_record),
    open: |_| Box::new(Json::new(Session::default())),
};

fn is_record(shape: &Shape<'_>) -> bool {
    let header = shape.has("sessionId") && (shape.has("projectHash") || shape.has("startTime"));
    let is_message = matches!(shape.text("type"), "user" | "gemini");
    let message = is_message && shape.has("id") && shape.has("timestamp") && shape.has("content");
    let is_turn = matches!(shape.text("role"), "user" | "model");
    let turn = shape.in_array && shape.first && is_turn && shape.has("parts");
    header || message || turn || shape.has("$set") || shape.has("$rewindTo")
}

/// Messages and calls that are remembered, to know them when they come again.
const MAX_KNOWN: usize = 256;

/// Follows a session file.
#[derive(Debug, Default)]
struct Session {
    talk: Talk,
    messages: VecDeque<String>,
    /// The message that the agent spoke last.
    spoken: String,
    /// Calls whose result was seen.
    calls: VecDeque<String>,
    tally: Tally,
}

struct Any;

impl Borrowed for Any {
    type Of<'a> = Record<'a>;
}

/// A message, or what changes several.
#[derive(Deserialize, Default)]
#[serde(default)]
struct Record<'a> {
    #[serde(borrow, rename = "sessionId")]
    session: Str<'a>,
    #[serde(borrow)]
    kind: Str<'a>,
    #[serde(borrow)]
    messages: List<Object<Record<'a>>>,
    #[serde(borrow, rename = "$set")]
    set: Object<Update<'a>>,
    #[serde(borrow, rename = "$rewindTo")]
    rewind: Str<'a>,

    #[serde(borrow)]
    id: Str<'a>,
    #[serde(rename = "type", borrow)]
    role: Str<'a>,
    #[serde(borrow)]
    content: Content<'a, Part<'a>>,
    #[serde(borrow)]
    thoughts: List<Leaves<'a>>,
    #[serde(borrow)]
    model: Str<'a>,
    tokens: Object<Tokens>,
    #[serde(borrow, rename = "toolCalls")]
    calls: List<Object<ToolCall<'a>>>,

    // A checkpoint's message.
    #[serde(borrow, rename = "role")]
    api_role: Str<'a>,
    #[serde(borrow)]
    parts: List<Part<'a>>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Update<'a> {
    #[serde(borrow)]
    kind: Str<'a>,
    #[serde(borrow)]
    messages: Maybe<List<Object<Record<'a>>>>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Tokens {
    total: Num,
    cached: Num,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct ToolCall<'a> {
    #[serde(borrow)]
    id: Str<'a>,
    #[serde(borrow)]
    name: Str<'a>,
    #[serde(borrow)]
    args: Leaves<'a>,
    #[serde(borrow)]
    status: Str<'a>,
    #[serde(borrow)]
    result: List<Object<Part<'a>>>,
}

impl Records for Session {
    fn record(&mut self, json: &str, line: u64, out: &mut Out<'_>) -> bool {
        read::<Any>(json, |record| self.take(record, line, out))
    }

    fn finish(&mut self, out: &mut Out<'_>) {
        out.usage(Usage { tokens: self.tally.total(), ..Usage::default() });
    }
}

impl Session {
    fn take(&mut self, record: Record<'_>, line: u64, out: &mut Out<'_>) {
        out.session(&record.session);
        let set = record.set.0.as_ref().map_or("", |set| &*set.kind);
        self.talk.sub_agent |= [&*record.kind, set].contains(&"subagent");
        if !record.rewind.is_empty() {
            self.talk.turn(Boundary::Prompt, line, out);
        }
        self.message(&record, line, out);
        // In one object with all messages, their number says more than the line of the object.
        for (number, message) in (1..).zip(&record.messages.0) {
            if let Some(message) = &message.0 {
                self.message(message, number, out);
            }
        }
        if let Some(messages) = record.set.0.and_then(|set| set.messages.0) {
            self.replace(&messages, line, out);
        }
    }

    /// If every known message is in the new list too, the list only adds to them;
    /// otherwise nothing that is left in it is the last word.
    fn replace(&mut self, new: &List<Object<Record<'_>>>, line: u64, out: &mut Out<'_>) {
        let new: Vec<_> = new.0.iter().filter_map(|message| message.0.as_ref()).collect();
        let mut known = self.messages.iter();
        let whole = known.all(|id| new.iter().any(|message| *message.id == **id));
        if !whole {
            self.talk.turn(Boundary::Compaction, line, out);
        }
        for message in new {
            if whole {
                self.message(message, line, out);
            } else {
                out.say(Role::System, &text(&message.content), line);
                remember(&mut self.messages, &message.id);
            }
        }
    }

    fn message(&mut self, message: &Record<'_>, line: u64, out: &mut Out<'_>) {
        match (&*message.role, &*message.api_role) {
            ("gemini", _) => self.agent(message, line, out),
            ("user", _) => self.user(message, line, out),
            ("error", _) => {
                let text = text(&message.content);
                out.say(Role::System, &text, line);
                out.failure(&text, super::status(&text), line);
            }
            ("", "model") => self.talk.agent("", &message.parts.0, line, out),
            ("", "user") => self.talk.user(&message.parts.0, line, out),
            _ => out.say(Role::System, &text(&message.content), line),
        }
    }

    fn user(&mut self, message: &Record<'_>, line: u64, out: &mut Out<'_>) {
        if !remember(&mut self.messages, &message.id) {
            return;
        }
        match &message.content {
            Content::Text(text) => self.talk.user_text(text, false, line, out),
            Content::Blocks(parts) if parts.iter().any(|part| part.response().is_some()) => {
                // The message that called holds the answers too.
                self.talk.speech.close();
                for part in parts.iter().filter(|part| part.response().is_none()) {
                    self.talk.user_text(&part.text, false, line, out);
                }
            }
            Content::Blocks(parts) => self.talk.user(parts, line, out),
        }
    }

    fn agent(&mut self, message: &Record<'_>, line: u64, out: &mut Out<'_>) {
        out.model(&message.model);
        if let Some(tokens) = &message.tokens.0 {
            let [total, cached] = [tokens.total, tokens.cached].map(|n| n.whole().unwrap_or(0));
            self.tally.count(&message.id, total.saturating_sub(cached));
        }
        let last = self.messages.front().is_some_and(|last| **last == *message.id);
        if remember(&mut self.messages, &message.id) {
            for text in message.thoughts.0.iter().flat_map(|thought| &thought.texts) {
                self.talk.thought(text, line, out);
            }
            self.speak(message, line, out);
        } else {
            self.rewrite(message, last, line, out);
        }
        for call in message.calls.0.iter().filter_map(|call| call.0.as_ref()) {
            self.call(call, line, out);
        }
    }

    /// The new text of a message that is written again counts, unless another message was
    /// spoken since.
    fn rewrite(&mut self, message: &Record<'_>, last: bool, line: u64, out: &mut Out<'_>) {
        let text = text(&message.content);
        let spoken = *message.id == *self.spoken && self.talk.speech.has_text();
        if spoken && text.trim().is_empty() {
            self.talk.turn(Boundary::Prompt, line, out);
        } else if (spoken || last) && !self.talk.speech.repeated_by(&text) {
            self.talk.speech.close();
            self.speak(message, line, out);
        }
    }

    fn speak(&mut self, message: &Record<'_>, line: u64, out: &mut Out<'_>) {
        if !text(&message.content).trim().is_empty() {
            (*message.id).clone_into(&mut self.spoken);
        }
        match &message.content {
            Content::Text(text) => self.talk.text(&message.id, text, line, out),
            Content::Blocks(parts) => self.talk.agent(&message.id, parts, line, out),
        }
    }

    /// A call is repeated each time its message is written; it counts when it has
    /// ended.
    fn call(&mut self, call: &ToolCall<'_>, line: u64, out: &mut Out<'_>) {
        let ended = matches!(&*call.status, "success" | "error" | "cancelled");
        if !ended || !remember(&mut self.calls, &call.id) {
            return;
        }
        self.talk.call(&call.id, &call.name, &call.args, line, out);
        let parts = call.result.0.iter().filter_map(|part| part.0.as_ref());
        for response in parts.filter_map(Part::response) {
            self.talk.answer(response, &call.status, line, out);
        }
    }
}

/// True for an id that was not seen before, and without an id.
fn remember(known: &mut VecDeque<String>, id: &str) -> bool {
    let new = id.is_empty() || !known.iter().any(|known| known == id);
    if new && !id.is_empty() {
        known.truncate(MAX_KNOWN - 1);
        known.push_front(id.to_owned());
    }
    new
}

/// The text of a message, with each part on lines of its own.
fn text(content: &Content<'_, Part<'_>>) -> String {
    match content {
        Content::Text(text) => text.to_string(),
        Content::Blocks(parts) => {
            let texts: Vec<&str> = parts.iter().map(|part| &*part.text).collect();
            texts.join("\n")
        }
    }
}
