//! Qwen Code's `Stop` (0.15.10).
//!
//! Its `last_assistant_message` is what was thought and what was said in one
//! piece, and `stop_hook_active` is always true. The transcript has the last
//! word, but is written while the hook runs.

use std::time::Duration;

use super::lag::ends_alike;
use super::{Client, Event, Lag, Latest, Said, about, block, judged_as, why};

pub(super) const CLIENT: Client = Client {
    event,
    is_headless,
    lag,
    refusal: block,
    shows_messages: true,
    project: Some("QWEN_PROJECT_DIR"),
    deadline: Duration::from_secs(50),
};

/// The event with which a session begins; a headless client sends its first prompt
/// alone.
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
    said.started_with("qwen", &["-p", "--prompt"])
}

/// What was thought stands before what was said.
fn lag(said: &Said<'_>, _: &Latest, word: &str) -> Lag {
    let told = said.text("last_assistant_message");
    if told.is_none_or(|told| ends_alike(told, word, usize::MAX)) { Lag::None } else { Lag::Sure }
}
