//! Qwen Code's session file.
//!
//! Source: captures of 0.15.10. Parts marked `thought` are not the agent's
//! word; telemetry records repeat it; hook feedback is a user's message like
//! any other. A compaction is a `system` record.

use serde::Deserialize;

use super::FAMILY;
use crate::json::{Borrowed, Json, Records, read};
use crate::loose::{Flag, List, Num, Object, Str};
use crate::out::Out;
use crate::parts::{Part, Talk};
use crate::spec::{KnownBy, Spec};
use crate::tally::Tally;
use crate::{Boundary, Role, Usage};

pub(crate) const QWEN_SESSION: Spec = Spec {
    name: "qwen-session",
    family: FAMILY,
    known_by: KnownBy::Record(|shape| {
        let message = shape.inner("message").has("parts") || shape.has("systemPayload");
        shape.has("sessionId") && shape.has("uuid") && message
    }),
    open: |_| Box::new(Json::new(Session::default())),
};

/// Follows a session file.
#[derive(Debug, Default)]
struct Session {
    talk: Talk,
    tally: Tally,
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
    subtype: Str<'a>,
    #[serde(borrow, rename = "sessionId")]
    session: Str<'a>,
    #[serde(borrow)]
    uuid: Str<'a>,
    #[serde(borrow)]
    model: Str<'a>,
    #[serde(rename = "isSidechain")]
    is_sidechain: Flag,
    #[serde(borrow)]
    message: Object<Message<'a>>,
    #[serde(rename = "usageMetadata")]
    usage: Object<Tokens>,
    #[serde(borrow, rename = "systemPayload")]
    payload: Object<Payload<'a>>,
    #[serde(borrow, rename = "toolCallResult")]
    outcome: Object<Outcome<'a>>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Message<'a> {
    #[serde(borrow)]
    parts: List<Part<'a>>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Tokens {
    #[serde(rename = "totalTokenCount")]
    total: Num,
    #[serde(rename = "cachedContentTokenCount")]
    cached: Num,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Payload<'a> {
    #[serde(borrow, rename = "uiEvent")]
    event: Object<UiEvent<'a>>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct UiEvent<'a> {
    #[serde(borrow, rename = "event.name")]
    name: Str<'a>,
    #[serde(borrow)]
    error_message: Str<'a>,
    #[serde(borrow)]
    error: Str<'a>,
    status_code: Num,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Outcome<'a> {
    #[serde(borrow)]
    status: Str<'a>,
}

impl Records for Session {
    fn record(&mut self, json: &str, line: u64, out: &mut Out<'_>) -> bool {
        read::<Any>(json, |record| self.take(&record, line, out))
    }

    fn finish(&mut self, out: &mut Out<'_>) {
        out.usage(Usage { tokens: self.tally.total(), ..Usage::default() });
    }
}

impl Session {
    fn take(&mut self, record: &Record<'_>, line: u64, out: &mut Out<'_>) {
        out.session(&record.session);
        self.talk.sub_agent = record.is_sidechain.0;
        let parts = record.message.0.as_ref().map_or(&[][..], |message| &message.parts.0);
        match &*record.kind {
            "assistant" => {
                out.model(&record.model);
                self.talk.agent(&record.uuid, parts, line, out);
            }
            "user" => self.talk.user(parts, line, out),
            "tool_result" => {
                let status = record.outcome.0.as_ref().map_or("", |outcome| &*outcome.status);
                for response in parts.iter().filter_map(Part::response) {
                    self.talk.answer(response, status, line, out);
                }
            }
            "system" => self.system(record, line, out),
            _ => {}
        }
        if let Some(tokens) = &record.usage.0 {
            let [total, cached] = [tokens.total, tokens.cached].map(|n| n.whole().unwrap_or(0));
            self.tally.count(&record.uuid, total.saturating_sub(cached));
        }
    }

    fn system(&mut self, record: &Record<'_>, line: u64, out: &mut Out<'_>) {
        if &*record.subtype == "chat_compression" {
            self.talk.turn(Boundary::Compaction, line, out);
        }
        let event = record.payload.0.as_ref().and_then(|payload| payload.event.0.as_ref());
        if let Some(event) = event.filter(|event| event.name.ends_with(".api_error")) {
            let messages = [&event.error_message, &event.error];
            let message = messages.into_iter().find(|message| !message.is_empty());
            let message = message.map_or("API error", |message| &**message);
            out.say(Role::System, message, line);
            out.failure(message, event.status_code.signed(), line);
        }
    }
}
