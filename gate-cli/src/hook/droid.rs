//! Factory Droid's `Stop` (0.215.0): Claude Code's shape, without the last message.

use std::time::Duration;

use super::{Client, Event, Lag, Said, about, block, judged_as, why};

pub(super) const CLIENT: Client = Client {
    event,
    is_headless,
    lag: |_, _, _| Lag::None,
    refusal: block,
    shows_messages: true,
    project: Some("FACTORY_PROJECT_DIR"),
    deadline: Duration::from_secs(50),
};

/// The event with which a session begins.
const BEGINNING: &str = "SessionStart";

fn event(said: &Said<'_>) -> Event {
    let in_plan_mode = said.text("permission_mode") == Some("plan");
    Event {
        about: about(said, BEGINNING),
        not_judged: judged_as(said.text("hook_event_name"), "Stop")
            .or(in_plan_mode.then_some(why::PLAN_MODE)),
        session: said.owned("session_id"),
        prompt: None,
        folder: said.path("cwd"),
        transcript: said.path("transcript_path"),
        said: None,
        background: Vec::new(),
        typed: said.owned("prompt"),
    }
}

fn is_headless(said: &Said<'_>) -> Option<bool> {
    said.started_with("droid", &["exec"])
}
