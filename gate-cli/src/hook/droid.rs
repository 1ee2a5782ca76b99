//! Factory Droid's `Stop` (0.215.0): Claude Code's shape, with the last message's id
//! instead of its text. The client may write the message while the hook runs.

use std::time::Duration;

use super::client::{Client, Event, block};
use super::payload::Payload;
use super::transcript_lag::{RecentRecords, TranscriptLag};

pub(super) const CLIENT: Client = Client {
    event,
    is_headless,
    transcript_lag,
    refusal: block,
    shows_messages: true,
    project: Some("FACTORY_PROJECT_DIR"),
    deadline: Duration::from_secs(50),
};

const SESSION_START_EVENT: &str = "SessionStart";

fn event(payload: &Payload<'_>) -> Event {
    Event::from_payload(payload, SESSION_START_EVENT, "Stop").unless_in_plan_mode(payload)
}

fn is_headless(payload: &Payload<'_>) -> Option<bool> {
    payload.started_with("droid", &["exec"])
}

fn transcript_lag(payload: &Payload<'_>, latest: &RecentRecords, _: &str) -> TranscriptLag {
    match payload.text("message_id") {
        Some(id) if !latest.records().any(|record| record["id"] == id) => TranscriptLag::Certain,
        _ => TranscriptLag::UpToDate,
    }
}
