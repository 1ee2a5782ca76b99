//! OpenCode's `session.idle`, as gate's own plug-in passes it on (1.18.33).
//! OpenCode starts no commands; the plug-in reads the messages and sends the
//! refusal as the next prompt.

use std::time::Duration;

use super::{Client, Event, Lag, Said, about, block, judged_as};

pub(super) const CLIENT: Client = Client {
    event,
    is_headless,
    lag: |_, _, _| Lag::None,
    refusal: block,
    shows_messages: true,
    project: None,
    deadline: Duration::from_secs(50),
};

/// The plug-in reports prompts alone; the first one begins a session.
const BEGINNING: &str = "session.created";

fn event(said: &Said<'_>) -> Event {
    Event {
        about: about(said, BEGINNING),
        not_judged: judged_as(said.text("hook_event_name"), "session.idle"),
        session: said.owned("session_id"),
        prompt: said.owned("prompt_id"),
        folder: said.path("cwd"),
        transcript: None,
        said: said.owned("last_assistant_message"),
        background: Vec::new(),
        typed: said.owned("prompt"),
    }
}

fn is_headless(said: &Said<'_>) -> Option<bool> {
    said.started_with("opencode", &["run"])
}
