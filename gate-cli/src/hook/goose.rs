//! Goose's `Stop` (by its documentation): the event's name stands under `event`,
//! and sessions lie in a database, so that the message is all there is to read.

use std::time::Duration;

use super::{Client, Event, Lag, Said, about, block, judged_as};

pub(super) const CLIENT: Client = Client {
    event,
    is_headless,
    lag: |_, _, _| Lag::None,
    refusal: block,
    shows_messages: false,
    project: None,
    deadline: Duration::from_secs(25),
};

/// The event with which a session begins.
const BEGINNING: &str = "SessionStart";

fn event(said: &Said<'_>) -> Event {
    let name = said.text("event").or_else(|| said.text("hook_event_name"));
    Event {
        about: about(said, BEGINNING),
        not_judged: judged_as(name, "Stop"),
        session: said.owned("session_id"),
        prompt: None,
        folder: said.path("cwd"),
        transcript: said.path("transcript_path"),
        said: said.owned("last_assistant_message"),
        background: Vec::new(),
        typed: said.owned("prompt"),
    }
}

fn is_headless(said: &Said<'_>) -> Option<bool> {
    said.started_with("goose", &["run"])
}
