//! Qwen Code's `Stop` (0.15.10).
//!
//! Its `last_assistant_message` is thought and message in one piece, and
//! `stop_hook_active` is always true. The transcript has the last message, but the
//! client writes it while the hook runs.

use std::time::Duration;

use super::client::{Client, Event, block, event_kind, not_judged, reason_not_to_judge};
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
    let in_plan_mode = payload.text("permission_mode") == Some("plan");
    Event {
        kind: event_kind(payload, SESSION_START_EVENT),
        not_judged: reason_not_to_judge(payload.text("hook_event_name"), "Stop")
            .or(in_plan_mode.then_some(not_judged::PLAN_MODE)),
        session: payload.owned("session_id"),
        prompt_id: None,
        folder: payload.path("cwd"),
        transcript: payload.path("transcript_path"),
        last_message: None,
        background_tasks: Vec::new(),
        prompt_text: payload.owned("prompt"),
    }
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
