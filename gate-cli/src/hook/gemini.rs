//! Gemini CLI's `AfterAgent` (0.61.0).
//!
//! Its `prompt_response` is of no use: it repeats chunks of everything since the prompt
//! and tears words apart. The transcript has the last message.

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
    project: Some("GEMINI_PROJECT_DIR"),
    deadline: Duration::from_secs(50),
};

const SESSION_START_EVENT: &str = "SessionStart";

fn event(payload: &Payload<'_>) -> Event {
    Event {
        prompt_id: payload.text("prompt").map(|text| gate_core::digest(text.as_bytes())),
        ..Event::from_payload(payload, SESSION_START_EVENT, "AfterAgent")
    }
}

fn is_headless(payload: &Payload<'_>) -> Option<bool> {
    payload.started_with("gemini", &["-p", "--prompt"])
}

/// Characters at the end of `prompt_response` that are compared.
const COMPARED_CHARS: usize = 32;

// `prompt_response` repeats each chunk after the first, so it ends as the last message
// does. The client was seen to do so; it does not promise it. Hence `Likely` at most.
fn transcript_lag(payload: &Payload<'_>, _: &RecentRecords, last_message: &str) -> TranscriptLag {
    match payload.text("prompt_response") {
        Some(response) if !ends_alike(response, last_message, COMPARED_CHARS) => {
            TranscriptLag::Likely
        }
        _ => TranscriptLag::UpToDate,
    }
}
