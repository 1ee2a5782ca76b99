//! GitHub Copilot CLI's `Stop`, or `agentStop` without an event's name (1.0.102).
//!
//! No message comes with it: the transcript is the only source. It ignores the
//! ninth refusal in a row.

use std::time::Duration;

use super::{Client, Event, Said, block, judged_as, why};

pub(super) const CLIENT: Client = Client {
    event,
    is_headless,
    refusal: block,
    shows_messages: true,
    project: Some("COPILOT_PROJECT_DIR"),
    deadline: Duration::from_secs(25),
};

/// How a turn ends that was not broken off.
const WHOLE: &str = "end_turn";

fn event(said: &Said<'_>) -> Event {
    let reason = said.text("stop_reason").or_else(|| said.text("stopReason"));
    let broken_off = reason.is_some_and(|reason| reason != WHOLE);
    Event {
        not_judged: judged_as(said.text("hook_event_name"), "Stop")
            .or(broken_off.then_some(why::BROKEN_OFF)),
        session: said.owned("session_id").or_else(|| said.owned("sessionId")),
        prompt: None,
        folder: said.path("cwd"),
        transcript: said.path("transcript_path").or_else(|| said.path("transcriptPath")),
        said: None,
        background: Vec::new(),
    }
}

fn is_headless(said: &Said<'_>) -> Option<bool> {
    said.started_with("copilot", &["-p", "--prompt"])
}
