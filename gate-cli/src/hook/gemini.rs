//! Gemini CLI's `AfterAgent` (0.61.0).
//!
//! Its `prompt_response` is of no use: it is all that was said since the prompt,
//! with chunks repeated and words torn apart. The transcript has the last word.

use std::time::Duration;

use super::{Client, Event, Said, block, judged_as};

pub(super) const CLIENT: Client = Client {
    event,
    is_headless,
    refusal: block,
    shows_messages: true,
    project: Some("GEMINI_PROJECT_DIR"),
    deadline: Duration::from_secs(50),
};

fn event(said: &Said<'_>) -> Event {
    Event {
        not_judged: judged_as(said.text("hook_event_name"), "AfterAgent"),
        session: said.owned("session_id"),
        prompt: said.text("prompt").map(|text| gate_core::digest(text.as_bytes())),
        folder: said.path("cwd"),
        transcript: said.path("transcript_path"),
        said: None,
        background: Vec::new(),
    }
}

fn is_headless(said: &Said<'_>) -> Option<bool> {
    said.started_with("gemini", &["-p", "--prompt"])
}
