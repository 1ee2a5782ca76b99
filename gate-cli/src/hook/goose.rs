//! Goose's `Stop` (by its documentation). The event's name is under `event`. Sessions
//! are in a database, so the message is all there is to read.

use std::time::Duration;

use super::client::{Client, Event, block, event_kind, reason_not_to_judge};
use super::payload::Payload;
use super::transcript_lag::TranscriptLag;

pub(super) const CLIENT: Client = Client {
    event,
    is_headless,
    transcript_lag: |_, _, _| TranscriptLag::UpToDate,
    refusal: block,
    shows_messages: false,
    project: None,
    deadline: Duration::from_secs(25),
};

const SESSION_START_EVENT: &str = "SessionStart";

fn event(payload: &Payload<'_>) -> Event {
    let name = payload.text("event").or_else(|| payload.text("hook_event_name"));
    Event {
        kind: event_kind(payload, SESSION_START_EVENT),
        not_judged: reason_not_to_judge(name, "Stop"),
        session: payload.owned("session_id"),
        prompt_id: None,
        folder: payload.path("cwd"),
        transcript: payload.path("transcript_path"),
        last_message: payload.owned("last_assistant_message"),
        background_tasks: Vec::new(),
        prompt_text: payload.owned("prompt"),
    }
}

fn is_headless(payload: &Payload<'_>) -> Option<bool> {
    payload.started_with("goose", &["run"])
}
