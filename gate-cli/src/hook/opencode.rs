//! OpenCode's `session.idle`, as gate's own plug-in passes it on (1.18.33).
//! OpenCode starts no commands; the plug-in reads the messages and sends the
//! refusal as the next prompt.

use std::time::Duration;

use super::client::{Client, Event, block};
use super::payload::Payload;
use super::transcript_lag::TranscriptLag;

pub(super) const CLIENT: Client = Client {
    event,
    is_headless,
    transcript_lag: |_, _, _| TranscriptLag::UpToDate,
    refusal: block,
    shows_messages: true,
    project: None,
    deadline: Duration::from_secs(50),
};

/// The plug-in reports prompts alone; the first one begins a session.
const SESSION_START_EVENT: &str = "session.created";

fn event(payload: &Payload<'_>) -> Event {
    Event {
        prompt_id: payload.owned("prompt_id"),
        transcript: None,
        last_message: payload.owned("last_assistant_message"),
        ..Event::from_payload(payload, SESSION_START_EVENT, "session.idle")
    }
}

fn is_headless(payload: &Payload<'_>) -> Option<bool> {
    payload.started_with("opencode", &["run"])
}
