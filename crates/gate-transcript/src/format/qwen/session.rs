//! Qwen Code's session file.
//!
//! Source: captures of 0.15.10. Parts marked `thought` are not the agent's
//! word; telemetry records repeat it; hook feedback is a user's message like
//! any other. A compaction is a `system` record.

use super::FAMILY;
use crate::json::{Json, Records, records};
use crate::loose::{Flag, List, Num, Object, Str};
use crate::out::Out;
use crate::parts::Part;
use crate::spec::{KnownBy, Spec};
use crate::talk::Talk;
use crate::tally::Tally;
use crate::{Boundary, Usage};

pub(crate) const QWEN_SESSION: Spec = Spec {
    name: "qwen-session",
    family: FAMILY,
    known_by: KnownBy::Record(|shape| {
        let has_content = shape.inner("message").has("parts") || shape.has("systemPayload");
        shape.has("sessionId") && shape.has("uuid") && has_content
    }),
    open: |_| Box::new(Json::new(Session::default())),
};

/// Follows a session file.
#[derive(Debug, Default)]
struct Session {
    talk: Talk,
    tally: Tally,
}

records! {
    struct Record<'a> {
        "type" => kind: Str<'a>,
        subtype: Str<'a>,
        "sessionId" => session: Str<'a>,
        uuid: Str<'a>,
        model: Str<'a>,
        "isSidechain" => is_sidechain: Flag,
        message: Object<Message<'a>>,
        "usageMetadata" => usage: Object<Tokens>,
        "systemPayload" => payload: Object<Payload<'a>>,
        "toolCallResult" => outcome: Object<Outcome<'a>>,
    }

    struct Message<'a> {
        parts: List<Part<'a>>,
    }

    struct Tokens {
        "totalTokenCount" => total: Num,
        "cachedContentTokenCount" => cached: Num,
    }

    struct Payload<'a> {
        "uiEvent" => event: Object<UiEvent<'a>>,
    }

    struct UiEvent<'a> {
        "event.name" => name: Str<'a>,
        error_message: Str<'a>,
        error: Str<'a>,
        status_code: Num,
    }

    struct Outcome<'a> {
        status: Str<'a>,
    }
}

impl Records for Session {
    type Record<'a> = Record<'a>;

    fn take(&mut self, record: Record<'_>, out: &mut Out<'_>) {
        out.session(&record.session);
        self.talk.sub_agent = record.is_sidechain.0;
        let parts = record.message.0.as_ref().map_or(&[][..], |message| &message.parts.0);
        match &*record.kind {
            "assistant" => {
                out.model(&record.model);
                self.talk.agent_parts(&record.uuid, parts, out);
            }
            "user" => self.talk.user_parts(parts, out),
            "tool_result" => {
                let status = record.outcome.0.as_ref().map_or("", |outcome| &*outcome.status);
                for response in parts.iter().filter_map(Part::response) {
                    self.talk.response(response, status, out);
                }
            }
            "system" => self.system(&record, out),
            _ => {}
        }
        if let Some(tokens) = &record.usage.0 {
            let counts = [tokens.total, tokens.cached];
            let [total, cached] = counts.map(|count| count.whole().unwrap_or(0));
            self.tally.count(&record.uuid, total.saturating_sub(cached));
        }
    }

    fn finish(&mut self, out: &mut Out<'_>) {
        out.usage(Usage { tokens: self.tally.total(), ..Usage::default() });
    }
}

impl Session {
    fn system(&mut self, record: &Record<'_>, out: &mut Out<'_>) {
        if &*record.subtype == "chat_compression" {
            self.talk.turn(Boundary::Compaction, out);
        }
        let event = record.payload.0.as_ref().and_then(|payload| payload.event.0.as_ref());
        if let Some(event) = event.filter(|event| event.name.ends_with(".api_error")) {
            let messages = [&event.error_message, &event.error];
            let message = messages.into_iter().find(|message| !message.is_empty());
            let cause = message.map_or("API error", |message| &**message);
            out.fail(cause, event.status_code.signed());
        }
    }
}
