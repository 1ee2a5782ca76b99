//! Gemini CLI's session file: records of which later ones change earlier
//! ones; in older versions one object with all messages; and the checkpoints
//! of `/chat save`, which are the bare conversation.
//!
//! A message is written again, with the same id, when its tools have answered:
//! the last one counts. `$set` with messages replaces the conversation: at the
//! beginning, after a compression, when a failed turn is taken back. Hook
//! feedback is a user's message like any other.

use std::collections::VecDeque;

use super::{FAMILY, Tokens};
use crate::json::{Json, Records, records};
use crate::loose::{Content, Leaves, List, Maybe, Object, Str};
use crate::out::Out;
use crate::parts::Part;
use crate::shape::Shape;
use crate::spec::{KnownBy, Spec};
use crate::talk::Talk;
use crate::tally::Tally;
use crate::{Boundary, Role, Usage};

pub(crate) const GEMINI_SESSION: Spec = Spec {
    name: "gemini-session",
    family: FAMILY,
    known_by: KnownBy::Record(is_record),
    open: |_| Box::new(Json::new(Session::default())),
};

fn is_record(shape: &Shape<'_>) -> bool {
    let is_header = shape.has("sessionId") && (shape.has("projectHash") || shape.has("startTime"));
    let is_message = matches!(shape.text("type"), "user" | "gemini")
        && shape.has("id")
        && shape.has("timestamp")
        && shape.has("content");
    let is_checkpoint = shape.in_array
        && shape.is_first
        && matches!(shape.text("role"), "user" | "model")
        && shape.has("parts");
    let is_change = shape.has("$set") || shape.has("$rewindTo");
    is_header || is_message || is_checkpoint || is_change
}

/// Messages and calls that are remembered, to know them when they come again.
const MAX_IDS: usize = 256;

/// Follows a session file.
#[derive(Debug, Default)]
struct Session {
    talk: Talk,
    /// The ids of the messages that were read, newest first.
    message_ids: VecDeque<String>,
    /// The id of the message that the agent spoke last.
    last_spoken: String,
    /// The ids of the calls whose result was read, newest first.
    call_ids: VecDeque<String>,
    tally: Tally,
}

records! {
    /// A message, or a change of several.
    struct Record<'a> {
        "sessionId" => session: Str<'a>,
        kind: Str<'a>,
        messages: List<Object<Record<'a>>>,
        "$set" => set: Object<Update<'a>>,
        "$rewindTo" => rewind: Str<'a>,

        id: Str<'a>,
        "type" => role: Str<'a>,
        content: Content<'a, Part<'a>>,
        thoughts: List<Leaves<'a>>,
        model: Str<'a>,
        tokens: Object<Tokens>,
        "toolCalls" => calls: List<Object<ToolCall<'a>>>,

        // A checkpoint's message.
        "role" => api_role: Str<'a>,
        parts: List<Part<'a>>,
    }

    struct Update<'a> {
        kind: Str<'a>,
        messages: Maybe<List<Object<Record<'a>>>>,
    }

    struct ToolCall<'a> {
        id: Str<'a>,
        name: Str<'a>,
        args: Leaves<'a>,
        status: Str<'a>,
        result: List<Object<Part<'a>>>,
    }
}

impl Records for Session {
    type Record<'a> = Record<'a>;

    fn take(&mut self, record: Record<'_>, out: &mut Out<'_>) {
        out.session(&record.session);
        let update_kind = record.set.0.as_ref().map_or("", |update| &*update.kind);
        self.talk.sub_agent |= [&*record.kind, update_kind].contains(&"subagent");
        if !record.rewind.is_empty() {
            self.talk.turn(Boundary::Prompt, out);
        }
        self.message(&record, out);
        // In one object with all messages, their number says more than the line of the object.
        let line = out.line();
        for (number, message) in (1..).zip(&record.messages.0) {
            if let Some(message) = &message.0 {
                self.message(message, out.at_line(number));
            }
        }
        if let Some(messages) = record.set.0.and_then(|update| update.messages.0) {
            self.replace(&messages, out.at_line(line));
        }
    }

    fn finish(&mut self, out: &mut Out<'_>) {
        out.usage(Usage { tokens: self.tally.total(), ..Usage::default() });
    }
}

