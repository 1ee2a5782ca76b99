//! Cursor's `stop` (by its documentation; it fires in interactive sessions
//! only).
//!
//! What goes on is a follow-up message; exit code 2 refuses nothing. No text
//! comes with the event, and a transcript only in some versions.

use std::time::Duration;

use serde_json::{Value, json};

use super::{Client, Event, Lag, Said, about, judged_as, why};

pub(super) const CLIENT: Client = Client {
    event,
    is_headless: |_| Some(false),
    lag: |_, _, _| Lag::None,
    refusal: follow_up,
    shows_messages: false,
    project: Some("CURSOR_PROJECT_DIR"),
    deadline: Duration::from_secs(50),
};

/// The event with which a session begins.
const BEGINNING: &str = "sessionStart";

fn event(said: &Said<'_>) -> Event {
    let broken_off = said.text("status").is_some_and(|status| status != "completed");
    let root = said.list("workspace_roots").first().and_then(Value::as_str);
    Event {
        about: about(said, BEGINNING),
        not_judged: judged_as(said.text("hook_event_name"), "stop")
            .or(broken_off.then_some(why::BROKEN_OFF)),
        session: said.owned("conversation_id"),
        prompt: None,
        folder: said.path("cwd").or_else(|| root.map(Into::into)),
        transcript: said.path("transcript_path"),
        said: said.owned("last_assistant_message"),
        background: Vec::new(),
        typed: said.owned("prompt"),
    }
}

fn follow_up(reason: &str) -> Value {
    json!({ "followup_message": reason })
}
