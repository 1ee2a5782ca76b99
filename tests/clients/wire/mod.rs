//! How models speak: one file an interface.

mod anthropic;
mod chat;
mod gemini;
mod responses;

use serde_json::{Value, json};

/// What a model says in one reply.
pub(super) struct Said {
    pub(super) text: String,
    /// The tool that it calls, and with what.
    pub(super) call: Option<(&'static str, Value)>,
}

/// One reply in the form in which a client reads it.
pub(super) struct Sent {
    pub(super) kind: &'static str,
    pub(super) body: String,
}

/// One interface of a model.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Wire {
    Anthropic,
    Responses,
    Chat,
    Gemini,
}

impl Wire {
    /// The interface that a path belongs to, where a reply of the model is
    /// asked for.
    pub(super) fn of(path: &str) -> Option<Self> {
        let path = path.split('?').next().unwrap_or_default();
        let ends = [
            ("/messages", Self::Anthropic),
            ("/responses", Self::Responses),
            ("/chat/completions", Self::Chat),
            (":generateContent", Self::Gemini),
            (":streamGenerateContent", Self::Gemini),
        ];
        ends.into_iter().find(|(end, _)| path.ends_with(end)).map(|(_, wire)| wire)
    }

    /// The reply with this number to what was asked.
    pub(super) fn say(self, path: &str, asked: &Value, number: usize, said: &Said) -> Sent {
        match self {
            Self::Anthropic if asked["stream"] == true => anthropic::stream(asked, number, said),
            Self::Anthropic => whole(&anthropic::message(asked, number, said)),
            Self::Responses => responses::stream(number, said),
            Self::Chat if asked["stream"] == true => chat::stream(number, said),
            Self::Chat => whole(&chat::message(number, said)),
            Self::Gemini if path.contains(":stream") => events([(None, gemini::message(said))]),
            Self::Gemini => whole(&gemini::message(said)),
        }
    }
}

/// An error as all of them tell one.
pub(super) fn error(status: u16) -> Sent {
    let error = json!({"type": "invalid_request_error", "code": status, "message": "refused"});
    whole(&json!({"type": "error", "error": error}))
}

pub(super) fn whole(value: &Value) -> Sent {
    Sent { kind: "application/json", body: value.to_string() }
}

/// Server-sent events, with or without a name.
fn events<'a>(events: impl IntoIterator<Item = (Option<&'a str>, Value)>) -> Sent {
    let line = |(name, data): (Option<&str>, Value)| {
        let name = name.map(|name| format!("event: {name}\n")).unwrap_or_default();
        format!("{name}data: {data}\n\n")
    };
    Sent { kind: "text/event-stream", body: events.into_iter().map(line).collect() }
}

/// Events that are named as their type says.
fn typed(list: &[Value]) -> Sent {
    events(list.iter().map(|event| (event["type"].as_str(), event.clone())))
}