impl Session {
    /// If every message that was read is in the list too, the list only adds to them;
    /// otherwise no message that is left in it is the last word.
    fn replace(&mut self, messages: &List<Object<Record<'_>>>, out: &mut Out<'_>) {
        let messages: Vec<_> = messages.0.iter().filter_map(|message| message.0.as_ref()).collect();
        let is_listed = |id: &String| messages.iter().any(|message| *message.id == **id);
        let is_complete = self.message_ids.iter().all(is_listed);
        if !is_complete {
            self.talk.turn(Boundary::Compaction, out);
        }
        for message in messages {
            if is_complete {
                self.message(message, out);
            } else {
                out.say(Role::System, &message.content.text());
                remember(&mut self.message_ids, &message.id);
            }
        }
    }

    fn message(&mut self, message: &Record<'_>, out: &mut Out<'_>) {
        match (&*message.role, &*message.api_role) {
            ("gemini", _) => self.agent(message, out),
            ("user", _) => self.user(message, out),
            ("error", _) => {
                let text = message.content.text();
                out.fail(&text, super::status(&text));
            }
            ("", "model") => self.talk.agent_parts("", &message.parts.0, out),
            ("", "user") => self.talk.user_parts(&message.parts.0, out),
            _ => out.say(Role::System, &message.content.text()),
        }
    }

    fn user(&mut self, message: &Record<'_>, out: &mut Out<'_>) {
        if !remember(&mut self.message_ids, &message.id) {
            return;
        }
        match &message.content {
            Content::Text(text) => self.talk.user_text(text, false, out),
            Content::Blocks(parts) if parts.iter().any(|part| part.response().is_some()) => {
                // The message that called holds the answers too.
                self.talk.close();
                for part in parts.iter().filter(|part| part.response().is_none()) {
                    self.talk.user_text(&part.text, false, out);
                }
            }
            Content::Blocks(parts) => self.talk.user_parts(parts, out),
        }
    }

    fn agent(&mut self, message: &Record<'_>, out: &mut Out<'_>) {
        out.model(&message.model);
        if let Some(tokens) = &message.tokens.0 {
            self.tally.count(&message.id, tokens.total());
        }
        let is_last = self.message_ids.front().is_some_and(|last_id| **last_id == *message.id);
        if remember(&mut self.message_ids, &message.id) {
            for text in message.thoughts.0.iter().flat_map(|thought| &thought.texts) {
                self.talk.thought(text, out);
            }
            self.speak(message, out);
        } else {
            self.rewrite(message, is_last, out);
        }
        for call in message.calls.0.iter().filter_map(|call| call.0.as_ref()) {
            self.call(call, out);
        }
    }

    /// The new text of a message that is written again counts, unless another message was
    /// spoken since.
    fn rewrite(&mut self, message: &Record<'_>, is_last: bool, out: &mut Out<'_>) {
        let text = message.content.text();
        let is_last_spoken = *message.id == *self.last_spoken && self.talk.has_text();
        if is_last_spoken && text.trim().is_empty() {
            // Its text is taken back: the boundary keeps it from being the last word.
            self.talk.turn(Boundary::Prompt, out);
        } else if (is_last_spoken || is_last) && !self.talk.is_repeated_by(&text) {
            self.talk.close();
            self.speak(message, out);
        }
    }

    fn speak(&mut self, message: &Record<'_>, out: &mut Out<'_>) {
        if !message.content.text().trim().is_empty() {
            (*message.id).clone_into(&mut self.last_spoken);
        }
        match &message.content {
            Content::Text(text) => self.talk.block(&message.id, text, out),
            Content::Blocks(parts) => self.talk.agent_parts(&message.id, parts, out),
        }
    }

    /// A call is repeated each time its message is written; it counts when it has
    /// ended.
    fn call(&mut self, call: &ToolCall<'_>, out: &mut Out<'_>) {
        let has_ended = matches!(&*call.status, "success" | "error" | "cancelled");
        if !has_ended || !remember(&mut self.call_ids, &call.id) {
            return;
        }
        self.talk.call(&call.id, &call.name, &call.args, out);
        let parts = call.result.0.iter().filter_map(|part| part.0.as_ref());
        for response in parts.filter_map(Part::response) {
            self.talk.response(response, &call.status, out);
        }
    }
}

/// Remembers an id, and returns if it is new. An empty one always is.
fn remember(ids: &mut VecDeque<String>, id: &str) -> bool {
    let is_new = id.is_empty() || !ids.iter().any(|remembered| remembered == id);
    if is_new && !id.is_empty() {
        ids.truncate(MAX_IDS - 1);
        ids.push_front(id.to_owned());
    }
    is_new
}
