//! Goose's `Stop` (by its documentation). The event's name is under `event`. Sessions
//! are in a database, so the message is all there is to read.

use std::time::Duration;

use super::client::{Client, Event, block};
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
    Event {
        last_message: payload.owned("last_assistant_message"),
        ..Event::from_payload(payload, SESSION_START_EVENT, "Stop")
    }
}

fn is_headless(payload: &Payload<'_>) -> Option<bool> {
    payload.started_with("goose", &["run"])
}
