//! Factory Droid's `Stop` (0.215.0): Claude Code's shape, without the last message.

use std::time::Duration;

use super::client::{Client, Event, block, event_kind, not_judged, reason_not_to_judge};
use super::payload::Payload;
use super::transcript_lag::TranscriptLag;

pub(super) const CLIENT: Client = Client {
    event,
    is_headless,
    transcript_lag: |_, _, _| TranscriptLag::UpToDate,
    refusal: block,
    shows_messages: true,
    project: Some("FACTORY_PROJECT_DIR"),
    deadline: Duration::from_secs(50),
};

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
    payload.started_with("droid", &["exec"])
}
