//! Qwen Code's `Stop` (0.15.10).
//!
//! Its `last_assistant_message` is thought and message in one piece, and
//! `stop_hook_active` is always true. The transcript has the last message, but the
//! client writes it while the hook runs.

use std::time::Duration;

use super::client::{Client, Event, block};
use super::payload::Payload;
use super::transcript_lag::{RecentRecords, TranscriptLag, ends_alike};

pub(super) const CLIENT: Client = Client {
    event,
    is_headless,
    transcript_lag,
    refusal: block,
    shows_messages: true,
    project: Some("QWEN_PROJECT_DIR"),
    deadline: Duration::from_secs(50),
};

/// The event with which a session begins; a headless client sends its first prompt
/// alone.
const SESSION_START_EVENT: &str = "SessionStart";

fn event(payload: &Payload<'_>) -> Event {
    Event::from_payload(payload, SESSION_START_EVENT, "Stop").unless_in_plan_mode(payload)
}

fn is_headless(payload: &Payload<'_>) -> Option<bool> {
    payload.started_with("qwen", &["-p", "--prompt"])
}

// The thought comes before the message, so only the end can be compared.
fn transcript_lag(payload: &Payload<'_>, _: &RecentRecords, last_message: &str) -> TranscriptLag {
    match payload.text("last_assistant_message") {
        Some(sent) if !ends_alike(sent, last_message, usize::MAX) => TranscriptLag::Certain,
        _ => TranscriptLag::UpToDate,
    }
}
