//! Cursor's `stop` (by its documentation; it fires in interactive sessions
//! only).
//!
//! A follow-up message makes the agent go on; exit code 2 refuses nothing. The event
//! carries no text, and a transcript only in some versions.

use std::time::Duration;

use serde_json::{Value, json};

use super::client::{Client, Event, not_judged};
use super::payload::Payload;
use super::transcript_lag::TranscriptLag;

pub(super) const CLIENT: Client = Client {
    event,
    is_headless: |_| Some(false),
    transcript_lag: |_, _, _| TranscriptLag::UpToDate,
    refusal: follow_up,
    shows_messages: false,
    project: Some("CURSOR_PROJECT_DIR"),
    deadline: Duration::from_secs(50),
};

const SESSION_START_EVENT: &str = "sessionStart";

fn event(payload: &Payload<'_>) -> Event {
    let broken_off = payload.text("status").is_some_and(|status| status != "completed");
    let root = payload.list("workspace_roots").first().and_then(Value::as_str);
    let event = Event::from_payload(payload, SESSION_START_EVENT, "stop");
    Event {
        not_judged: event.not_judged.or(broken_off.then_some(not_judged::BROKEN_OFF)),
        session: payload.owned("conversation_id"),
        folder: payload.path("cwd").or_else(|| root.map(Into::into)),
        last_message: payload.owned("last_assistant_message"),
        ..event
    }
}

fn follow_up(reason: &str) -> Value {
    json!({ "followup_message": reason })
}
